import FerryHTTP
import FerryJSON
import FerryServer
import Foundation

/// What an operator does, and a stranger tries.
extension TestServer {
  /// An activation code for a user whom a test has made known.
  public func activationCode(user: String) async throws -> String {
    let key = try String(
      contentsOf: folder.appending(path: "server/operator.key"), encoding: .utf8)
    let body = Array(#"{"user":"\#(user)"}"#.utf8)
    let node = try await ask("operator/activation", body, ["Authorization": "Bearer \(key)"]).node
    return node?["code"]?.string ?? ""
  }

  /// What `ferry device` does with a device: `lock`, `unlock`, `wipe`. The status of the answer.
  package func decide(
    _ verb: String, user: String, device: String, reason: String
  ) async throws -> Int {
    let key = try String(
      contentsOf: folder.appending(path: "server/operator.key"), encoding: .utf8)
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("verb", verb)
    writer.field("user", user)
    writer.field("device", device)
    writer.field("reason", reason)
    writer.endObject()
    return try await ask(
      "operator/device", writer.bytes, ["Authorization": "Bearer \(key)"]
    ).status
  }

  /// From now on there are these connection templates, and all match.
  package func setTemplates(_ names: [String]) async {
    await set(names.map { ConnectionTemplate(name: $0, values: [:]) })
  }

  package func ask(
    _ path: String, _ body: [UInt8], _ headers: HTTPHeaders
  ) async throws -> (status: Int, node: JSONNode?) {
    let answer = await host.answer(
      HTTPRequest(
        method: .post, path: "/ferry/1/\(path)", query: nil, headers: headers, body: body))
    guard case .bytes(let bytes) = answer.body else { return (answer.status, nil) }
    return (answer.status, try JSONNode.parse(bytes))
  }
}
