import FerryConnector
import FerryFlights
import FerryJSON
import FerryModel
import FerryPasswords
import FerrySQLConnector
import FerrySQLite
import Foundation

/// A business database, the model that `ferry new` made of it, and the users of a server.
final class Business: Sendable {
  static let password: String = "correct horse"

  /// A user and the claims that a rule asks for.
  struct User: Sendable {
    let name: String
    let claims: String

    init(_ name: String, _ claims: String) {
      self.name = name
      self.claims = claims
    }
  }

  let place: Place
  let database: String
  let model: String
  let users: String
  let package: Package

  /// `edit` is what a person changes in the model that was made. `source` names the database where
  /// it is no file of SQLite.
  init(
    _ place: Place, _ database: String, source: String? = nil, partition: String, users: [User],
    edit: (String) -> String = { $0 }
  ) async throws {
    self.place = place
    self.database = database
    model = place.file("model.json")
    let maker = try ChildProcess(
      try Programs.path("ferry"),
      [
        "new", "--from", source ?? "sqlite:\(database)", "--out", model, "--partition", partition,
        "--writable", "all",
      ])
    guard try await maker.ended() == .exit(0) else {
      throw WayFailure("ferry new: \(maker.errorText)")
    }
    let made = try String(contentsOfFile: model, encoding: .utf8)
    let edited = edit(made)
    if edited != made { _ = try place.write(edited, to: "model.json") }
    // One hash for all: the password is the same, and a hash is dear.
    let hash = try PasswordHash.make(
      password: Business.password, salt: Array("salt of the way.".utf8))
    let list = users.map {
      #"{"name":"\#($0.name)","passwordHash":"\#(hash)","roles":[],"claims":\#($0.claims)}"#
    }
    self.users = try place.write(#"{"users":[\#(list.joined(separator: ","))]}"#, to: "users.json")
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: model)))
    guard let package = ModelReader.read(bytes, file: model).package else {
      throw WayFailure("the model of ferry new cannot be read")
    }
    self.package = package
  }

  /// The same with another model of it.
  func with(model: String) throws -> Business { try Business(self, model: model) }

  private init(_ other: Business, model: String) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: model)))
    guard let package = ModelReader.read(bytes, file: model).package else {
      throw WayFailure("the model \(model) cannot be read")
    }
    place = other.place
    database = other.database
    users = other.users
    self.model = model
    self.package = package
  }

  /// The flights; ada and ben are of the first agency, cleo of the second, dora of all.
  ///
  /// `folder`: where the database is, if not in the place itself.
  static func flights(
    bookings: Int = 2_000, in folder: String? = nil, _ given: Place? = nil
  ) async throws -> Business {
    let place = try given ?? Place()
    let file = folder.map { "\($0)/business.db" } ?? place.file("business.db")
    try FlightsSample.write(to: file, seed: 7, bookings: bookings)
    let agencies = try Connection(path: file, busyTimeoutMilliseconds: 300_000).rows(
      "SELECT AgencyID FROM Agencies"
    )
    .compactMap { $0[0].text.map { "\"\($0)\"" } }.joined(separator: ",")
    return try await Business(
      place, file, partition: "Bookings=AgencyID:claim:agency",
      users: [
        User("ada", #"{"agency":["AG-01"]}"#), User("ben", #"{"agency":["AG-01"]}"#),
        User("cleo", #"{"agency":["AG-02"]}"#), User("dora", #"{"agency":[\#(agencies)]}"#),
      ])
  }

  /// Photos of depot A, whose pictures, reports and journals are big values, the reports in a column
  /// of texts, the journals in one of bytes; ada and ben have them.
  static func album() async throws -> Business {
    let place = try Place()
    let file = place.file("business.db")
    try Connection(path: file).execute(
      """
      CREATE TABLE Photos (
        ID INTEGER PRIMARY KEY, Title TEXT NOT NULL, Depot TEXT NOT NULL, Image BLOB,
        Report TEXT, Journal BLOB);
      INSERT INTO Photos (ID, Title, Depot) VALUES (1, 'empty', 'A');
      """)
    return try await Business(
      place, file, partition: "Photos=Depot:claim:depot",
      users: [User("ada", #"{"depot":["A"]}"#), User("ben", #"{"depot":["A"]}"#)],
      edit: { model in
        model.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
          let type: String = line.contains(#""image""#) ? "bigBinary" : "bigString"
          let isBig = ["image", "report", "journal"].contains { line.contains(#""\#($0)""#) }
          guard isBig else { return String(line) }
          return line.replacingOccurrences(of: #""type": "string""#, with: #""type": "\#(type)""#)
            .replacingOccurrences(of: #""type": "binary""#, with: #""type": "\#(type)""#)
        }.joined(separator: "\n")
      })
  }

  /// Northwind from the shared data, or the few rows of its shape where it is not there.
  static func northwind() async throws -> (business: Business, isReal: Bool) {
    let place = try Place()
    let real = "\(Programs.root)/../shared/data/northwind/northwind.sql"
    let worktree = "\(Programs.root)/../../shared/data/northwind/northwind.sql"
    let shape = "\(Programs.root)/Tests/Fixtures/northwind-shape.sql"
    let file = [real, worktree].first(where: FileManager.default.isReadableFile) ?? shape
    let sql = try String(contentsOfFile: file, encoding: .utf8)
    do {
      let connection = try Connection(path: place.file("business.db"))
      try connection.transaction { () throws(SQLiteError) in try connection.execute(sql) }
    }
    let business = try await Business(
      place, place.file("business.db"), partition: "Orders=EmployeeID:claim:employee",
      users: [
        User("nancy", #"{"employee":[5]}"#), User("steven", #"{"employee":[5]}"#),
        User("anne", #"{"employee":[1]}"#),
      ])
    return (business, file != shape)
  }

  /// A database in the shape of a known sample, made from a file of the fixtures.
  static func shaped(_ name: String, partition: String, users: [User]) async throws -> Business {
    let place = try Place()
    let sql = try String(
      contentsOfFile: "\(Programs.root)/Tests/Fixtures/\(name)-shape.sql", encoding: .utf8)
    let connection = try Connection(path: place.file("business.db"))
    try connection.transaction { () throws(SQLiteError) in try connection.execute(sql) }
    return try await Business(
      place, place.file("business.db"), partition: partition, users: users)
  }

  func connection() throws -> Connection {
    try Connection(path: database, mode: .readWrite, busyTimeoutMilliseconds: 300_000)
  }

  /// A single value of the business database.
  func value(_ sql: String) throws -> Int64 {
    guard let number = try connection().value(sql)?.integer else {
      throw WayFailure("no number: \(sql)")
    }
    return number
  }

  func run(_ sql: String) throws {
    let connection = try connection()
    try connection.execute("PRAGMA foreign_keys = ON")
    try connection.execute(sql)
  }

  /// Every row by entity and key, in canonical text.
  func rows() throws -> Rows {
    var rows: Rows = [:]
    for entity in package.entities { rows[entity.name] = [:] }
    let connector = SQLiteConnector(path: database, package: package)
    _ = try connector.load(
      LoadScope(entities: package.entities), from: nil,
      each: { page in
        for image in page.rows {
          guard let values = image.values else { continue }
          var writer = JSONWriter()
          writer.row(values)
          rows[page.entity.name]?[image.key.text] = writer.text
        }
      }, rejected: { _ in })
    return rows
  }
}

/// Rows in canonical text, by entity and key.
typealias Rows = [String: [String: String]]
