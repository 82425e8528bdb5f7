import FerryJSON
import FerryWorld

/// Something that a service has pushed to the app.
public struct PushedPayload: Sendable, Equatable {
  /// Greater than those before it.
  public let number: Int64
  /// When the server got it.
  public let time: Timestamp
  /// By name, such as `Data` and `Alert`.
  public let fields: [String: String]

  /// What the service has sent as data; nil where it sent other fields only.
  public var data: String? { fields["Data"] }

  init?(_ line: [UInt8]) {
    guard let node = try? JSONNode.parse(line), let number = node["number"]?.integer,
      let time = node["time"]?.integer, let members = node["fields"]?.object
    else { return nil }
    self.number = number
    self.time = Timestamp(milliseconds: time)
    var fields: [String: String] = [:]
    for member in members { fields[member.key] = member.value.string ?? "" }
    self.fields = fields
  }
}

/// What a connection hears from its server.
public enum ConnectionEvent: Sendable, Equatable {
  /// A service has pushed something.
  case payload(PushedPayload)
  /// A setting as it is now; at the beginning of a channel all are reported.
  case setting(SettingChange)
  /// All settings have been reported.
  case settingsComplete

  init?(_ line: [UInt8]) {
    if let payload = PushedPayload(line) {
      self = .payload(payload)
      return
    }
    guard let node = try? JSONNode.parse(line) else { return nil }
    if let name = node["setting"]?.string {
      let number = node["id"]?.integer.map { Int($0) }
      self = .setting(SettingChange(name: name, number: number, text: node["value"]?.string))
    } else if node["settings"]?.string == "complete" {
      self = .settingsComplete
    } else {
      return nil
    }
  }
}

/// A setting of a connection as its server reports it.
public struct SettingChange: Sendable, Equatable {
  public let name: String
  /// Under which apps of the reference know it; nil: it has none.
  public let number: Int?
  /// Nil: it has no value.
  public let text: String?

  /// The value as the type of its property; nil where it has none.
  public var value: PropertyValue? {
    guard let text, let property = ConnectionProperty.named(name) else { return nil }
    return PropertyValue(text, property.kind)
  }
}

/// What a connection hears, as it comes.
public struct ConnectionEventSequence: AsyncSequence {
  /// An event.
  public typealias Element = ConnectionEvent
  /// Why the channel cannot be opened again.
  public typealias Failure = RegistrationError

  private let registration: ApplicationRegistration

  init(_ registration: ApplicationRegistration) { self.registration = registration }

  public func makeAsyncIterator() -> Iterator { Iterator(registration) }

  /// Keeps the channel open while the next event is waited for.
  public struct Iterator: AsyncIteratorProtocol {
    private let channel: PayloadChannel

    init(_ registration: ApplicationRegistration) {
      channel = PayloadChannel(registration, hearsSettings: true)
    }

    /// The next event; nil once the connection is not registered any more. Throws what cannot be cured
    /// by opening the channel again.
    public mutating func next() async throws(RegistrationError) -> ConnectionEvent? {
      try await channel.next()
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(RegistrationError) -> ConnectionEvent? {
      try await channel.next()
    }
  }
}

/// The payloads of a connection as they come.
public struct PayloadSequence: AsyncSequence {
  /// A payload.
  public typealias Element = PushedPayload
  /// Why the channel cannot be opened again.
  public typealias Failure = RegistrationError

  private let registration: ApplicationRegistration

  init(_ registration: ApplicationRegistration) { self.registration = registration }

  public func makeAsyncIterator() -> Iterator { Iterator(registration) }

  /// Keeps the channel open while the next payload is waited for.
  public struct Iterator: AsyncIteratorProtocol {
    private let channel: PayloadChannel

    init(_ registration: ApplicationRegistration) {
      channel = PayloadChannel(registration, hearsSettings: false)
    }

    /// The next payload; nil once the connection is not registered any more. Throws what cannot be
    /// cured by opening the channel again.
    public mutating func next() async throws(RegistrationError) -> PushedPayload? {
      try await channel.nextPayload()
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(RegistrationError) -> PushedPayload? {
      try await channel.nextPayload()
    }
  }
}
