import FerryHTTPClient
import FerryJSON
import FerryPush
import FerryRegistration
import FerryServer
import FerryWorld

/// Wakes devices of one application that do not listen.
struct NativePush: Sendable {
  let mode: ApplicationPush.Mode
  private let apns: APNsSender?
  private let fcm: FCMSender?
  private let web: WebPushSender?
  private let hook: WebHookSender?

  /// `transport`: how push services are reached; nil: by HTTP/2 of the system.
  init(_ push: ApplicationPush, _ transport: (any Transport)?, _ clock: any WorldClock) {
    mode = push.mode
    var options = TransportOptions(trust: push.trust.map { .file($0) } ?? .system)
    options.connectionsPerHost = PushDesk.inFlight
    let transport = transport ?? SystemTransport.make(options)
    apns = push.apns.map { APNsSender($0, transport: transport, clock: clock) }
    fcm = push.fcm.map { FCMSender($0, transport: transport, clock: clock) }
    web = push.web.map { WebPushSender($0, transport: transport, clock: clock) }
    hook = push.webHook.map {
      WebHookSender(address: $0.address, secret: $0.secret, transport: transport, clock: clock)
    }
  }

  /// By the member of the file that describes it.
  func sender(_ service: String) -> (any PushSender)? {
    switch service {
    case "apns": apns
    case "fcm": fcm
    case "webPush": web
    case "webHook": hook
    default: nil
    }
  }

  /// Which sender wakes a connection under which token, and the property that has the token.
  func ways(
    _ values: ConnectionValues
  ) -> [(sender: any PushSender, token: String, property: String?)] {
    var ways: [(any PushSender, String, String?)] = []
    func token(_ flag: String, _ name: String) -> String? {
      guard values.given[flag] == .boolean(true), case .text(let token)? = values.given[name]
      else { return nil }
      return token
    }
    if let apns, let token = token("ApnsPushEnable", "ApnsDeviceToken") {
      ways.append((apns, token, "ApnsDeviceToken"))
    }
    if let fcm, let token = token("AndroidGcmPushEnabled", "AndroidGcmRegistrationId") {
      ways.append((fcm, token, "AndroidGcmRegistrationId"))
    }
    if let web, let token = token("WebPushEnabled", "WebPushSubscription") {
      ways.append((web, token, "WebPushSubscription"))
    }
    if let hook { ways.append((hook, values.connection.id, nil)) }
    return ways
  }

  /// The message that a payload's fields make. The payload itself stays in the queue.
  static func message(_ content: String, pending: Int) -> PushMessage {
    var message = PushMessage()
    message.pending = pending
    let node = try? JSONNode.parse(Array(content.utf8))
    func field(_ names: String...) -> String? {
      names.lazy.compactMap { node?[$0]?.string }.first
    }
    message.alert = field("APNS-ALERT-BODY", "Alert", "APNS-ALERT")
    message.title = field("Title")
    message.badge = field("APNS-BADGE", "Badge").flatMap { Int($0) }
    message.sound = field("APNS-SOUND", "Sound")
    message.data = field("APNS-DATA", "GCM-DATA")
    message.collapse = field("GCM-COLLAPSEKEY")
    message.lifetime = field("GCM-TIMETOLIVE").flatMap { Int64($0) }.map {
      .seconds(min(max($0, 0), 2_419_200))
    }
    return message
  }
}

extension Applications {
  /// Wakes the device of a connection where nothing of it listens.
  func wake(
    _ connection: StoredConnection, _ application: Application, _ content: String
  ) async {
    guard let native = natives[application.id], native.mode != .online,
      native.mode == .native || !waiters.isOpen(connection.id)
    else { return }
    let pending = (try? await register()?.payloadCount(of: connection.owner)) ?? 1
    let message = NativePush.message(content, pending: pending)
    let values = ConnectionValues(connection, application, door: "")
    for way in native.ways(values) {
      await desk.add(
        PushJob(message, to: way.token, by: way.sender) { [weak self] reason in
          guard let property = way.property else { return }
          await self?.forget(property, way.token, of: connection.id, reason)
        })
    }
  }

  /// A push service knows the token no more; a newer one stays.
  private func forget(_ property: String, _ token: String, of id: String, _ reason: String) async {
    world.log.info(
      "a push service has ended a token", ("connection", id), ("property", property),
      ("reason", reason))
    for _ in 0..<8 {
      guard let host = register(), let known = try? await host.connection(id) else { return }
      var values = ConnectionValues.read(known.properties)
      guard values[property] == .text(token) else { return }
      values[property] = nil
      var changed = known
      changed.properties = ConnectionValues.write(values)
      if (try? await host.update(changed, from: known.changes)) == true { return }
    }
  }
}
