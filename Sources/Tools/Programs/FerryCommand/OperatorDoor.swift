import FerryArguments
import FerryHTTP
import FerryHTTPClient
import FerryJSON
import FerryServer
import Foundation

/// The operator's way into a running server: the socket in its data folder, which nobody else can make
/// or enter, or TLS with the key of the operator. The key goes nowhere else.
struct OperatorDoor {
  /// What to call the server in a message.
  let server: String
  private let address: String
  private let transport: any Transport
  /// Nil over the socket, where the system says who asks.
  private let key: String?
  /// Held: the path of the socket goes through it.
  private let folder: OpenFolder

  static let options = [
    CommandOption("data", "FOLDER", "the server's data folder"),
    CommandOption(
      "server", "URL",
      "the https:// address of a server on another machine; FOLDER then needs only its operator.key"
    ),
  ]

  init(_ arguments: Arguments) throws {
    let data = try arguments.required("data", "data")
    var address = try arguments.value("server")
    while address?.hasSuffix("/") == true { address?.removeLast() }
    if let address, HTTPAddress(address)?.isSecure != true {
      throw UsageError(
        "--server \(address) is no address of https, and the operator's key is sent over nothing else",
        hint: "Leave out --server for the ferryd of this machine that uses the folder \(data).")
    }
    folder = try OpenFolder(data)
    guard [geteuid(), 0].contains(folder.owner) || geteuid() == 0, folder.mode & 0o077 == 0 else {
      throw CommandError(
        "others on this machine may enter the folder \(data), or own it",
        hint: "Name the data folder of a ferryd, and run this as its user.")
    }
    if let address {
      (server, self.address) = (address, address)
      key = try OperatorDoor.key(in: folder)
      transport = SystemTransport.make()
    } else {
      (server, self.address) = (data, "http://localhost")
      key = nil
      var options = TransportOptions()
      options.proxy = .none
      options.socketPath = "/proc/self/fd/\(folder.descriptor)/\(Folder.socketName)"
      transport = SystemTransport.make(options)
    }
  }

  private static func key(in folder: OpenFolder) throws -> String {
    let file = FileHandle(fileDescriptor: try folder.reading("operator.key"), closeOnDealloc: true)
    return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
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
        hint: "Check that a Ferry server runs there.")
    }
    return devices
  }

  /// The body of the answer to `GET` at this path, whatever its status; empty where it has none.
  func text(_ path: String) async throws -> [UInt8] {
    try await send(.get, path, within: .seconds(15)).body.collect()
  }

  /// Status and body of the answer to a request at this path.
  func response(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8]
  ) async throws -> (Int, [UInt8]) {
    let response = try await send(method, path, body, within: .seconds(60))
    return (response.status, try await response.body.collect())
  }

  /// What the server answers to a request at `/ferry/1/operator/…`.
  func ask(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8] = [],
    within limit: Duration = .seconds(30)
  ) async throws -> JSONNode {
    let response = try await send(method, "ferry/1/operator/\(path)", body, within: limit)
    let node = try? JSONNode.parse(try await response.body.collect())
    guard response.status == 200, let node else {
      throw CommandError(
        node?["message"]?.string ?? "the server \(server) answered with status \(response.status)",
        hint: node?["hint"]?.string
          ?? "Check that a Ferry server runs there.")
    }
    return node
  }

  private func send(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8] = [], within limit: Duration
  ) async throws(CommandError) -> TransportResponse {
    var headers: HTTPHeaders = ["Content-Type": "application/json"]
    if let key { headers["Authorization"] = "Bearer \(key)" }
    let request = TransportRequest(
      url: "\(address)/\(path)", method: method, headers: headers,
      body: body, deadlines: TransportDeadlines(connect: .seconds(5), total: limit))
    // The socket's path leads through it until the head of the answer is there.
    defer { withExtendedLifetime(folder) {} }
    do throws(TransportError) { return try await transport.send(request) } catch {
      guard key == nil, error.code == .cannotConnect else {
        throw CommandError(
          "the server \(server) does not answer: \(error.message)",
          hint: "Start it, or name it with --server.")
      }
      throw CommandError(
        "no ferryd runs on the folder \(server)",
        hint: "Start it, or name the data folder of the one that runs.")
    }
  }
}
