import FerryWorld
import Foundation

/// The time zones of this machine, by their names.
package enum SystemZones {
  /// How far the clocks of a zone are ahead of UTC at a moment, in seconds; nil where there is no such
  /// zone.
  @Sendable package static func offset(
    of name: String
  ) -> (@Sendable (Timestamp) -> Int64)? {
    guard let zone = TimeZone(identifier: name) else { return nil }
    return { moment in
      let date = Date(timeIntervalSince1970: Double(moment.milliseconds) / 1_000)
      return Int64(zone.secondsFromGMT(for: date))
    }
  }

  package static func has(_ name: String) -> Bool { TimeZone(identifier: name) != nil }
}
