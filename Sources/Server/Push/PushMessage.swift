/// What wakes an app: texts for its user, or nothing but a word that something waits.
package struct PushMessage: Sendable, Equatable {
  /// For the user; nil: the app is woken silently.
  package var alert: String?
  package var title: String?
  /// The number on the app's icon.
  package var badge: Int?
  package var sound: String?
  /// For the app; nil where it fetches the payload itself.
  package var data: String?
  /// How many payloads wait at the server.
  package var pending: Int = 0
  /// Messages of one name replace each other on the device.
  package var collapse: String?
  /// Whether the device shows it at once, or when it suits its battery.
  package var isUrgent: Bool = true
  /// How long the push service keeps it for a device that is away; nil: as long as it wants.
  package var lifetime: Duration?

  package init() {}
}

/// What became of a message.
package enum PushOutcome: Sendable, Equatable {
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
package protocol PushSender: Sendable {
  /// What messages call it, such as `APNs`.
  var name: String { get }
  /// `token`: what the push service calls the device.
  func send(_ message: PushMessage, to token: String) async -> PushOutcome
}
