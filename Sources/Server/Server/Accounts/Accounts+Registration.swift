import FerryModel
import FerryWire
import FerryWorld

/// What is remembered of a device since the register noted it last.
struct Registration {
  /// The subscription of the register that is in good order.
  static let accepted = "accepted"

  let moment: Timestamp
  var template: String?
  let logLevel: String?
  /// Empty where the device said that it has none; nil where it said nothing.
  let subscription: String?
  /// Whether the device had changes that the server had not got.
  let hasPending: Bool
}

/// Registers devices by connection templates, and lets their settings travel.
extension Accounts {
  /// A device logs in: it is registered by the template that matches where it was not yet.
  ///
  /// Throws `ambiguousTemplate` where two match: then nobody logs in.
  func enrol(
    _ owner: Owner, package: String?, by activation: RegisteredDevice? = nil
  ) throws(ServerError) {
    let known = try guarded { () throws(StoreError) in try store.registeredDevice(owner) }
    var device = known ?? RegisteredDevice(user: owner.user.text, device: owner.device.text)
    if let activation {
      device.template = activation.template
    } else if device.template == nil {
      let name = package.map { String($0.prefix { $0 != ":" }) } ?? self.package.name
      // The settings of a package are for those who may use it.
      if provider?.record(of: device.user)?.packages.include(name) ?? true {
        device.template = try templates.matching(
          package: name, login: login(of: device.user))?.name
      }
    }
    guard device.template != known?.template else { return }
    let now = world.clock.now.milliseconds
    if device.firstSeen == 0 { device.firstSeen = now }
    device.lastSeen = now
    try guarded { () throws(StoreError) in try store.keep(device) }
    forgetRegistration(owner)
  }

  /// Each package of the server asks the register again.
  private func forgetRegistration(_ owner: Owner) {
    for accounts in users.accounts { accounts.registered[owner] = nil }
  }

  /// An activation code for a user: who has it logs in on one device, without a password.
  ///
  /// `template`: what that device is registered by; nil: the one that matches then. Throws `badRequest`
  /// for a user or a template that there is not, and where too many codes wait.
  func makeActivation(
    of user: String, template: String?
  ) throws(ServerError) -> (code: String, expires: Timestamp) {
    guard provider?.record(of: user) != nil else {
      throw ServerError(
        .badRequest, "there is no user \(user)",
        hint:
          "Add the user first: `ferry user add`. Users of an issuer log in at the issuer, "
          + "without a code."
      )
    }
    if let template { _ = try known(template) }
    let waiting = try guarded { () throws(StoreError) in try store.registeredDevices() }
      .count { $0.state == .activating && $0.user.hasBytes(of: user) }
    guard waiting < limits.activationsPerUser else {
      throw ServerError(
        .badRequest, "\(user) has \(waiting) unused activation codes",
        hint: "Use them, or remove some with `ferry device forget`.")
    }
    let code = ActivationCode(world.chance.bytes(ActivationCode.letters))
    var device = RegisteredDevice(user: user, device: code.device)
    device.state = .activating
    device.template = template
    device.firstSeen = world.clock.now.milliseconds
    device.lastSeen = device.firstSeen
    try guarded { () throws(StoreError) in try store.keep(device) }
    return (code.text, activationEnd(device))
  }

  func activationEnd(_ device: RegisteredDevice) -> Timestamp {
    Timestamp(milliseconds: device.firstSeen)
      .advanced(by: .seconds(limits.activationHours * 3_600))
  }

  /// Opens a session for who has an activation code. The device that used it first may send it again,
  /// for the answer may have been lost; another one is refused.
  ///
  /// Throws `wrongLogin`, which does not say whether the code is wrong, used or too old.
  func activate(
    _ text: String, of user: String, device: String, package: String? = nil, key: [UInt8]? = nil
  ) throws(ServerError) -> (UserRecord, TokenPair) {
    let wrong = ServerError(
      .wrongLogin, "the activation code is wrong, was used, or is too old",
      hint: "Check user and code, or ask your administrator for another one.")
    guard let code = ActivationCode(text) else { throw wrong }
    let place = Owner(device: code.device, user: user)
    let known = try guarded { () throws(StoreError) in try store.registeredDevice(place) }
    guard var activation = known, activation.state == .activating,
      world.clock.now < activationEnd(activation),
      activation.incarnation.isEmpty || activation.incarnation.hasBytes(of: device),
      let record = provider?.record(of: user)
    else { throw wrong }
    let owner = Owner(device: device, user: user)
    if let no = try decision(owner) { throw no }
    activation.incarnation = device
    try guarded { () throws(StoreError) in try store.keep(activation) }
    try enrol(owner, package: package, by: activation)
    return (record, try login(record, device: device, package: package, key: key))
  }

  /// Registers a device by another template; its settings travel at once.
  func assign(_ template: String, to owner: Owner) throws(ServerError) -> RegisteredDevice {
    let found = try known(template)
    let registered = try guarded { () throws(StoreError) in try store.registeredDevice(owner) }
    guard var device = registered, device.state != .activating else {
      throw ServerError(
        .badRequest, "\(owner.user.text) has no device \(owner.device.text)",
        hint: "`ferry device list` shows all.")
    }
    device.template = found.name
    try guarded { () throws(StoreError) in try store.keep(device) }
    forgetRegistration(owner)
    for accounts in users.accounts { accounts.templatesChanged(for: owner) }
    return device
  }

