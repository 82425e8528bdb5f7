import FerryHTTPClient
import FerryPush
import FerryWorld

extension Application {
  /// The push services that the file describes for the application, as `apns`, `fcm`, `webPush` and
  /// `webHook`.
  package var pushServices: [String] {
    guard let push else { return [] }
    return [
      push.apns == nil ? nil : "apns", push.fcm == nil ? nil : "fcm",
      push.web == nil ? nil : "webPush", push.webHook == nil ? nil : "webHook",
    ].compactMap { $0 }
  }

  /// Sends one message to one device, as the server would, and says what the push service answered.
  ///
  /// `service`: one of `pushServices`; nil is returned for another one. `token`: what the push service
  /// calls the device.
  package func tryPush(
    _ message: PushMessage, through service: String, to token: String,
    clock: any WorldClock
  ) async -> PushOutcome? {
    guard let push, let sender = NativePush(push, nil, clock).sender(service) else { return nil }
    return await sender.send(message, to: token)
  }
}
