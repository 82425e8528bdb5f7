/// From which day to which day devices have the rows of an entity, counted from the day of the server.
///
/// The partition rule says whose a row is; the window takes out those of other days. It moves once a
/// day, at an hour.
public struct PartitionWindow: Sendable, Hashable {
  /// The attribute that has the row's day: a date, or a date and time.
  public let attribute: String
  /// Days from the server's day to the first day of the window; before it negative.
  public let from: Int
  /// Days to the last day of the window, which is in it.
  public let to: Int
  /// When the server's day begins for this window, in minutes since midnight.
  public let minute: Int
  /// The time zone in which the server counts days, as in `Europe/Berlin`.
  public let zone: String

  public init(attribute: String, from: Int, to: Int, minute: Int = 0, zone: String = "UTC") {
    self.attribute = attribute
    self.from = from
    self.to = to
    self.minute = minute
    self.zone = zone
  }
}

extension PartitionWindow {
  /// How far a border may be from the server's day: ten years.
  package static let longest: Int64 = 3_660

  /// The days of a border, as in `-30 days`, `+14 days` or `0 days`; nil for any other text.
  package static func days(_ text: String) -> Int64? {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, words[1] == "days" || words[1] == "day" else { return nil }
    let digits =
      words[0].hasPrefix("-") || words[0].hasPrefix("+") ? words[0].dropFirst() : words[0]
    guard (1...6).contains(digits.utf8.count),
      digits.utf8.allSatisfy({ (48...57).contains($0) })
    else { return nil }
    return Int64(words[0])
  }

  /// The minutes of an hour of the day, as in `03:00`; nil for any other text.
  package static func minute(_ text: String) -> Int64? {
    guard text.utf8.count == 5, let time = LocalTime(text) else { return nil }
    return Int64(time.hour * 60 + time.minute)
  }

  /// Whether a text may be the name of a time zone. Whether there is one of the name only the machine
  /// knows.
  package static func isZone(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "/"), UInt8(ascii: "_"), UInt8(ascii: "-"),
          UInt8(ascii: "+"):
          true
        default: false
        }
      }
  }

  /// `-30 days`, `+14 days` or `0 days`.
  package static func text(ofDays days: Int) -> String { "\(days > 0 ? "+" : "")\(days) days" }

  /// `03:00`.
  package var hour: String {
    "\(Digits.padded(minute / 60, 2)):\(Digits.padded(minute % 60, 2))"
  }

  /// The day of a value of the window's attribute, counted from 1970; nil where it has none.
  package static func day(of value: AttributeValue) -> Int64? {
    guard case .text(let text) = value else { return nil }
    return LocalDate(text.prefix(10))?.daysSince1970
  }
}
