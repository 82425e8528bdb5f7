import Foundation

/// Where preferences survive a restart. Calls come one at a time.
public protocol PreferenceStore: Sendable {
  /// The bytes of the last `replace`; nil when there was none.
  func read() throws(PreferencesError) -> [UInt8]?
  /// Replaces all bytes, or nothing.
  func replace(_ bytes: [UInt8]) throws(PreferencesError)
}

/// One file, replaced by renaming, so that a crash leaves the old preferences or the new ones.
///
/// Use it in one process: of two processes with one file, the one that writes last replaces all
/// values.
public struct PreferenceFile: PreferenceStore {
  public let path: String
  /// A larger file is no file of preferences.
  static let limitBytes = 64 << 20

  /// The folder must exist; the file need not.
  public init(path: String) { self.path = path }

  public func read() throws(PreferencesError) -> [UInt8]? {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    let size: Int
    do {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      size = (attributes[.size] as? NSNumber)?.intValue ?? 0
    } catch {
      throw PreferencesError(.store, "\(path) cannot be read")
    }
    guard size <= Self.limitBytes else {
      throw PreferencesError(.damaged, "\(path) has \(size) bytes, the limit is \(Self.limitBytes)")
    }
    do {
      return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    } catch {
      throw PreferencesError(.store, "\(path) cannot be read")
    }
  }

  public func replace(_ bytes: [UInt8]) throws(PreferencesError) {
    do {
      try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw PreferencesError(.store, "\(path) cannot be written")
    }
  }
}

#if canImport(Darwin)
  /// The system's own store of preferences, under one key of a suite.
  public struct SystemPreferenceStore: PreferenceStore {
    private let suite: String?
    private let key: String

    /// nil is the app's own suite.
    public init(suite: String? = nil, key: String = "FerryPreferences") {
      self.suite = suite
      self.key = key
    }

    public func read() throws(PreferencesError) -> [UInt8]? {
      try defaults().data(forKey: key).map { [UInt8]($0) }
    }

    public func replace(_ bytes: [UInt8]) throws(PreferencesError) {
      try defaults().set(Data(bytes), forKey: key)
    }

    private func defaults() throws(PreferencesError) -> UserDefaults {
      guard let suite else { return .standard }
      guard let defaults = UserDefaults(suiteName: suite) else {
        throw PreferencesError(.store, "the suite \(suite) cannot be opened")
      }
      return defaults
    }
  }
#endif
