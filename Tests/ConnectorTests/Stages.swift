import FerryConformance
import FerryConnector
import FerryMemoryConnector
import FerryModel
import FerrySQLConnector
import FerrySQLite
import Foundation
import Testing

/// A folder of its own for one test, gone with the object.
final class TemporaryFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  func path(_ name: String) -> String { url.appending(path: name).path }

  deinit { try? FileManager.default.removeItem(at: url) }
}

final class SQLiteStage: ConnectorStage {
  /// Ways to keep big values in a table.
  enum Documents: String, CaseIterable {
    case texts = "Report TEXT)"
    case bytes = "Report BLOB)"
    case withoutRowID = "Report TEXT) WITHOUT ROWID"
  }

  let isTransactional: Bool = true
  let remembersOperations: Bool
  let folder: TemporaryFolder
  let path: String
  let keepsContents: Bool = true
  private let other: Connection

  /// `documents` is how the table of big values is declared.
  /// `isPrepared`: with triggers that note what changes.
  init(
    remembersOperations: Bool, documents: Documents = .texts, isPrepared: Bool = false
  ) throws {
    self.remembersOperations = remembersOperations
    folder = try TemporaryFolder()
    path = folder.path("business.db")
    other = try Connection(path: path)
    try other.execute(
      """
      PRAGMA journal_mode = WAL;
      CREATE TABLE Carriers (CarrierID TEXT NOT NULL PRIMARY KEY, Name TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE Flights (
        FlightID INTEGER PRIMARY KEY, CarrierID TEXT NOT NULL REFERENCES Carriers,
        SeatsLeft INTEGER NOT NULL);
      CREATE TABLE Bookings (
        BookingID INTEGER PRIMARY KEY, FlightID INTEGER NOT NULL REFERENCES Flights,
        Passenger TEXT NOT NULL, Price DECIMAL(8, 2), BookedAt DATETIME, IsPaid BOOLEAN);
      INSERT INTO Carriers VALUES ('AZ', 'Alitalia'), ('LH', 'Lufthansa');
      INSERT INTO Flights VALUES (17, 'LH', 2), (18, 'LH', 0);
      INSERT INTO Bookings VALUES
        (1, 17, 'Ann', 99.95, '2026-03-01 08:30:00', 1), (2, 18, 'Bob "B" Ö', NULL, NULL, NULL);
      CREATE TRIGGER full BEFORE INSERT ON Bookings
      WHEN (SELECT SeatsLeft FROM Flights WHERE FlightID = NEW.FlightID) < 1
      BEGIN SELECT RAISE(ABORT, 'Flight 18 has no seat left'); END;
      CREATE TRIGGER seats AFTER INSERT ON Bookings
      BEGIN UPDATE Flights SET SeatsLeft = SeatsLeft - 1 WHERE FlightID = NEW.FlightID; END;
      CREATE TABLE Documents (
        DocumentID INTEGER PRIMARY KEY, Title TEXT NOT NULL, Scan BLOB, \(documents.rawValue);
      """)
    guard isPrepared else { return }
    for statement in try SQLitePreparation(ConnectorSuite.packageWithContents, other).statements {
      try other.execute(statement)
    }
  }

  func connector() throws -> any Connector {
    SQLiteConnector(
      path: path, package: package, remembersOperations: remembersOperations)
  }

  func changeByOther(_ entity: Entity, _ key: ObjectKey, _ changed: [Int: AttributeValue]) throws {
    let keys = try #require(key.values(of: entity)).map(SQLiteStage.raw)
    for (position, value) in changed {
      let column = quoted(entity.attributes[position].column)
      let key = quoted(entity.attributes[entity.key[0]].column)
      try other.run(
        "UPDATE \(quoted(entity.table)) SET \(column) = ? WHERE \(key) = ?",
        [SQLiteStage.raw(value)] + keys)
    }
  }

