import Foundation

/// A server of PostgreSQL for one measure, durable as Debian sets it up. It ends with this process.
final class PostgreSQLPeer {
  private let process = Process()
  private let words = Pipe()
  private let socket: String
  private let programs: String

  init() throws {
    let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "bash", "\(root)/Scripts/lib/postgresql.sh", "--durable", "max_wal_size=4GB",
    ]
    process.standardInput = words
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    let parts = line.split(whereSeparator: \.isWhitespace).map(String.init)
    guard parts.count == 2 else {
      throw Trouble("no server of PostgreSQL could be started; run Scripts/install")
    }
    (socket, programs) = (parts[0], parts[1])
  }

  func end() {
    try? words.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// As ferryd takes it.
  func address(_ database: String) -> String {
    "postgres:host=\(socket) user=ferry dbname=\(database)"
  }

  /// Runs one of PostgreSQL's programs and gives what it printed.
  func run(_ program: String, _ database: String, _ arguments: [String]) throws -> String {
    try Tool.run(
      "\(programs)/\(program)", ["-h", socket, "-U", "ferry"] + arguments + [database])
  }

  @discardableResult
  func sql(_ text: String, in database: String = "bench") throws -> String {
    try run("psql", database, ["-v", "ON_ERROR_STOP=1", "-qAt", "-c", text])
  }

  /// A database with the table of items, and so many of them.
  func makeItems(_ count: Int, in database: String = "bench") throws {
    try sql("DROP DATABASE IF EXISTS \(database) WITH (FORCE)", in: "postgres")
    try sql("CREATE DATABASE \(database)", in: "postgres")
    let columns = ItemValues.columns.enumerated().map { position, name in
      "\"\(name)\" \(position < 4 ? "bigint" : position < 6 ? "float8" : "text") NOT NULL"
        + (position == 0 ? " PRIMARY KEY" : "")
    }
    try sql("CREATE TABLE items (\(columns.joined(separator: ", ")))", in: database)
    guard count > 0 else { return }
    try sql(
      """
      INSERT INTO items SELECT n, n * 31 % 100000, n * 17 % 5000000, n % 700, n * 0.25, n % 360,
        'Alfreds Futterkiste ' || n % 997, 'Niederberg ' || n % 991,
        'a note ' || n % 983 || ' of some ninety letters, as somebody writes it who has been there',
        'A-' || n % 977 || '-17' FROM generate_series(1, \(count)) AS n
      """, in: database)
    try sql("VACUUM ANALYZE items", in: database)
  }

  /// Transactions a second of a script, by `clients` at once.
  func pgbench(
    _ script: String, clients: Int, seconds: Int, in database: String = "bench", _ setting: Setting
  ) throws -> Double {
    let path = setting.path("pgbench.sql")
    try Data(script.utf8).write(to: URL(filePath: path))
    let text = try run(
      "pgbench", database,
      ["-n", "-c", String(clients), "-j", "2", "-T", String(seconds), "-f", path])
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("tps = ") }),
      let tps = Double(line.dropFirst(6).prefix { $0.isNumber || $0 == "." })
    else { throw Trouble("pgbench said: \(text)") }
    return tps
  }

  /// `ferry prepare` for the items.
  func prepare(_ setting: Setting, database: String = "bench") throws {
    let model = setting.path("prepared.json")
    try Data(Item.model.utf8).write(to: URL(filePath: model))
    _ = try Tool.run(
      "\(setting.programs)/ferry", ["prepare", model, "--database", address(database)])
  }

  /// Somebody at a terminal who changes rows one after the other.
  func terminal(_ database: String = "bench") throws -> Terminal {
    try Terminal(
      "\(programs)/psql", ["-h", socket, "-U", "ferry", "-v", "ON_ERROR_STOP=1", "-qAt", database])
  }

  final class Terminal {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())

    fileprivate init(_ program: String, _ arguments: [String]) throws {
      process.executableURL = URL(filePath: program)
      process.arguments = arguments
      process.standardInput = input
      process.standardOutput = output
      try process.run()
    }

    /// Returns when the statement, which must give a row, is committed.
    func type(_ sql: String) throws {
      try input.fileHandleForWriting.write(contentsOf: Data("\(sql);\n".utf8))
      guard !output.fileHandleForReading.availableData.isEmpty else { throw Trouble("psql ended") }
    }

    func end() {
      try? input.fileHandleForWriting.close()
      process.waitUntilExit()
    }
  }
}

/// A program that runs to its end.
enum Tool {
  static func run(_ program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    try process.start()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Trouble("\(program) ended with \(process.terminationStatus)")
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
