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
