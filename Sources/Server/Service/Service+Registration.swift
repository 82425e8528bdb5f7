import FerryModel
import FerryWire
import FerryWorld

/// What is remembered of a device since the register noted it last.
struct Registration {
  /// The subscription of the register that is in good order.
  static let accepted = "accepted"

  let moment: Timestamp
  var template: String?
  /// Empty where the device said that it has none; nil where it said nothing.
  let subscription: String?
}

/// Registers devices by connection templates, and lets their settings travel.
extension Service {
  /// A device logs in: it is registered by the template that matches where it was not yet.
  ///
  /// Throws `ambiguousTemplate` where two match: then nobody logs in.
  func enrol(_ owner: Owner, by activation: RegisteredDevice? = nil) throws(ServerError) {
    let known = try guarded { () throws(StoreError) in try store.registeredDevice(owner) }
    var device = known ?? RegisteredDevice(user: owner.user.text, device: owner.device.text)
    if let activation {
      device.template = activation.template
    } else if device.template == nil {
      device.template = try templates.matching(
        package: package.name, login: login(of: device.user))?.name
    }
    guard device.template != known?.template || activation != nil else { return }
    let now = world.clock.now.milliseconds
    if device.firstSeen == 0 { device.firstSeen = now }
    device.lastSeen = now
    try guarded { () throws(StoreError) in try store.keep(device) }
    registered[owner] = nil
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
    if let known = registered[owner] {
      name = known.template
    } else {
      name = try guarded { () throws(StoreError) in try store.registeredDevice(owner)?.template }
    }
    return name.flatMap(templates.named)?.settings
  }

  /// What a welcome says of them to a device that takes settings and has others.
  func newSettings(for state: ExchangeState) throws(ServerError) -> ApplicationSettings? {
    guard let known = state.hello.settings, let settings = try settings(of: state.owner),
      settings.version != known
    else { return nil }
    return settings
  }

  /// The version of settings that the device of an open channel does not have; once for each.
  func settingsToStir(_ exchange: Exchange) throws(ServerError) -> String? {
    guard exchange.state.isSettingsStale else { return nil }
    exchange.state.isSettingsStale = false
    guard let newer = try newSettings(for: exchange.state) else { return nil }
    exchange.state.hello.settings = newer.version
    return newer.version
  }

  /// Open channels look whether their devices have older settings.
  func templatesChanged(for owner: Owner? = nil) {
    for (id, exchange) in exchanges.sorted(by: { $0.key < $1.key })
    where exchange.state.isChannel && (owner ?? exchange.state.owner) == exchange.state.owner {
      exchange.state.isSettingsStale = true
      onStir?(id)
    }
  }
}
