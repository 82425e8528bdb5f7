import FerryText

/// Dates as headers write them (RFC 9110, 5.6.7), as seconds since 1970.
public enum HTTPDate {
  /// The date in any of the three forms, or as cookies of old write it; nil for what is none.
  public static func seconds(_ text: String) -> Int? {
    var day: Int?
    var month: Int?
    var year: Int?
    var clock: [Int]?
    for word in text.split(whereSeparator: { " ,-".contains($0) }) {
      let times = word.split(separator: ":")
      if clock == nil, times.count == 3 {
        let numbers = times.compactMap { Int($0) }
        guard numbers.count == 3, numbers[0] < 24, numbers[1] < 60, numbers[2] <= 60 else {
          return nil
        }
        clock = numbers
      } else if let number = Int(word), word.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) {
        if day == nil && word.count <= 2 { day = number } else if year == nil { year = number }
      } else if month == nil {
        month = months.firstIndex(of: word.prefix(3).lowercased()).map { $0 + 1 }
      }
    }
    guard let day, (1...31).contains(day), let month, var year, let clock else { return nil }
    if year < 70 { year += 2000 } else if year < 100 { year += 1900 }
    guard (1601...9999).contains(year) else { return nil }
    let days = Int(CivilDay.number(year: Int64(year), month: Int64(month), day: Int64(day)))
    return days * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
  }

  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]
}
