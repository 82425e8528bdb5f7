import FerryMariaDB
import Foundation
import Synchronization
import Testing

/// A server of MariaDB for all tests of this process, started when the first asks; it ends with the
/// process.
final class MariaDBServer: Sendable {
  static let shared: Result<MariaDBServer, any Error> = Result { try MariaDBServer() }

  let socket: String
  private let server: Process
  /// Whoever is at the other end of this pipe ends when it is closed.
  private let line: Pipe
  private let output: Pipe
  private let databases = Atomic<Int>(0)

  /// `settings` as mariadbd takes them.
  init(_ settings: [String] = []) throws {
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    server = Process()
    line = Pipe()
    output = Pipe()
    server.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    server.arguments = ["bash", "\(root)/Scripts/lib/mariadb.sh"] + settings
    server.standardInput = line
    server.standardOutput = output
    try server.run()
    socket = try MariaDBServer.line(output)
  }

  /// Kills the server by SIGKILL, and returns when it has started again.
  func kill() throws {
    line.fileHandleForWriting.write(Data("kill\n".utf8))
    _ = try MariaDBServer.line(output)
  }

  private static func line(_ pipe: Pipe) throws -> String {
    let text = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
    guard text.hasSuffix("\n") else { throw NoServer() }
    return String(text.dropLast())
  }

  struct NoServer: Error, CustomStringConvertible {
    let description: String = "no server of MariaDB could be started; run Scripts/install"
  }

  /// The address of a new and empty database. Its texts ignore case, as most there do.
  static func database() throws -> MariaDBAddress {
    let server = try shared.get()
    let name = "test\(server.databases.add(1, ordering: .relaxed).newValue)"
    try MariaDBConnection(try server.address("mysql")).execute("CREATE DATABASE \(name)")
    return try server.address(name)
  }

  func address(_ database: String, user: String = "ferry") throws -> MariaDBAddress {
    try MariaDBAddress("mariadb:socket=\(socket) user=\(user) dbname=\(database)")
  }
}