  func deleteByOther(_ entity: Entity, _ key: ObjectKey) throws -> Bool {
    let keys = try #require(key.values(of: entity)).map(SQLiteStage.raw)
    let column = quoted(entity.attributes[entity.key[0]].column)
    try other.run("DELETE FROM \(quoted(entity.table)) WHERE \(column) = ?", keys)
    return true
  }

  private static func raw(_ value: AttributeValue) -> SQLiteValue {
    switch value {
    case .null: .null
    case .boolean(let flag): .flag(flag)
    case .integer(let number): .integer(number)
    case .double(let number): .real(number)
    case .text(let text): .text(text)
    case .bytes(let bytes): .blob(bytes)
    }
  }
}

final class MemoryStage: ConnectorStage {
  var isTransactional: Bool { business.isTransactional }
  var remembersOperations: Bool { business.remembersOperations }
  let keepsContents: Bool = true
  let business: MemoryBusiness
  private let credentials: (any CredentialSource)?

  init(
    isTransactional: Bool = true, remembersOperations: Bool = true, notesChanges: Bool = false,
    credentials: (any CredentialSource)? = nil
  ) {
    self.credentials = credentials
    let seats = MemoryRule { effect, transaction in
      guard effect.entity == "Booking", effect.before == nil, let booking = effect.after,
        let key = Optional(ObjectKey([booking[1]])), var flight = transaction.row("Flight", key),
        case .integer(let left) = flight[2]
      else { return nil }
      guard left > 0 else {
        return Refusal(code: 412, message: ConnectorSuite.noSeat(flight: key.text))
      }
      flight[2] = .integer(left - 1)
      transaction.write("Flight", key, flight)
      return nil
    }
    business = MemoryBusiness(
      package: ConnectorSuite.packageWithContents, rules: [seats], isTransactional: isTransactional,
      remembersOperations: remembersOperations, notesChanges: notesChanges)
    for (entity, rows) in ConnectorSuite.rows { business.insert(entity.name, rows) }
  }

  func connector() -> any Connector { MemoryConnector(business, credentials: credentials) }

  var sendsAsUser: Bool { credentials != nil }
  var performers: [String?] { business.performers }

  func changeByOther(_ entity: Entity, _ key: ObjectKey, _ changed: [Int: AttributeValue]) {
    business.changeByOther { transaction in
      guard var row = transaction.row(entity.name, key) else { return }
      for (position, value) in changed { row[position] = value }
      transaction.write(entity.name, key, row)
    }
  }

  func deleteByOther(_ entity: Entity, _ key: ObjectKey) -> Bool {
    business.changeByOther { $0.write(entity.name, key, nil) }
    return true
  }
}

/// A password of anna, and of nobody else but the technical user.
struct CredentialOfAnna: CredentialSource {
  func credential(for user: String?, insteadOf rejected: Credential?) -> Credential? {
    user == "bill" ? nil : Credential(.password(user: user ?? "ferry", password: "secret"))
  }
}

/// The connector of another stage with a bug.
final class FlawedStage: ConnectorStage {
  private let inner: any ConnectorStage
  private let flaw: ConnectorFlaw

  init(_ inner: any ConnectorStage, _ flaw: ConnectorFlaw) {
    self.inner = inner
    self.flaw = flaw
  }

  var isTransactional: Bool { inner.isTransactional }
  var remembersOperations: Bool { inner.remembersOperations }
  var keepsContents: Bool { inner.keepsContents }
  var sendsAsUser: Bool { inner.sendsAsUser }
  var performers: [String?] { inner.performers }

  func connector() throws -> any Connector {
    FlawedConnector(try inner.connector(), [], own: [flaw])
  }

  func changeByOther(_ entity: Entity, _ key: ObjectKey, _ changed: [Int: AttributeValue]) throws {
    try inner.changeByOther(entity, key, changed)
  }

  func deleteByOther(_ entity: Entity, _ key: ObjectKey) throws -> Bool {
    try inner.deleteByOther(entity, key)
  }
}
