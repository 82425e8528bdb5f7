import FerryJSON
import Foundation
import Synchronization

/// `issuer.py` as a process of its own: a company's login with real keys, over TLS.
final class TestIssuer: Sendable {
  private let process: ChildProcess
  private let answered = Mutex<Int>(0)
  let certificate: String
  private let tokenFile: String

  init(_ place: Place) throws {
    let script = "\(Programs.root)/Tests/Fixtures/issuer.py"
    let folder = URL(fileURLWithPath: place.file("x")).deletingLastPathComponent().path
    certificate = place.file("issuer-ca.pem")
    tokenFile = place.file("token")
    process = try ChildProcess("/usr/bin/env", ["python3", "-B", script, folder])
  }

  @discardableResult
  func ask(_ command: String) async throws -> String {
    let number = answered.withLock { count -> Int in
      count += 1
      return count
    }
    try process.type(command)
    let line = try await poll("the issuer answers \(command)") { () -> String? in
      if process.lines.count >= number { return process.lines[number - 1] }
      guard process.isRunning else { throw WayFailure("the issuer ended: \(process.errorText)") }
      return nil
    }
    return try JSONNode.parse(Array(line.utf8))["answer"]?.string ?? ""
  }

  func address() async throws -> String { try await ask(#"["address"]"#) }

  func token(_ claims: String) async throws -> String { try await ask(#"["token",\#(claims)]"#) }

  /// Gives a device's token source this token from now on.
  func give(_ claims: String) async throws {
    try Data(try await token(claims).utf8).write(
      to: URL(fileURLWithPath: tokenFile), options: .atomic)
  }

  /// The options with which a server takes its tokens.
  func options(_ more: [String] = []) async throws -> [String] {
    ["--issuer", try await address(), "--audience", "ferry", "--issuer-ca", certificate] + more
  }

  /// A device whose token source is this issuer.
  func phone(_ business: Business, _ name: String, _ address: String) throws -> Phone {
    try Phone(
      business, name, address, prefix: ["/usr/bin/env", "FERRY_TOKEN_FILE=\(tokenFile)"])
  }

  func login(_ address: String, _ claims: String, device: String) async throws -> Wires.Reply {
    let token = try await token(claims)
    return try await Wires.post(
      "\(address)/ferry/1/login", Array(#"{"token":"\#(token)","device":"\#(device)"}"#.utf8))
  }
}
