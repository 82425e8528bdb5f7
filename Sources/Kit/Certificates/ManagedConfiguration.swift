public import Foundation

/// The settings that device management gives an app on Apple's systems, without a file.
public struct ManagedConfiguration: Sendable, Equatable {
  /// The key under which the system keeps them in the app's defaults.
  public static let key = "com.apple.configuration.managed"

  /// Texts and whole numbers as text, Booleans as `1` and `0`; other values are left out.
  public let values: [String: String]

  /// The present settings of this app; nil if the app is not managed.
  ///
  /// Device management may change them while the app runs: read them again when the defaults
  /// change.
  public static func current(in defaults: UserDefaults = .standard) -> ManagedConfiguration? {
    defaults.dictionary(forKey: key).map { ManagedConfiguration($0) }
  }

  /// Reads a dictionary of device management.
  public init(_ dictionary: [String: Any]) {
    values = dictionary.compactMapValues { value in
      switch value {
      case let text as String: text
      case let number as Int: String(number)
      case let flag as Bool: flag ? "1" : "0"
      default: nil
      }
    }
  }

  /// The server that it names, under the keys of a seed file: `Server`, `Port`, `Farm ID` and
  /// `URL Suffix`, in any case.
  public var connection: SeedConnection {
    let lower = Dictionary(values.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
    return SeedConnection(
      serverName: lower["server"],
      portNumber: lower["port"].flatMap { UInt16($0) }.flatMap { $0 == 0 ? nil : $0 },
      farmID: lower["farm id"], urlSuffix: lower["url suffix"])
  }
}
