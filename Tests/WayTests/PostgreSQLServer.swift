import Foundation
import Synchronization

/// A server of PostgreSQL for all tests of this process; it ends with the process.
final class PostgreSQLServer: Sendable {
  private static let started: Result<ChildProcess, any Error> = Result {
    try ChildProcess("/bin/bash", ["\(Programs.root)/Scripts/lib/postgresql.sh"])
  }
  private static let databases = Atomic<Int>(0)

  let socket: String
  private let programs: String

  static func shared() async throws -> PostgreSQLServer {
    let process = try started.get()
    let line = try await poll("PostgreSQL takes connections") { () -> String? in
      guard process.isRunning else {
        throw WayFailure("PostgreSQL did not start: \(process.errorText)")
      }
      return process.lines.first
    }
    let words = line.split(separator: " ").map(String.init)
    guard words.count == 2 else { throw WayFailure("PostgreSQL said \(line)") }
    return PostgreSQLServer(socket: words[0], programs: words[1])
  }

  private init(socket: String, programs: String) {
    self.socket = socket
    self.programs = programs
  }

  /// The name of a new database in which these statements were run.
  func database(_ sql: String) async throws -> String {
    let number = PostgreSQLServer.databases.add(1, ordering: .relaxed).newValue
    let name = "way\(getpid())_\(number)"
    try await psql("postgres", "CREATE DATABASE \(name)")
    try await psql(name, sql)
    return name
  }

  func address(_ database: String) -> String {
    "postgres:host=\(socket) user=ferry dbname=\(database)"
  }

  /// What a script does that an administrator runs, and what it says.
  func run(
    _ script: String, in database: String
  ) async throws -> (end: ChildProcess.End, text: String) {
    let process = try ChildProcess(
      "\(programs)/psql",
      ["-X", "-q", "-A", "-t", "-h", socket, "-U", "ferry", "-d", database, "-f", script])
    let end = try await process.ended()
    return (end, process.lines.joined(separator: "\n") + process.errorText)
  }

  /// What somebody else types; gives the values that come back, one row a line.
  @discardableResult
  func psql(_ database: String, _ sql: String) async throws -> String {
    let process = try ChildProcess(
      "\(programs)/psql",
      [
        "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", socket, "-U", "ferry", "-d",
        database, "-c", sql,
      ])
    guard try await process.ended() == .exit(0) else {
      throw WayFailure("psql: \(process.errorText)")
    }
    return process.lines.joined(separator: "\n")
  }
}
