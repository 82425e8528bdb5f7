import FerryCrypto
import FerryHTTP
import FerryJSON
import FerryModel

/// What an operator asks of the register of devices, and the receipts of wiped devices.
extension Router {
  /// Who has the key of the operator, which is in the file `operator.key` of the data folder, or came
  /// through the socket beside it, which is as closed.
  func isOperator(_ request: HTTPRequest) -> Bool {
    if request.peerUser != nil { return true }
    let key = Array((request.bearerToken ?? "").utf8)
    return equalInConstantTime(key, Array(service.operatorKey.utf8))
  }

  func operate(_ request: HTTPRequest) async -> HTTPResponse {
    do throws(ServerError) {
      if request.method == .get {
        return json(200, list(try await service.devices()))
      }
      if request.path.hasSuffix("/keys") {
        try await service.rotateKeys()
        audit.note(.keyRotated, address: address(of: request))
        return json(200, Array("{}".utf8))
      }
      if request.path.hasSuffix("/activation") { return try await activation(request) }
      guard let node = try? JSONNode.parse(request.body), let user = node["user"]?.string,
        let device = node["device"]?.string,
        let verb = node["verb"]?.string.flatMap(DeviceVerb.init)
      else { return unreadable("device takes verb, user and device") }
      let reason = node["reason"]?.string ?? ""
      if verb == .template {
        let device = try await service.assign(
          node["template"]?.string ?? "", to: Owner(device: device, user: user))
        audit.note(
          .templateAssigned, user: user, device: device.device, address: address(of: request),
          reason: device.template)
        return json(200, list([device]))
      }
      let decided = try await service.decide(
        verb, Owner(device: device, user: user), reason: reason,
        withPending: node["withPending"]?.boolean ?? false)
      audit.note(
        Router.event(verb), user: user, device: device, address: address(of: request),
        reason: reason)
      return json(200, list([decided]))
    } catch {
      return refusal(error.code == .badRequest ? 409 : 503, error)
    }
  }

  var notOperator: HTTPResponse {
    refusal(
      401, "notOperator", "the request carries no key of the operator",
      hint: "Send Authorization: Bearer with the content of operator.key in the data folder.")
  }

  private static func event(_ verb: DeviceVerb) -> AuditLog.Event {
    switch verb {
    case .lock: .deviceLocked
    case .unlock: .deviceUnlocked
    case .wipe: .wipeOrdered
    case .forget: .deviceRemoved
    case .template: .templateAssigned
    }
  }

  /// `POST /ferry/1/wiped`: `user`, `device`, `receipt`, and `pending` where the device kept its data.
  func receipt(_ request: HTTPRequest) async -> HTTPResponse {
    guard request.body.count <= Router.passwordBytes, let node = try? JSONNode.parse(request.body),
      let user = node["user"]?.string, let device = node.deviceID,
      let text = node["receipt"]?.string
    else { return unreadable("wiped takes user, device and receipt") }
    let pending = node["pending"]?.integer
    do throws(ServerError) {
      try await service.take(
        pending.map { .refused(pending: $0) } ?? .wiped, text,
        from: Owner(device: device, user: user))
      audit.note(
        pending == nil ? .wipeReceipt : .wipeRefused, user: user, device: device,
        address: address(of: request),
        reason: pending.map { $0 == 1 ? "a change is pending" : "\($0) changes are pending" })
      return json(200, Array("{}".utf8))
    } catch {
      return refusal(
        404, "notFound", "no wipe was ordered with this receipt",
        hint: "Nothing is to be done.")
    }
  }

  private func list(_ devices: [RegisteredDevice]) -> [UInt8] {
    let now = service.now
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("devices")
    writer.array(devices) { writer, device in
      writer.beginObject()
      writer.field("user", device.user)
      writer.field("device", device.device)
      writer.field("state", device.state.rawValue)
      writer.field("reason", device.reason)
      writer.field("model", device.model)
      writer.field("hardware", device.hardware)
      writer.field("system", device.system)
      writer.field("library", device.library)
      writer.field("firstSeen", device.firstSeen)
      writer.field("lastSeen", device.lastSeen)
      if let pending = device.pending { writer.field("pending", pending) }
      if let template = device.template { writer.field("template", template) }
      if let subscription = device.subscription { writer.field("subscription", subscription) }
      writer.field("leavesInDays", service.daysLeft(device, now: now))
      writer.key("parameters")
      writer.raw(device.parameters.utf8)
      writer.key("cursors")
      writer.raw(device.cursors.utf8)
      writer.endObject()
    }
    writer.endObject()
    return writer.bytes
  }
}
