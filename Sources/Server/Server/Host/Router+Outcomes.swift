import FerryHTTP
import FerryJSON
import FerryModel

/// What an operator sees of operations whose outcome nobody knows, and decides about them.
extension Router {
  /// `GET …/operations` lists them; `POST …/operation` takes `id`, `verb` (`again`, `refused`,
  /// `accepted`), `key` and `reason`.
  func decide(_ request: HTTPRequest) async -> HTTPResponse {
    do throws(ServerError) {
      if request.method == .get { return json(200, try await outcomes()) }
      guard let node = try? JSONNode.parse(request.body),
        let id = node["id"]?.string.flatMap({ OperationID($0) }), let verb = node["verb"]?.string
      else { return unreadable("operation takes id and verb") }
      for served in packages {
        guard
          let open = try await served.service.openOutcomes().first(where: { $0.operation.id == id }
          ),
          let entity = served.package.entity(named: open.operation.entity)
        else { continue }
        let decision = try Router.decision(
          verb, key: node["key"]?.string ?? "", message: node["reason"]?.string ?? "", entity)
        try await served.service.decide(id, decision)
        audit.note(
          .outcomeDecided, user: open.user, device: open.device, address: address(of: request),
          reason: "\(id.text) \(verb)")
        return json(200, Array("{}".utf8))
      }
      throw ServerError(
        .badRequest, "there is no operation \(id) with an unknown outcome",
        hint: "`ferry operation list` shows all of them.")
    } catch {
      return refusal(error.code == .badRequest ? 409 : 503, error)
    }
  }

  private func outcomes() async throws(ServerError) -> [UInt8] {
    var found: [(outcome: OpenOutcome, package: Package)] = []
    for served in packages {
      found += try await served.service.openOutcomes().map { ($0, served.package.served) }
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("operations")
    writer.array(found) { writer, one in one.outcome.write(to: &writer, one.package) }
    writer.endObject()
    return writer.bytes
  }

  static func decision(
    _ verb: String, key text: String, message: String, _ entity: Entity
  ) throws(ServerError) -> OperationDecision {
    switch verb {
    case "again": return .again
    case "refused":
      return .refused(
        message: message.isEmpty ? "The business system did not take it." : message)
    case "accepted":
      // A text may be given as people write it: without its quotes.
      let key = [ObjectKey(text: text), ObjectKey([.text(text)])].first {
        $0.values(of: entity) != nil
      }
      guard let key else {
        throw ServerError(
          .badRequest, "\"\(text)\" is no key of \(entity.name)",
          hint: "Write the key that the business system gave it.")
      }
      return .accepted(key: key)
    default:
      throw ServerError(
        .badRequest, "there is no decision \"\(verb)\"",
        hint: "Write again, refused or accepted.")
    }
  }
}
