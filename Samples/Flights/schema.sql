-- Travel agencies book seats on the flights of carriers. The rules that refuse are here, in the
-- business database, because that is where a business has them.

CREATE TABLE Agencies (
  AgencyID TEXT NOT NULL PRIMARY KEY,
  Name TEXT NOT NULL,
  Street TEXT,
  City TEXT NOT NULL,
  Country TEXT NOT NULL,
  Phone TEXT
);

CREATE TABLE Carriers (
  CarrierID TEXT NOT NULL PRIMARY KEY,
  Name TEXT NOT NULL,
  Currency TEXT NOT NULL,
  Homepage TEXT
);

CREATE TABLE Flights (
  FlightID INTEGER NOT NULL PRIMARY KEY,
  CarrierID TEXT NOT NULL REFERENCES Carriers (CarrierID),
  Number INTEGER NOT NULL,
  FlightDate DATE NOT NULL,
  Departure TIME NOT NULL,
  Origin TEXT NOT NULL,
  Destination TEXT NOT NULL,
  Price DECIMAL(8, 2) NOT NULL CHECK (Price > 0),
  Seats INTEGER NOT NULL CHECK (Seats BETWEEN 1 AND 500),
  SeatsLeft INTEGER NOT NULL,
  Status TEXT NOT NULL DEFAULT 'planned' CHECK (Status IN ('planned', 'departed', 'cancelled')),
  CHECK (SeatsLeft BETWEEN 0 AND Seats),
  UNIQUE (CarrierID, Number, FlightDate)
);

-- Every agency sees its own bookings only: the model partitions them by AgencyID.
CREATE TABLE Bookings (
  BookingID INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  AgencyID TEXT NOT NULL REFERENCES Agencies (AgencyID),
  FlightID INTEGER NOT NULL REFERENCES Flights (FlightID),
  Passenger TEXT NOT NULL,
  Cabin TEXT NOT NULL DEFAULT 'economy' CHECK (Cabin IN ('economy', 'business', 'first')),
  Seats INTEGER NOT NULL DEFAULT 1 CHECK (Seats BETWEEN 1 AND 9),
  Price DECIMAL(8, 2),
  BookedAt DATETIME,
  Note TEXT
);

CREATE INDEX BookingsOfFlight ON Bookings (FlightID);
CREATE INDEX BookingsOfAgency ON Bookings (AgencyID);

CREATE TRIGGER BookingNeedsOpenFlight BEFORE INSERT ON Bookings
WHEN (SELECT Status FROM Flights WHERE FlightID = NEW.FlightID) <> 'planned'
BEGIN
  SELECT RAISE(ABORT, 'This flight has departed or was cancelled and takes no booking');
END;

CREATE TRIGGER BookingNeedsSeats BEFORE INSERT ON Bookings
WHEN (SELECT SeatsLeft FROM Flights WHERE FlightID = NEW.FlightID) < NEW.Seats
BEGIN
  SELECT RAISE(ABORT, 'This flight has not enough seats left');
END;

CREATE TRIGGER BookingIsClosed
BEFORE UPDATE OF AgencyID, FlightID, Passenger, Cabin, Seats, Price, BookedAt ON Bookings
WHEN (SELECT Status FROM Flights WHERE FlightID = OLD.FlightID) <> 'planned'
BEGIN
  SELECT RAISE(ABORT, 'A booking of a departed or cancelled flight cannot be changed');
END;

CREATE TRIGGER BookingStaysForTheBooks BEFORE DELETE ON Bookings
WHEN (SELECT Status FROM Flights WHERE FlightID = OLD.FlightID) = 'departed'
BEGIN
  SELECT RAISE(ABORT, 'A booking of a departed flight cannot be deleted');
END;

CREATE TRIGGER ChangedBookingNeedsSeats BEFORE UPDATE OF FlightID, Seats ON Bookings
WHEN (SELECT SeatsLeft FROM Flights WHERE FlightID = NEW.FlightID)
  + iif(NEW.FlightID = OLD.FlightID, OLD.Seats, 0) < NEW.Seats
BEGIN
  SELECT RAISE(ABORT, 'This flight has not enough seats left');
END;

-- The effects of a booking on other rows, and on itself.
CREATE TRIGGER BookingTakesSeats AFTER INSERT ON Bookings
BEGIN
  UPDATE Flights SET SeatsLeft = SeatsLeft - NEW.Seats WHERE FlightID = NEW.FlightID;
END;

CREATE TRIGGER BookingHasAPrice AFTER INSERT ON Bookings WHEN NEW.Price IS NULL
BEGIN
  UPDATE Bookings
  SET Price = (SELECT round(Price * NEW.Seats, 2) FROM Flights WHERE FlightID = NEW.FlightID)
  WHERE BookingID = NEW.BookingID;
END;

CREATE TRIGGER DeletedBookingGivesSeatsBack AFTER DELETE ON Bookings
BEGIN
  UPDATE Flights SET SeatsLeft = SeatsLeft + OLD.Seats WHERE FlightID = OLD.FlightID;
END;

CREATE TRIGGER ChangedBookingMovesSeats AFTER UPDATE OF FlightID, Seats ON Bookings
BEGIN
  UPDATE Flights SET SeatsLeft = SeatsLeft + OLD.Seats WHERE FlightID = OLD.FlightID;
  UPDATE Flights SET SeatsLeft = SeatsLeft - NEW.Seats WHERE FlightID = NEW.FlightID;
END;
