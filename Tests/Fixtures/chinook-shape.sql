-- A few rows of our own in the shape of the sample database Chinook: keys that the database gives,
-- a list of employees that refers to itself, decimals, and a table that is only a key.
CREATE TABLE Employee (
  EmployeeId INTEGER NOT NULL PRIMARY KEY, LastName NVARCHAR(20) NOT NULL,
  FirstName NVARCHAR(20) NOT NULL, ReportsTo INTEGER REFERENCES Employee (EmployeeId),
  HireDate DATETIME);
CREATE TABLE Customer (
  CustomerId INTEGER NOT NULL PRIMARY KEY, FirstName NVARCHAR(40) NOT NULL,
  LastName NVARCHAR(20) NOT NULL, City NVARCHAR(40), Email NVARCHAR(60) NOT NULL,
  SupportRepId INTEGER REFERENCES Employee (EmployeeId));
CREATE TABLE Artist (ArtistId INTEGER NOT NULL PRIMARY KEY, Name NVARCHAR(120));
CREATE TABLE Album (
  AlbumId INTEGER NOT NULL PRIMARY KEY, Title NVARCHAR(160) NOT NULL,
  ArtistId INTEGER NOT NULL REFERENCES Artist (ArtistId));
CREATE TABLE Track (
  TrackId INTEGER NOT NULL PRIMARY KEY, Name NVARCHAR(200) NOT NULL,
  AlbumId INTEGER REFERENCES Album (AlbumId), Milliseconds INTEGER NOT NULL, Bytes INTEGER,
  UnitPrice NUMERIC(10,2) NOT NULL);
CREATE TABLE Playlist (PlaylistId INTEGER NOT NULL PRIMARY KEY, Name NVARCHAR(120));
CREATE TABLE PlaylistTrack (
  PlaylistId INTEGER NOT NULL REFERENCES Playlist (PlaylistId),
  TrackId INTEGER NOT NULL REFERENCES Track (TrackId), PRIMARY KEY (PlaylistId, TrackId));
CREATE TABLE Invoice (
  InvoiceId INTEGER NOT NULL PRIMARY KEY,
  CustomerId INTEGER NOT NULL REFERENCES Customer (CustomerId), InvoiceDate DATETIME NOT NULL,
  BillingCity NVARCHAR(40), Total NUMERIC(10,2) NOT NULL);
CREATE TABLE InvoiceLine (
  InvoiceLineId INTEGER NOT NULL PRIMARY KEY,
  InvoiceId INTEGER NOT NULL REFERENCES Invoice (InvoiceId),
  TrackId INTEGER NOT NULL REFERENCES Track (TrackId),
  UnitPrice NUMERIC(10,2) NOT NULL, Quantity INTEGER NOT NULL CHECK (Quantity > 0));
CREATE INDEX IFK_InvoiceCustomerId ON Invoice (CustomerId);
INSERT INTO Employee VALUES (1, 'Moor', 'Ida', NULL, '2002-08-14 00:00:00'),
  (3, 'Vogt', 'Jane', 1, '2002-04-01 00:00:00'), (4, 'Lund', 'Mark', 1, '2003-05-03 00:00:00');
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
INSERT INTO Customer SELECT i, 'First ' || i, 'Last ' || i, 'City ' || (i % 7),
  'c' || i || '@example.com', 3 + i % 2 FROM n;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)
INSERT INTO Artist SELECT i, 'Artist ' || i FROM n;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
INSERT INTO Album SELECT i, 'Album ' || i, 1 + i % 12 FROM n;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
INSERT INTO Track SELECT i, 'Track ' || i, 1 + i % 30, 180000 + i * 37, i * 1000,
  CASE i % 5 WHEN 0 THEN 1.99 ELSE 0.99 END FROM n;
INSERT INTO Playlist VALUES (1, 'Music'), (2, 'Evening');
INSERT INTO PlaylistTrack SELECT 1 + TrackId % 2, TrackId FROM Track WHERE TrackId % 3 = 0;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 160)
INSERT INTO Invoice SELECT i, 1 + i % 40, '2025-0' || (1 + i % 9) || '-11 00:00:00', 'City ' || (i % 7),
  round((i % 24) * 0.99, 2) FROM n;
INSERT INTO InvoiceLine (InvoiceId, TrackId, UnitPrice, Quantity)
  SELECT InvoiceId, TrackId, UnitPrice, 1 FROM Invoice JOIN Track ON Track.TrackId % 160 = Invoice.InvoiceId % 160;
