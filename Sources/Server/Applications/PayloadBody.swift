import FerryHTTP
import FerryJSON
import FerryServer
import FerryWorld

/// The channel of a device: a line of JSON for each payload, and an empty line now and then.
final class PayloadBody: HTTPBodySource {
  private let connection: StoredConnection
  private let register: @Sendable () -> ServiceHost?
  private let waiters: PayloadWaiters
  private let place: Place
  private let beat: PayloadBeat
  /// What the settings of the connection are; nil where the device does not want to hear of them.
  private let settings: (@Sendable (StoredConnection) -> [ConnectionSetting])?

  /// Where the channel is; one reader at a time.
  private actor Place {
    var number: Int64
    var hasBegun = false
    private var settings: [ConnectionSetting]?

    init(_ number: Int64) { self.number = number }

    func move(to number: Int64) { self.number = number }
    /// The lines of settings that are new; all of them and a last one at the beginning.
    func lines(_ now: [ConnectionSetting]) -> [UInt8] {
      defer { settings = now }
      guard let known = settings else {
        return now.flatMap(\.line) + ConnectionSetting.complete
      }
      return now.filter { !known.contains($0) }.flatMap(\.line)
    }

    /// True once.
    func begin() -> Bool {
      defer { hasBegun = true }
      return !hasBegun
    }
  }

  init(
    _ connection: StoredConnection, after number: Int64, _ waiters: PayloadWaiters, _ world: World,
    settings: (@Sendable (StoredConnection) -> [ConnectionSetting])? = nil,
    register: @escaping @Sendable () -> ServiceHost?
  ) {
    self.connection = connection
    self.register = register
    self.settings = settings
    self.waiters = waiters
    place = Place(number)
    beat = PayloadBeat(world.clock)
    waiters.opened(connection.id)
  }

  deinit { waiters.closed(connection.id) }

  /// Lines of one look.
  private static let most: Int = 50

  func next() async -> HTTPBodyPiece {
    // The device sees at once that the channel is open.
    if await place.begin() { return .bytes([UInt8(ascii: "\n")]) }
    while !Task.isCancelled {
      let news = waiters.news(of: connection.id)
      guard let host = register() else { return .abort }
      do throws(ServerError) {
        guard let known = try await host.connection(connection.id),
          known.user == connection.user, known.state == .active
        else { return .end }
        if let settings {
          let lines = await place.lines(settings(known))
          if !lines.isEmpty {
            beat.said()
            return .bytes(lines)
          }
        }
        let payloads = try await host.payloads(
          of: connection.owner, after: await place.number, count: PayloadBody.most)
        if let last = payloads.last {
          await place.move(to: last.number)
          beat.said()
          return .bytes(payloads.flatMap(PayloadBody.line))
        }
      } catch {
        return .abort
      }
      if beat.isDue() { return .bytes([UInt8(ascii: "\n")]) }
      await waiters.wait(connection.id, since: news)
    }
    return .abort
  }

  private static func line(_ payload: StoredPayload) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("number", payload.number)
    writer.field("time", payload.moment)
    writer.key("fields")
    writer.raw(payload.content.utf8)
    writer.endObject()
    return writer.bytes + [UInt8(ascii: "\n")]
  }
}

/// A setting as a channel tells it: under the number that apps of the reference know.
struct ConnectionSetting: Sendable, Equatable {
  let name: String
  let number: Int?
  /// Nil: it has none.
  let value: String?

  var line: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("setting", name)
    if let number { writer.field("id", number) }
    writer.field("value", value)
    writer.endObject()
    return writer.bytes + [UInt8(ascii: "\n")]
  }

  /// All settings have been sent.
  static let complete = Array("{\"settings\":\"complete\",\"id\":20000}\n".utf8)
}