  /// Says how much the app of a device logs; nil: what its template says. The setting travels at once.
  func setLogLevel(_ level: String?, of owner: Owner) throws(ServerError) -> RegisteredDevice {
    let registered = try guarded { () throws(StoreError) in try store.registeredDevice(owner) }
    guard var device = registered, device.state != .activating else {
      throw ServerError(
        .badRequest, "\(owner.user.text) has no device \(owner.device.text)",
        hint: "`ferry device list` shows all.")
    }
    device.logLevel = level
    try guarded { () throws(StoreError) in try store.keep(device) }
    forgetRegistration(owner)
    for accounts in users.accounts { accounts.templatesChanged(for: owner) }
    return device
  }

  private func known(_ template: String) throws(ServerError) -> ConnectionTemplate {
    guard let found = templates.named(template) else {
      let names = templates.all.map(\.name).joined(separator: ", ")
      throw ServerError(
        .badRequest, "there is no template \(template)",
        hint: names.isEmpty ? "There is no file of templates." : "There are \(names).")
    }
    return found
  }

  /// A device ends its own session; `isUnregistering`: it leaves the register, unless its operator
  /// decided something about it. Gives the user; nil: there is no such session, or it has ended.
  func logout(
    _ refreshToken: String, device: String, isUnregistering: Bool
  ) throws(ServerError) -> String? {
    let known = try guarded { () throws(StoreError) in
      try sessions.session(ofToken: refreshToken)
    }
    guard let session = known, session.device.hasBytes(of: device) else { return nil }
    try revoke(user: session.user, device: device, reason: Sessions.Ending.loggedOut)
    let owner = Owner(device: device, user: session.user)
    if isUnregistering { try forgetEvicted(owner) }
    forgetRegistration(owner)
    return session.ended == nil ? session.user : nil
  }

  /// Devices that were not here for long leave the register, and activation codes that are too old.
  func forgetInactive() throws(ServerError) {
    let now = world.clock.now
    let devices = try guarded { () throws(StoreError) in try store.registeredDevices() }
    for device in devices {
      switch device.state {
      case .activating:
        guard now >= activationEnd(device) else { continue }
        try guarded { () throws(StoreError) in try store.forgetRegistered(device.owner) }
      case .active:
        guard device.daysLeft(of: limits.inactiveDays, now: now) == 0 else { continue }
        defer { users.sessions.forget(of: device.user) }
        try guarded { () throws(StoreError) in
          try store.transaction { () throws(StoreError) in
            try store.forgetRegistered(device.owner)
            try store.endSessions(
              user: device.user, device: device.device, reason: Sessions.Ending.inactive)
          }
        }
        forgetRegistration(device.owner)
        core.tell(
          .sessionEnded(user: device.user, device: device.device, reason: Sessions.Ending.inactive))
      case .locked, .wiping, .wiped: continue
      }
    }
  }

  /// The register has the cause where a subscription is refused (sync/Q3, M19).
  func noteRefusal(_ failure: WireFailure, _ hello: Hello, _ identity: Identity) {
    guard [.unknownPackage, .tooManyPartitions].contains(failure.code), identity.session != nil
    else { return }
    let owner = Owner(device: hello.device, user: identity.user)
    do throws(ServerError) {
      try guarded { () throws(StoreError) in
        guard var device = try store.registeredDevice(owner) else { return }
        // The operator has to know more than the user may.
        let allowed = packages(of: identity).include(id: hello.package)
        device.subscription =
          allowed
          ? "refused: \(failure.message)"
          : "refused: \(identity.user) may not use the package \(hello.package)"
        try store.keep(device)
      }
      registered[owner] = nil
    } catch {
      world.log.warn("a refused subscription is not noted", ("reason", error.message))
    }
  }

  /// Of a device that logged in before there were templates. Where two match, none is taken: nobody is
  /// thrown out for it.
  func templateOfOld(_ device: RegisteredDevice) -> String? {
    do throws(ServerError) {
      return try templates.matching(
        package: package.name, login: login(of: device.user))?.name
    } catch {
      world.log.warn(
        "a device is registered by no template", ("device", device.device),
        ("reason", error.message), ("cure", error.hint))
      return nil
    }
  }

  private func login(of user: String) -> ConnectionTemplate.Login {
    tokenUsers.record(of: user) == nil ? .password : .token
  }

  /// The settings of a device; nil: it has no template, or the operator removed it.
  private func settings(of owner: Owner) throws(ServerError) -> ApplicationSettings? {
    let name: String?
    let logLevel: String?
    if let known = registered[owner] {
      (name, logLevel) = (known.template, known.logLevel)
    } else {
      let device = try guarded { () throws(StoreError) in try store.registeredDevice(owner) }
      (name, logLevel) = (device.flatMap { $0.template ?? templateOfOld($0) }, device?.logLevel)
    }
    let settings = name.flatMap(templates.named)?.settings
    guard let logLevel else { return settings }
    return ConnectionTemplate.settings(settings, logLevel: logLevel)
  }

  /// What a welcome says of them to a device that takes settings and has others.
  func newSettings(_ hello: Hello, of owner: Owner) throws(ServerError) -> ApplicationSettings? {
    guard let known = hello.settings else { return nil }
    var settings = try settings(of: owner)
    // The operator has taken the level back, and there is no template: the device has none again.
    if settings == nil, ConnectionTemplate.isOfLevel(known) { settings = ApplicationSettings() }
    return settings.flatMap { $0.version == known ? nil : $0 }
  }

  /// The templates have changed, or that of one device.
  func templatesChanged(for owner: Owner? = nil) {
    // Who had none may have one by now.
    if owner == nil { registered = [:] }
    core.tell(.settingsChanged(owner))
  }
}
