import FerryHTTP
import FerryHTTPClient
import FerryJSON
import FerrySQLite
import Foundation
import Synchronization
import Testing

/// `ferryd` as a process of its own, on a port that the system chose.
final class Daemon: Sendable {
  let process: ChildProcess
  let port: Int
  let data: String
  /// Ends the server when this process is gone without having done so.
  private let watcher: ChildProcess

  private init(_ process: ChildProcess, port: Int, data: String) throws {
    self.process = process
    self.port = port
    self.data = data
    watcher = try ChildProcess("/bin/sh", ["-c", "read line; kill -9 \(process.id)"])
  }

  deinit {
    watcher.kill()
    process.kill()
  }

  private let operatorKey = Mutex<String?>(nil)

  var address: String { "http://127.0.0.1:\(port)" }

  static func arguments(
    _ business: Business, data: String? = nil, port: Int = 0, more: [String] = []
  ) -> [String] {
    [
      "--model", business.model, "--data", data ?? business.place.file("data"), "--users",
      business.users, "--port", String(port),
    ] + more
  }

  /// Starts one and waits until it listens. On the port of one that ended it is started again while
  /// a device's way out holds that port: the system gives the same numbers to both.
  static func start(
    _ business: Business, data: String? = nil, port: Int = 0, more: [String] = [],
    prefix: [String] = []
  ) async throws -> Daemon {
    let command =
      prefix + [try Programs.path("ferryd")]
      + arguments(business, data: data, port: port, more: more + ["--log", "debug"])
    var process = try ChildProcess(command[0], Array(command.dropFirst()))
    let bound = try await poll("ferryd listens") { () -> Int? in
      if !process.isRunning {
        _ = try await process.ended()
        guard port != 0, process.errorText.contains("is in use by another process") else {
          throw WayFailure("ferryd ended: \(process.errorText)")
        }
        process = try ChildProcess(command[0], Array(command.dropFirst()))
      }
      for line in process.errorLines where line.contains(#""listening""#) {
        let node = try JSONNode.parse(Array(line.utf8))
        let port = node["port"] ?? node["fields"]?["port"]
        if let port = port?.string.flatMap(Int.init) ?? port?.integer.map(Int.init) { return port }
      }
      return nil
    }
    return try Daemon(process, port: bound, data: data ?? business.place.file("data"))
  }

  /// Starts one that is expected not to come up: how it ended and what it said.
  static func refuse(_ arguments: [String]) async throws -> (end: ChildProcess.End, text: String) {
    let process = try ChildProcess(try Programs.path("ferryd"), arguments)
    return (try await process.ended(), process.errorText)
  }

  /// How many threads `ferryd` has at most: a few beside the cores, and its readers.
  static var mostThreads: Int {
    let cores = ProcessInfo.processInfo.activeProcessorCount
    return cores + 4 + min(4, cores)
  }

  func stopNow() async throws {
    watcher.kill()
    try await process.killNow()
  }

  /// SIGTERM, and how it ended.
  func stopInOrder() async throws -> ChildProcess.End {
    process.send(SIGTERM)
    let end = try await process.ended()
    watcher.kill()
    return end
  }

  /// What the operator sees of it.
  func health() async throws -> Wires.Reply {
    let key = operatorKey.withLock { key in
      // Kept: the folder may be moved away.
      key = key ?? (try? String(contentsOfFile: "\(data)/operator.key", encoding: .utf8))
      return key
    }
    return try await Wires.get("\(address)/health", token: key)
  }

  func isHealthy() async throws -> Bool {
    let answer = try await health()
    // It serves its devices also while the business system fails.
    return answer.status == 200
      && (answer.text.contains(#""loaded":true"#) || answer.text.contains(#""status":"ready""#))
  }

  func ready() async throws {
    try await until("ferryd has loaded") { try await isHealthy() }
  }

  /// Every row of its store that is not deleted.
  func rows() throws -> Rows { try Daemon.rows(data) }

  /// How far the store has followed the business system; nil where it does not know.
  static func cursor(_ data: String) throws -> String? {
    try Connection(path: "\(data)/server.sqlite", mode: .readOnly)
      .value("SELECT text FROM source_cursor")?.text
  }

  static func rows(_ data: String) throws -> Rows {
    let connection = try Connection(path: "\(data)/server.sqlite", mode: .readOnly)
    var rows: Rows = [:]
    for row in try connection.rows("SELECT name FROM entity") { rows[row[0].text ?? ""] = [:] }
    for row in try connection.rows(
      """
      SELECT e.name, r.key, CAST(r.body AS TEXT) FROM row AS r JOIN entity AS e ON e.id = r.entity
      WHERE r.deleted = 0
      """)
    {
      rows[row[0].text ?? ""]?[row[1].text ?? ""] = row[2].text ?? ""
    }
    return rows
  }
}

/// Plain requests.
enum Wires {
  struct Reply: Sendable {
    let status: Int
    let bytes: [UInt8]
    /// What the header Retry-After says.
    let retryAfter: String?
    var text: String { String(decoding: bytes, as: UTF8.self) }
    var node: JSONNode? { try? JSONNode.parse(bytes) }
    /// The code of a refusal.
    var code: String { node?["code"]?.string ?? "" }
  }

  static let transport: any Transport = transport()

  /// `authority`: certificates in PEM form that are trusted in place of the system's.
  static func transport(authority: String? = nil) -> any Transport {
    var options = TransportOptions(trust: authority.map { .file($0) } ?? .system)
    // It stands for many devices.
    options.connectionsPerHost = 1_000
    return SystemTransport.make(options)
  }

  static func get(
    _ url: String, token: String? = nil, over transport: any Transport = transport
  ) async throws -> Reply {
    var headers: HTTPHeaders = [:]
    if let token { headers["Authorization"] = "Bearer \(token)" }
    return try await send(
      TransportRequest(url: url, headers: headers, deadlines: deadlines), over: transport)
  }

  static func post(
    _ url: String, _ body: [UInt8], token: String? = nil, headers: HTTPHeaders = [:],
    over transport: any Transport = transport
  ) async throws -> Reply {
    var headers = headers
    if let token { headers["Authorization"] = "Bearer \(token)" }
    return try await send(
      TransportRequest(url: url, method: .post, headers: headers, body: body, deadlines: deadlines),
      over: transport)
  }

  static func login(_ address: String, _ user: String, device: String) async throws -> Reply {
    let body =
      #"{"user":"\#(user)","password":"\#(Business.password)","device":"\#(device)"}"#
    return try await post("\(address)/ferry/1/login", Array(body.utf8))
  }

  static func token(_ address: String, _ user: String, device: String) async throws -> String {
    let reply = try await login(address, user, device: device)
    guard let token = reply.node?["accessToken"]?.string else {
      throw WayFailure("no token: \(reply.status) \(reply.text)")
    }
    return token
  }

  private static let deadlines = TransportDeadlines(
    connect: patience, total: patience, idle: patience)

  private static func send(
    _ request: TransportRequest, over transport: any Transport
  ) async throws -> Reply {
    let response = try await transport.send(request)
    return Reply(
      status: response.status, bytes: try await response.body.collect(),
      retryAfter: response.headers["Retry-After"])
  }
}
