/// What wakes an app: texts for its user, or nothing but a word that something waits.
public struct PushMessage: Sendable, Equatable {
  /// For the user; nil: the app is woken silently.
  public var alert: String?
  public var title: String?
  /// The number on the app's icon.
  public var badge: Int?
  public var sound: String?
  /// For the app; nil where it fetches the payload itself.
  public var data: String?
  /// How many payloads wait at the server.
  public var pending: Int = 0
  /// Messages of one name replace each other on the device.
  public var collapse: String?
  /// Whether the device shows it at once, or when it suits its battery.
  public var isUrgent: Bool = true
  /// How long the push service keeps it for a device that is away; nil: as long as it wants.
  public var lifetime: Duration?

  public init() {}
}

/// What became of a message.
public enum PushOutcome: Sendable, Equatable {
  case sent
  /// The token of the device is none any more: nothing is to be sent to it again.
  case tokenEnded(String)
  /// The push service is busy or away.
  case later(afterSeconds: Int64?, String)
  /// This message cannot be sent; others can.
  case refused(String)
  /// The push service does not know our key: nothing can be sent.
  case wrongKey(String)
}

/// Brings messages to devices by a push service.
public protocol PushSender: Sendable {
  /// What messages call it, such as `APNs`.
  var name: String { get }
  /// `token`: what the push service calls the device.
  func send(_ message: PushMessage, to token: String) async -> PushOutcome
}
