import FerryCrypto
import FerryJSON
import FerryModel
import FerryWire
import FerryWorld

/// What an operator does with a device.
package enum DeviceVerb: String, Sendable, CaseIterable {
  case lock, unlock, wipe, forget, template
}

/// What a device says about the order to wipe itself.
package enum WipeReceipt: Sendable, Equatable {
  case wiped
  /// It has kept its data: so many changes were not sent, and the order does not include them.
  case refused(pending: Int64)
}

/// The register of devices, and what an operator decides about one.
extension Accounts {
  /// What ends the sessions of a device that is locked or to be wiped; unlocking opens them again.
  private static let locked = "locked"

  /// How often the register notes that a device was here.
  private static let noteInterval: Duration = .seconds(60)

  /// Notes in the register what a device says of itself, at most once a minute; at once where it has
  /// something to send by now, or nothing any more.
  func register(_ hello: Hello, _ identity: Identity) throws(ServerError) {
    // Requests without a session are those of tests.
    guard identity.session != nil else { return }
    let owner = Owner(device: hello.device, user: identity.user)
    let moment = world.clock.moment
    let subscription = hello.facts.isSubscribed.map { $0 ? Registration.accepted : "" }
    let hasPending = (hello.facts.pending ?? 0) > 0
    if let last = registered[owner], moment < last.moment.advanced(by: Accounts.noteInterval),
      subscription == nil || subscription == last.subscription, hasPending == last.hasPending
    {
      return
    }
    if registered.count > limits.registeredInMemory { registered = [:] }
    let now = world.clock.now.milliseconds
    let kept = try guarded { () throws(StoreError) in
      let known = try store.registeredDevice(owner)
      var device = known ?? RegisteredDevice(user: identity.user, device: hello.device)
      if device.firstSeen == 0 { device.firstSeen = now }
      device.lastSeen = now
      device.incarnation = hello.incarnation
      device.model = hello.package
      device.hardware = hello.facts.hardware
      device.system = hello.facts.system
      device.library = hello.facts.library
      device.pending = hello.facts.pending
      device.cursors = Accounts.cursors(hello)
      if let subscription {
        device.subscription = subscription.isEmpty ? nil : subscription
        device.parameters = subscription.isEmpty ? "[]" : Accounts.parameters(hello)
      }
      if device.template == nil { device.template = templateOfOld(device) }
      if collectsVisits, let known, known.differsByVisit(from: device) {
        visits.note(SeenDevice(device), at: moment)
      } else {
        visits.forget(owner)
        try store.keep(device)
      }
      return device
    }
    registered[owner] = Registration(
      moment: moment, template: kept.template, logLevel: kept.logLevel,
      subscription: subscription, hasPending: hasPending)
  }

  private static func parameters(_ hello: Hello) -> String {
    var writer = JSONWriter()
    writer.array(hello.parameters.sets.prefix(100)) { writer, set in
      writer.beginObject()
      for (name, value) in set.sorted(by: { $0.key < $1.key }) { writer.field(name, value) }
      writer.endObject()
    }
    return writer.text
  }

  private static func cursors(_ hello: Hello) -> String {
    var writer = JSONWriter()
    writer.array(hello.partitions.prefix(100)) { writer, cursor in
      writer.beginObject()
      writer.field("partition", cursor.partition)
      writer.field("version", cursor.cursor.version)
      writer.endObject()
    }
    return writer.text
  }

  /// Why a device whose session has ended, or that wants to log in, is refused; nil: nobody decided
  /// anything about it.
  func decision(_ owner: Owner) throws(ServerError) -> ServerError? {
    let device = try guarded { () throws(StoreError) in try store.registeredDevice(owner) }
    guard let device, device.state != .active, device.state != .activating else { return nil }
    let reason = device.reason.isEmpty ? "" : ": \(device.reason)"
    guard device.state != .locked, let receipt = device.receipt else {
      return ServerError(
        .deviceLocked, "this device is locked\(reason)",
        hint: "Ask your administrator. What is pending stays on the device.")
    }
    var error = ServerError(
      .deviceWiped, "the data of this device is to be destroyed\(reason)",
      hint: "Ask your administrator.")
    error.wipe = WipeOrder(
      server: store.server, device: device.device, incarnation: device.incarnation,
      receipt: receipt, withPending: device.withPending)
    return error
  }

