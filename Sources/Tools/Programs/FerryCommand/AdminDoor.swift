import FerryArguments
import FerryHTTP
import FerryHTTPClient
import FerryJSON
import FerryModel
import FerryServer
import FerryText
import Foundation

/// The way of `ferry admin` to the admin API: the socket in the data folder of a ferryd on this machine,
/// or the address of a control center with the name and password of an operator.
struct AdminDoor {
  private let local: OperatorDoor?
  private let address: String
  private let name: String
  let password: String?
  private let transport: any Transport

  static let options = [
    CommandOption("data", "<folder>", "the data folder of a ferryd on this machine"),
    CommandOption("server", "<url>", "the address of a control center (--admin-port of ferryd)"),
    CommandOption("operator", "<name>", "with --server: who logs in"),
    CommandOption(
      "password-file", "<file>",
      "with --server: the first line is the password; else it is asked for"),
    CommandOption("authority", "<pem>", "with --server: the authority of its certificate"),
  ]

  init(_ arguments: Arguments) throws {
    var address = try arguments.value("server")
    while address?.hasSuffix("/") == true { address?.removeLast() }
    guard let address else {
      local = try OperatorDoor(arguments)
      (self.address, name, password) = ("", "", nil)
      transport = SystemTransport.make()
      return
    }
    local = nil
    let isLocal = ["http://127.0.0.1", "http://localhost", "http://[::1]"].contains {
      address == $0 || address.hasPrefix("\($0):") || address.hasPrefix("\($0)/")
    }
    guard isLocal || HTTPAddress(address)?.isSecure == true else {
      throw UsageError(
        "--server \(address) is no address of https, and passwords are sent over nothing else",
        hint: "Write https://…, or http://127.0.0.1:PORT on the machine of the server.")
    }
    self.address = address
    name = try arguments.required("operator", "anna")
    if let file = try arguments.value("password-file") {
      guard let bytes = FileManager.default.contents(atPath: file) else {
        throw CommandError(
          "the file \(file) cannot be read", hint: "Name a file whose first line is the password.")
      }
      let line = bytes.split(separator: 10, omittingEmptySubsequences: false).first ?? Data()
      password = String(decoding: line, as: UTF8.self)
    } else {
      password = try PasswordPrompt.askOnce()
    }
    var options = TransportOptions()
    if let authority = try arguments.value("authority") { options.trust = .file(authority) }
    transport = SystemTransport.make(options)
  }

  /// What the API answers; throws what it says where it is not done.
  func ask(
    _ method: HTTPMethod, _ path: String, query: [String: String?] = [:], body: [UInt8] = []
  ) async throws -> JSONNode {
    let pairs = query.compactMap { name, value in
      value.map { "\(name)=\(PercentEncoding.encode($0))" }
    }.sorted()
    let whole = "admin/1/\(path)" + (pairs.isEmpty ? "" : "?\(pairs.joined(separator: "&"))")
    let (status, bytes) = try await send(method, whole, body)
    let node = try? JSONNode.parse(bytes)
    guard status == 200, let node else {
      throw CommandError(
        node?["message"]?.string ?? "the server answered with status \(status)",
        hint: node?["hint"]?.string ?? "Check that the control center of a ferryd is there.")
    }
    return node
  }

  private func send(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8]
  ) async throws -> (Int, [UInt8]) {
    if let local { return try await local.response(method, path, body) }
    let login = Base64.encode(Array("\(name):\(password ?? "")".utf8))
    let request = TransportRequest(
      url: "\(address)/\(path)", method: method,
      headers: ["Content-Type": "application/json", "Authorization": "Basic \(login)"], body: body,
      deadlines: TransportDeadlines(connect: .seconds(5), total: .seconds(60)))
    do throws(TransportError) {
      let response = try await transport.send(request)
      return (response.status, try await response.body.collect())
    } catch {
      throw CommandError(
        "the control center \(address) does not answer: \(error.message)",
        hint: "Start ferryd with --admin-port, or check the address.")
    }
  }
}
