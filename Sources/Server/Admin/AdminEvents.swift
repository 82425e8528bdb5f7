import FerryHTTP
import FerryJSON
import FerryServer
import FerryWorld
import Synchronization

/// Live figures as server-sent events: the overview, whenever it differs.
///
/// The id of an event is the hash of its data. A reader that comes again with `Last-Event-ID` gets the
/// overview at once unless it is the one that it has: an overview replaces those before it, so nothing
/// is missed.
final class AdminEvents: HTTPBodySource {
  private let api: AdminAPI
  private let call: AdminCall
  private let state: Mutex<State>

  private struct State {
    var last: String
    var sent: Timestamp?
    let ends: Timestamp
  }

  /// How often it is looked, and how long a stream is silent at most.
  static let pace: Duration = .seconds(2)
  static let beat: Duration = .seconds(15)
  /// A stream ends after this, and the browser comes again: whoever has no session by then is refused.
  static let longest: Duration = .seconds(60)

  private init(_ api: AdminAPI, _ call: AdminCall, after id: String?) {
    self.api = api
    self.call = call
    state = Mutex(
      State(
        last: id ?? "", sent: nil, ends: api.world.clock.moment.advanced(by: AdminEvents.longest)))
  }

  static func response(_ api: AdminAPI, _ call: AdminCall, after id: String?) -> HTTPResponse {
    HTTPResponse(
      status: 200,
      headers: [
        "Content-Type": "text/event-stream", "Cache-Control": "no-store",
        // Without this nginx keeps the events back.
        "X-Accel-Buffering": "no",
      ], body: .stream(AdminEvents(api, call, after: id)))
  }

  func next() async -> HTTPBodyPiece {
    let isFirst = state.withLock { $0.sent == nil }
    while !Task.isCancelled {
      let now = api.world.clock.moment
      guard now < state.withLock({ $0.ends }) else { return .end }
      if let event = await event(now) { return .bytes(event) }
      let silentSince = state.withLock { $0.sent } ?? now
      if isFirst && state.withLock({ $0.sent == nil })
        || now >= silentSince.advanced(by: AdminEvents.beat)
      {
        state.withLock { $0.sent = now }
        return .bytes(Array(": still here\n\n".utf8))
      }
      guard let desk = try? api.desk() else { return .end }
      await desk.wait(for: AdminEvents.pace)
    }
    return .end
  }

  private func event(_ now: Timestamp) async -> [UInt8]? {
    let answer = await api.answer(
      AdminCall(.get, ["overview"], by: call.person, from: call.address))
    guard answer.status == 200, let node = try? JSONNode.parse(answer.json) else { return nil }
    // The time alone is no news.
    let id = AdminEvents.mark(node, answer.json)
    guard id != state.withLock({ $0.last }) else { return nil }
    state.withLock { state in
      state.last = id
      state.sent = now
    }
    return Array("id: \(id)\nevent: overview\ndata: ".utf8) + answer.json + Array("\n\n".utf8)
  }

  private static func mark(_ node: JSONNode, _ json: [UInt8]) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    let start = node["version"]?.offset ?? 0
    for byte in json[start...] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }
}
