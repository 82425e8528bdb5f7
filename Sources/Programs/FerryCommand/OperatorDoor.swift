import FerryArguments
import FerryHTTP
import FerryHTTPClient
import FerryJSON
import Foundation

/// The operator's way into a running server.
struct OperatorDoor {
  let server: String
  private let key: String

  /// Where the server is, and the folder with its key.
  static let options = [
    CommandOption("data", "FOLDER", "the server's data folder, for its operator.key"),
    CommandOption("server", "URL", "where the server is (default http://127.0.0.1:8080)"),
  ]

  init(_ arguments: Arguments) throws {
    var server = try arguments.value("server") ?? "http://127.0.0.1:8080"
    while server.hasSuffix("/") { server.removeLast() }
    self.server = server
    let file = "\(try arguments.required("data", "data"))/operator.key"
    guard let bytes = FileManager.default.contents(atPath: file) else {
      throw CommandError(
        "the operator's key \(file) cannot be read",
        hint: "Name the data folder of the server (--data) and run this as a user who may read it.")
    }
    key = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  func devices() async throws -> [JSONNode] { try await devices(.get, "devices", []) }

  func decide(
    _ verb: String, _ device: JSONNode, reason: String, withPending: Bool, template: String?
  ) async throws -> [JSONNode] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("verb", verb)
    writer.field("user", device["user"]?.string)
    writer.field("device", device["device"]?.string)
    writer.field("reason", reason)
    writer.field("withPending", withPending)
    if let template { writer.field("template", template) }
    writer.endObject()
    return try await devices(.post, "device", writer.bytes)
  }

  func activation(user: String, template: String?) async throws -> JSONNode {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("user", user)
    if let template { writer.field("template", template) }
    writer.endObject()
    return try await ask(.post, "activation", writer.bytes)
  }

  func rotateKeys() async throws { _ = try await ask(.post, "keys") }

  private func devices(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8]
  ) async throws -> [JSONNode] {
    guard let devices = try await ask(method, path, body)["devices"]?.array else {
      throw CommandError(
        "the server \(server) did not answer with a list of devices",
        hint: "Check that a Ferry server runs there, or name it with --server.")
    }
    return devices
  }

  /// The body of the answer to `GET` at this path, whatever its status; empty where it has none.
  func text(_ path: String) async throws(TransportError) -> [UInt8] {
    try await send(.get, path, within: .seconds(15)).body.collect()
  }

  /// What the server answers to a request at `/ferry/1/operator/…`.
  func ask(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8] = [],
    within limit: Duration = .seconds(30)
  ) async throws -> JSONNode {
    let response: TransportResponse
    do { response = try await send(method, "ferry/1/operator/\(path)", body, within: limit) } catch
    {
      throw CommandError(
        "the server \(server) does not answer: \(error.message)",
        hint: "Start it, or name it with --server.")
    }
    let node = try? JSONNode.parse(try await response.body.collect())
    guard response.status == 200, let node else {
      throw CommandError(
        node?["message"]?.string ?? "the server \(server) answered with status \(response.status)",
        hint: node?["hint"]?.string
          ?? "Check that a Ferry server runs there, or name it with --server.")
    }
    return node
  }

  private func send(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8] = [], within limit: Duration
  ) async throws(TransportError) -> TransportResponse {
    let request = TransportRequest(
      url: "\(server)/\(path)", method: method,
      headers: ["Authorization": "Bearer \(key)", "Content-Type": "application/json"],
      body: body, deadlines: TransportDeadlines(connect: .seconds(5), total: limit))
    return try await SystemTransport.make().send(request)
  }
}
