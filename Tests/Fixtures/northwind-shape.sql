-- The shape of Northwind with a few rows, for where the real one is not beside the checkout.
CREATE TABLE [Customers] (
  [CustomerID] TEXT, [CompanyName] TEXT, [City] TEXT, PRIMARY KEY (`CustomerID`));
CREATE TABLE [Employees] (
  [EmployeeID] INTEGER PRIMARY KEY AUTOINCREMENT, [LastName] TEXT, [BirthDate] DATE, [Photo] BLOB,
  [Extension] TEXT, [ReportsTo] INTEGER REFERENCES [Employees] ([EmployeeID]));
CREATE TABLE [Shippers] (
  [ShipperID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [CompanyName] TEXT NOT NULL);
CREATE TABLE [Categories] (
  [CategoryID] INTEGER PRIMARY KEY AUTOINCREMENT, [CategoryName] TEXT, [Description] TEXT);
CREATE TABLE [Products] (
  [ProductID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [ProductName] TEXT NOT NULL,
  [CategoryID] INTEGER REFERENCES [Categories] ([CategoryID]),
  [UnitPrice] NUMERIC DEFAULT 0 CHECK ([UnitPrice] >= 0));
CREATE TABLE [Orders] (
  [OrderID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  [CustomerID] TEXT REFERENCES [Customers] ([CustomerID]),
  [EmployeeID] INTEGER REFERENCES [Employees] ([EmployeeID]), [OrderDate] DATETIME,
  [ShipVia] INTEGER REFERENCES [Shippers] ([ShipperID]), [Freight] NUMERIC DEFAULT 0,
  [ShipCity] TEXT);
CREATE TABLE [Order Details] (
  [OrderID] INTEGER NOT NULL REFERENCES [Orders] ([OrderID]),
  [ProductID] INTEGER NOT NULL REFERENCES [Products] ([ProductID]),
  [UnitPrice] NUMERIC NOT NULL DEFAULT 0, [Quantity] INTEGER NOT NULL DEFAULT 1 CHECK ([Quantity] > 0),
  [Discount] REAL NOT NULL DEFAULT 0, PRIMARY KEY ("OrderID", "ProductID"));
CREATE VIEW [Order Subtotals] AS
  SELECT OrderID, sum(UnitPrice * Quantity) AS Subtotal FROM [Order Details] GROUP BY OrderID;
INSERT INTO Customers VALUES ('ALFKI', 'Alfreds Futterkiste', 'Berlin'), ('VINET', 'Vins', 'Reims');
INSERT INTO Employees VALUES (1, 'Davolio', '1948-12-08', x'FFD8', '5467', NULL), (5, 'Buchanan', '1955-03-04', NULL, '3453', 1);
INSERT INTO Shippers VALUES (3, 'Federal Shipping');
INSERT INTO Categories VALUES (1, 'Beverages', 'Soft drinks');
INSERT INTO Products VALUES (11, 'Queso Cabrales', 1, 21), (42, 'Hokkien Fried Mee', 1, 9.8);
INSERT INTO Orders VALUES (10248, 'VINET', 5, '1996-07-04 00:00:00.000', 3, 32.38, 'Reims');
INSERT INTO [Order Details] VALUES (10248, 11, 14, 12, 0.0), (10248, 42, 9.8, 10, 0.15);
