import FerryModel
import FerryWire
import FerryWorld

/// What of its user's rights, sessions and settings an open exchange has to know.
extension Exchanges {
  func rights(of state: ExchangeState, _ keys: [String: String]) -> Rights {
    let parameters = state.hello.parameters
    let grants = accounts.grants(of: state.identity)
    return Rights(
      rules: rules, user: state.identity.user, roles: grants.roles, claims: grants.claims,
      sets: parameters.sets, keys: parameters.keys.merging(keys) { $1 })
  }

  /// Whether more of an answer may leave that has begun: it ends with its token, its session, its user
  /// and the user's right to the package. Of a store that cannot be read the answer itself tells.
  func mayGoOn(_ exchange: Exchange) -> Bool {
    let identity = exchange.state.identity
    guard exchange.state.phase != .ended else { return true }
    guard !exchange.state.isOver(at: world.clock.now) else { return false }
    if let provider = accounts.provider, identity.session != nil,
      provider.record(of: identity.user) == nil
    {
      return false
    }
    guard accounts.mayUsePackage(identity) else { return false }
    do throws(ServerError) {
      try accounts.check(identity)
      return true
    } catch {
      return error.isOfTheStore
    }
  }

  /// The records of users may have changed: lines of those that are gone, or whose sessions have
  /// ended, are closed; the others look at their rights again.
  func recordsChanged() throws(ServerError) {
    for user in Set(exchanges.values.map(\.state.owner.user)).sorted() {
      guard let record = accounts.provider?.record(of: user.text) else {
        try accounts.revoke(user: user.text, reason: Sessions.Ending.userRemoved)
        continue
      }
      for (_, exchange) in exchanges where exchange.state.owner.user == user {
        do throws(ServerError) { try accounts.check(exchange.state.identity) } catch {
          guard !error.isOfTheStore else { throw error }
        }
      }
      _ = record
      accounts.rightsChanged(of: user.text)
    }
  }

  /// The lines of the user look at the rights again.
  func lookAgain(at user: String) {
    for (id, exchange) in exchanges.sorted(by: { $0.key < $1.key })
    where exchange.state.identity.user.hasBytes(of: user) {
      exchange.state.isStale = true
      exchange.state.hasNews = true
      exchange.state.notices.note(nil)
      core.tell(.stirred(id))
    }
  }

  /// The lines of the user end, on one device or on all.
  func endOwnExchanges(of user: String, device: String?) {
    for (id, exchange) in exchanges.sorted(by: { $0.key < $1.key }) {
      let owner = exchange.state.owner
      guard owner.user == ExactText(user), device.map({ owner.device == ExactText($0) }) ?? true
      else { continue }
      exchange.state.phase = .ended
      interests.remove(id)
      core.tell(.stirred(id))
    }
  }

  /// The version of settings that the device of an open channel does not have; once for each.
  func settingsToStir(_ exchange: Exchange) throws(ServerError) -> String? {
    guard exchange.state.isSettingsStale else { return nil }
    exchange.state.isSettingsStale = false
    guard
      let newer = try accounts.newSettings(
        exchange.state.hello, of: exchange.state.owner)
    else { return nil }
    exchange.state.hello.settings = newer.version
    return newer.version
  }

  /// Open channels tell the device that its next welcome brings a correction.
  func corrected(_ owner: Owner) {
    for (id, exchange) in exchanges.sorted(by: { $0.key < $1.key })
    where exchange.state.isChannel && exchange.state.owner == owner {
      exchange.state.hasCorrections = true
      core.tell(.stirred(id))
    }
  }

  /// Open channels look whether their devices have older settings.
  func settingsChanged(for owner: Owner?) {
    for (id, exchange) in exchanges.sorted(by: { $0.key < $1.key })
    where exchange.state.isChannel && (owner ?? exchange.state.owner) == exchange.state.owner {
      exchange.state.isSettingsStale = true
      core.tell(.stirred(id))
    }
  }
}
