import FerryConformance
import FerryConnector
import FerryMariaDB
import FerryMariaDBConnector
import FerryModel
import Testing

/// The business of the suite in a database of MariaDB of its own.
final class MariaDBStage: ConnectorStage {
  let isTransactional: Bool = true
  let remembersOperations: Bool
  let keepsContents: Bool = true
  /// A strict server takes neither an infinite time nor a decimal that is none.
  let takesUnfitValues: Bool = false
  let address: MariaDBAddress
  let other: MariaDBConnection

  init(remembersOperations: Bool = true) throws {
    self.remembersOperations = remembersOperations
    address = try MariaDBServer.database()
    other = try MariaDBConnection(address)
    for statement in MariaDBStage.business { try other.execute(statement) }
    for statement in try Preparation(ConnectorSuite.packageWithContents, other).statements {
      try other.execute(statement)
    }
  }

  private static let business: [String] = [
    "CREATE TABLE Carriers (CarrierID VARCHAR(10) PRIMARY KEY, Name VARCHAR(50) NOT NULL)",
    """
    CREATE TABLE Flights (
      FlightID INT AUTO_INCREMENT PRIMARY KEY, CarrierID VARCHAR(10) NOT NULL, SeatsLeft INT NOT NULL,
      CONSTRAINT flight_carrier FOREIGN KEY (CarrierID) REFERENCES Carriers (CarrierID))
      AUTO_INCREMENT = 100
    """,
    """
    CREATE TABLE Bookings (
      BookingID BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, FlightID INT NOT NULL,
      Passenger VARCHAR(50) NOT NULL, Price DECIMAL(8, 2), BookedAt DATETIME(6), IsPaid BOOLEAN,
      FOREIGN KEY (FlightID) REFERENCES Flights (FlightID)) AUTO_INCREMENT = 100
    """,
    "INSERT INTO Carriers VALUES ('AZ', 'Alitalia'), ('LH', 'Lufthansa')",
    "INSERT INTO Flights VALUES (17, 'LH', 2), (18, 'LH', 0)",
    """
    INSERT INTO Bookings VALUES
      (1, 17, 'Ann', 99.95, '2026-03-01 08:30:00', 1), (2, 18, 'Bob "B" Ö', NULL, NULL, NULL)
    """,
    """
    CREATE TRIGGER seats BEFORE INSERT ON Bookings FOR EACH ROW BEGIN
      DECLARE words VARCHAR(100);
      IF (SELECT SeatsLeft FROM Flights WHERE FlightID = NEW.FlightID) < 1 THEN
        SET words = CONCAT('Flight ', NEW.FlightID, ' has no seat left');
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = words;
      END IF;
      UPDATE Flights SET SeatsLeft = SeatsLeft - 1 WHERE FlightID = NEW.FlightID;
    END
    """,
    """
    CREATE TABLE Documents (
      DocumentID BIGINT PRIMARY KEY, Title VARCHAR(50) NOT NULL, Scan LONGBLOB, Report LONGTEXT)
    """,
  ]

  func connector() throws -> any Connector {
    MariaDBConnector(address, package: package, remembersOperations: remembersOperations)
  }

  func changeByOther(_ entity: Entity, _ key: ObjectKey, _ changed: [Int: AttributeValue]) throws {
    for (position, value) in changed {
      let column = quotedName(entity.attributes[position].column)
      try other.execute(
        "UPDATE \(quotedName(entity.table)) SET \(column) = \(MariaDBStage.literal(value)) "
          + "WHERE \(try condition(entity, key))")
    }
  }

  func deleteByOther(_ entity: Entity, _ key: ObjectKey) throws -> Bool {
    try other.execute("DELETE FROM \(quotedName(entity.table)) WHERE \(try condition(entity, key))")
    return true
  }

  private func condition(_ entity: Entity, _ key: ObjectKey) throws -> String {
    let keys = try #require(key.values(of: entity))
    let name = quotedName(entity.attributes[entity.key[0]].column)
    return "\(name) = \(MariaDBStage.literal(keys[0]))"
  }

  private static func literal(_ value: AttributeValue) -> String {
    switch value {
    case .null: "NULL"
    case .boolean(let flag): flag ? "1" : "0"
    case .integer(let number): String(number)
    case .double(let number): number.description
    case .text(let text): quotedText(text)
    case .bytes: "NULL"
    }
  }
}
