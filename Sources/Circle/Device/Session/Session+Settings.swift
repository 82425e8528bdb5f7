import FerryJSON
import FerrySQLite
public import FerryWire

/// The settings of a server's connection template. This alias lets an app use the type with `import
/// Ferry` alone.
public typealias ApplicationSettings = FerryWire.ApplicationSettings
/// A value of an application setting.
public typealias SettingValue = FerryWire.SettingValue

extension ApplicationSettings {
  static func kept(_ transaction: Transaction) throws(FerryError) -> ApplicationSettings {
    guard let text = try transaction.setting(.applicationSettings) else {
      return ApplicationSettings()
    }
    do { return try ApplicationSettings(json: Array(text.utf8)) } catch {
      // Without a version the server sends them again.
      return ApplicationSettings()
    }
  }
}

extension Session {
  func keptSettings() throws(FerryError) -> ApplicationSettings {
    try store.withSnapshot { transaction throws(FerryError) in
      try ApplicationSettings.kept(transaction)
    }
  }

  /// Newer settings came.
  func take(_ settings: ApplicationSettings) throws(FerryError) {
    let older = try store.withTransaction { transaction throws(FerryError) in
      let older = try ApplicationSettings.kept(transaction)
      try transaction.set(.applicationSettings, String(decoding: settings.json, as: UTF8.self))
      return older
    }
    profileVersion += 1
    let names = settings.changes(since: older)
    guard !names.isEmpty else { return }
    if names.contains(where: { $0.hasPrefix("synchronization.") }) { noticesChanged() }
    observers.tell(.settingsChanged(names: names), .lasting)
  }

  /// The channel was opened for other notices.
  func noticesChanged() {
    guard isReplicationBased else { return }
    happened(.channelOutdated)
    happened(.woken)
  }

  /// Whether the app asks for data; what is suspended is still subscribed.
  func isSubscribed(_ transaction: Transaction) throws(FerryError) -> Bool {
    if try transaction.setting(.subscribed) != nil { return true }
    return try transaction.setting(.subscribing) != nil
  }
}
