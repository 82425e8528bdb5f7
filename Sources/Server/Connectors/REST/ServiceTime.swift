import FerryModel

/// Moments as services write them. Ours have no zone: they are UTC.
enum ServiceTime {
  /// The same moment in UTC without a zone. A text without a zone is taken as it is.
  static func utc(_ text: String) -> String? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 19 else { return nil }
    if bytes.last == UInt8(ascii: "Z") || bytes.last == UInt8(ascii: "z") {
      return String(text.dropLast())
    }
    guard let sign = text.lastIndex(where: { $0 == "+" || $0 == "-" }),
      text.distance(from: text.startIndex, to: sign) >= 19
    else { return text }
    let digits = text[text.index(after: sign)...].filter { $0 != ":" }
    guard digits.utf8.count == 4 || digits.utf8.count == 2,
      digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int64(digits)
    else {
      return nil
    }
    let (hours, minutes) = digits.utf8.count == 4 ? (number / 100, number % 100) : (number, 0)
    guard hours < 24, minutes < 60 else { return nil }
    let shift = (hours * 60 + minutes) * (text[sign] == "+" ? -1 : 1)
    let local = String(text[..<sign])
    guard shift != 0 else { return local }
    return moved(local, minutes: shift)
  }

  private static func moved(_ text: String, minutes: Int64) -> String? {
    guard let value = LocalDateTime(text) else { return nil }
    let clock = value.time
    let all =
      value.date.daysSince1970 * 1_440 + Int64(clock.hour * 60 + clock.minute) + minutes
    let day = all >= 0 ? all / 1_440 : (all - 1_439) / 1_440
    let left = Int(all - day * 1_440)
    guard let date = LocalDate(daysSince1970: day),
      let time = LocalTime(
        hour: left / 60, minute: left % 60, second: clock.second, nanosecond: clock.nanosecond)
    else { return nil }
    return LocalDateTime(date: date, time: time).description
  }

  static func isMidnight(_ text: String) -> Bool {
    utc(text).flatMap { LocalDateTime($0) }.map { value in
      let time = value.time
      return time.hour == 0 && time.minute == 0 && time.second == 0 && time.nanosecond == 0
    } ?? false
  }

  static func text(milliseconds: Int64) -> String? {
    let day =
      milliseconds >= 0 ? milliseconds / 86_400_000 : (milliseconds - 86_399_999) / 86_400_000
    let left = Int(milliseconds - day * 86_400_000)
    guard let date = LocalDate(daysSince1970: day),
      let time = LocalTime(
        hour: left / 3_600_000, minute: left / 60_000 % 60, second: left / 1_000 % 60,
        nanosecond: left % 1_000 * 1_000_000)
    else { return nil }
    return LocalDateTime(date: date, time: time).description
  }

  /// Of a canonical date, or date and time.
  static func milliseconds(_ text: String) -> Int64? {
    guard let value = LocalDateTime(text.utf8.count == 10 ? text + "T00:00:00" : text) else {
      return nil
    }
    let time = value.time
    return value.date.daysSince1970 * 86_400_000
      + Int64(((time.hour * 60 + time.minute) * 60 + time.second) * 1_000)
      + Int64(time.nanosecond / 1_000_000)
  }

  static func httpDate(_ milliseconds: Int64) -> String {
    let seconds = milliseconds >= 0 ? milliseconds / 1_000 : (milliseconds - 999) / 1_000
    let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    let left = seconds - day * 86_400
    guard let date = LocalDate(daysSince1970: day) else { return "" }
    let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let name = names[Int(((day % 7) + 7) % 7)]
    let year = String(date.description.prefix(4))
    return "\(name), \(two(Int64(date.day))) \(months[date.month - 1]) \(year) "
      + "\(two(left / 3_600)):\(two(left / 60 % 60)):\(two(left % 60)) GMT"
  }
}