  /// A device whose sessions went for newer ones of its user; what was decided about it stays.
  func forgetEvicted(_ owner: Owner) throws(ServerError) {
    try guarded { () throws(StoreError) in
      guard try store.registeredDevice(owner)?.state == .active else { return }
      try store.forgetRegistered(owner)
    }
  }

  /// All devices that were here.
  func devices() throws(ServerError) -> [RegisteredDevice] {
    try keepAllVisits()
    return try guarded { () throws(StoreError) in try store.registeredDevices() }
  }

  /// `waiting`: how many operations of the device have no answer. Throws `badRequest` where there is no
  /// such device, or this cannot be done with it.
  func decide(
    _ verb: DeviceVerb, _ owner: Owner, reason: String, withPending: Bool,
    waiting: @autoclosure () -> Int
  ) throws(ServerError) -> RegisteredDevice {
    try keepAllVisits()
    let known = try guarded { () throws(StoreError) in try store.registeredDevice(owner) }
    guard var device = known, device.state != .activating || verb == .forget else {
      throw ServerError(
        .badRequest, "\(owner.user.text) has no device \(owner.device.text)",
        hint: "`ferry device list` shows all.")
    }
    device.reason = reason
    switch verb {
    case .lock:
      guard device.state == .active || device.state == .locked else {
        throw Accounts.isWiped(device)
      }
      device.state = .locked
    case .unlock:
      guard device.state != .wiped else { throw Accounts.isWiped(device) }
      device.state = .active
      device.receipt = nil
      device.withPending = false
    case .wipe:
      guard device.state != .wiped else { throw Accounts.isWiped(device) }
      let waiting = waiting()
      if waiting > 0, !withPending {
        throw ServerError(
          .badRequest,
          waiting == 1
            ? "a change of the device is not answered yet: a wipe would destroy its outcome"
            : "\(waiting) changes of the device are not answered yet: a wipe would destroy their "
              + "outcomes",
          hint: "Wait until the business system has answered, or add --with-pending.")
      }
      if let pending = device.pending, pending > 0, !withPending {
        // It says that there are some, not how many.
        let changes =
          pending == 1 ? "at least one change that was" : "\(pending) changes that were"
        throw ServerError(
          .badRequest,
          "the device reported \(changes) not sent or refused: a wipe would destroy "
            + (pending == 1 ? "it" : "them"),
          hint: "Let it send them, or add --with-pending.")
      }
      device.state = .wiping
      device.receipt = device.receipt ?? hexadecimal(world.chance.bytes(16))
      device.withPending = withPending
    case .forget, .template: break
    }
    defer { users.sessions.forget(of: device.user) }
    try guarded { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        switch verb {
        case .lock, .wipe:
          try store.keep(device)
          try store.endSessions(
            user: device.user, device: device.device, reason: Accounts.locked)
        case .unlock:
          try store.keep(device)
          try store.reopenSessions(
            user: device.user, device: device.device, reason: Accounts.locked)
        case .template: try store.keep(device)
        case .forget:
          try store.forgetRegistered(owner)
          try store.endSessions(
            user: device.user, device: device.device, reason: Sessions.Ending.forgotten)
        }
      }
    }
    registered[owner] = nil
    if verb != .unlock { endExchanges(of: device.user, device: device.device) }
    return device
  }

  private static func isWiped(_ device: RegisteredDevice) -> ServerError {
    ServerError(
      .badRequest,
      device.state == .wiped
        ? "the device was wiped" : "the device has the order to wipe itself",
      hint: device.state == .wiped ? "Forget it: `ferry device forget`." : "Unlock it first.")
  }

  /// Throws `badRequest` where the receipt is not that of the order.
  func take(
    _ receipt: WipeReceipt, _ text: String, from owner: Owner
  ) throws(ServerError) {
    try keepAllVisits()
    let isKnown = try guarded { () throws(StoreError) -> Bool in
      guard var device = try store.registeredDevice(owner), let known = device.receipt,
        equalInConstantTime(Array(known.utf8), Array(text.utf8))
      else { return false }
      switch receipt {
      case .wiped:
        device.state = .wiped
        device.pending = 0
      case .refused(let pending): device.pending = pending
      }
      try store.keep(device)
      return true
    }
    guard isKnown else {
      throw ServerError(
        .badRequest, "no wipe was ordered with this receipt", hint: "Nothing is to be done.")
    }
  }
}
