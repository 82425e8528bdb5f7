import FerryPostgreSQL
import Foundation
import Synchronization
import Testing

/// A server of PostgreSQL for all tests of this process, started when the first asks; it ends with
/// the process.
final class Cluster: Sendable {
  static let shared: Result<Cluster, any Error> = Result { try Cluster() }

  let socket: String
  private let server: Process
  /// Whoever is at the other end of this pipe ends when it is closed.
  private let line: Pipe
  private let output: Pipe
  private let databases = Atomic<Int>(0)

  /// `settings` as `postgres -c` takes them.
  convenience init(_ settings: [String] = []) throws { try self.init(arguments: settings) }

  /// As Scripts/lib/postgresql.sh takes them.
  init(arguments: [String]) throws {
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    server = Process()
    line = Pipe()
    output = Pipe()
    server.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    server.arguments = ["bash", "\(root)/Scripts/lib/postgresql.sh"] + arguments
    server.standardInput = line
    server.standardOutput = output
    try server.run()
    let bytes = output.fileHandleForReading.availableData
    let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    guard words.count == 2 else { throw ClusterFailure() }
    socket = String(words[0])
  }

  /// Kills the server and all its processes by SIGKILL, and returns when it has started again.
  func kill() throws {
    line.fileHandleForWriting.write(Data("kill\n".utf8))
    guard !output.fileHandleForReading.availableData.isEmpty else { throw ClusterFailure() }
  }

  struct ClusterFailure: Error, CustomStringConvertible {
    let description: String = "no server of PostgreSQL could be started; run Scripts/install"
  }

  /// The address of a new and empty database.
  static func database() throws -> PostgreSQLAddress {
    let cluster = try shared.get()
    let name = "test\(cluster.databases.add(1, ordering: .relaxed).newValue)"
    try cluster.connection("postgres").execute("CREATE DATABASE \(name)")
    return try cluster.address(name)
  }

  func address(_ database: String) throws -> PostgreSQLAddress {
    try PostgreSQLAddress("postgres:host=\(socket) user=ferry dbname=\(database)")
  }

  func connection(_ database: String) throws -> PostgreSQLConnection {
    try PostgreSQLConnection(try address(database))
  }
}
