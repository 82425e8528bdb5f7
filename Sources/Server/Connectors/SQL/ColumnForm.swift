import FerryModel
import FerrySQLite

/// What SQLite turns a value into when a column takes it.
enum Affinity: Sendable {
  case text, numeric, real, none

  /// By SQLite's rules for a declared type.
  init(declaredType: String) {
    let type = declaredType.uppercased()
    if type.contains("INT") {
      self = .numeric
    } else if type.contains("CHAR") || type.contains("CLOB") || type.contains("TEXT") {
      self = .text
    } else if type.contains("BLOB") || type.isEmpty || type == "ANY" {
      self = .none
    } else if type.contains("REAL") || type.contains("FLOA") || type.contains("DOUB") {
      self = .real
    } else {
      self = .numeric
    }
  }

  /// The value as the column will hold it.
  func settled(_ value: SQLiteValue) -> SQLiteValue {
    switch (self, value) {
    case (.text, .integer(let number)): return .text(String(number))
    case (.text, .real(let number)): return .text(number.description)
    case (.numeric, .text(let text)): return number(text) ?? value
    case (.numeric, .real(let number)): return whole(number) ?? value
    case (.real, .integer(let number)): return .real(Double(number))
    case (.real, .text(let text)):
      switch number(text) {
      case .integer(let number): return .real(Double(number))
      case let other: return other ?? value
      }
    default: return value
    }
  }

  private func number(_ text: String) -> SQLiteValue? {
    let digits = text.utf8.allSatisfy {
      (48...57).contains($0) || [0x2B, 0x2D, 0x2E, 0x45, 0x65, 0x20, 0x09, 0x0A, 0x0D].contains($0)
    }
    guard digits else { return nil }
    let trimmed = text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()
    let plain = String(trimmed)
    if let number = Int64(plain) { return .integer(number) }
    guard let number = Double(plain) else { return nil }
    return whole(number) ?? .real(number)
  }

  private func whole(_ number: Double) -> SQLiteValue? {
    Int64(exactly: number).map(SQLiteValue.integer)
  }
}

/// How one attribute's values stand in its column.
struct ColumnForm: Sendable {
  let attribute: Attribute
  let affinity: Affinity

  /// Whether a big value comes back from the column as it was written: bytes from every one, texts
  /// where none is taken for a number.
  var takesBig: Bool {
    attribute.type == .bigBinary
      || attribute.type == .bigString && (affinity == .text || affinity == .none)
  }

  /// The canonical value of what the column holds; nil when it does not fit the attribute's type.
  func value(_ raw: SQLiteValue) -> AttributeValue? {
    switch raw {
    case .null: return .null
    case .integer(let seconds) where attribute.stored == .unixSeconds:
      return UnixSeconds.value(seconds, attribute.type)
    case .real(let number) where attribute.stored == .unixSeconds:
      return Int64(exactly: number).flatMap { UnixSeconds.value($0, attribute.type) }
    case .integer(let number): return attribute.type.canonical(.integer(number))
    case .real(let number): return attribute.type.canonical(.double(number))
    case .text(let text): return attribute.type.canonical(.text(text))
    case .blob(let bytes): return attribute.type.canonical(.bytes(bytes))
    }
  }

  /// The value as the column will hold it; nil when the column would give back another one.
  func raw(_ value: AttributeValue) -> SQLiteValue? {
    guard attribute.type.canonical(value) == value, let plain = plain(value) else { return nil }
    let settled = affinity.settled(plain)
    return self.value(settled) == value ? settled : nil
  }

  private func plain(_ value: AttributeValue) -> SQLiteValue? {
    switch value {
    case .null: return .null
    case .boolean(let flag): return .flag(flag)
    case .integer(let number): return .integer(number)
    case .double(let number): return number.isNaN ? nil : .real(number)
    case .bytes(let bytes): return .blob(bytes)
    case .text(let text):
      switch attribute.stored {
      case .unixSeconds: return UnixSeconds.seconds(text, attribute.type).map(SQLiteValue.integer)
      case .space where attribute.type == .dateTime:
        return .text(String(text.map { $0 == "T" ? " " : $0 }))
      default: return .text(text)
      }
    }
  }
}

/// Dates kept as seconds since 1970-01-01T00:00:00, read without a zone.
enum UnixSeconds {
  static func value(_ seconds: Int64, _ type: AttributeType) -> AttributeValue? {
    let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
    let day = rest < 0 ? days - 1 : days
    let second = Int(rest < 0 ? rest + 86_400 : rest)
    guard
      let time = LocalTime(hour: second / 3600, minute: second / 60 % 60, second: second % 60)
    else { return nil }
    switch type {
    case .time: return day == 0 ? .text(time.description) : nil
    case .date:
      return second == 0 ? LocalDate(daysSince1970: day).map { .text($0.description) } : nil
    case .dateTime:
      return LocalDate(daysSince1970: day).map {
        .text(LocalDateTime(date: $0, time: time).description)
      }
    default: return type.canonical(.integer(seconds))
    }
  }

  static func seconds(_ text: String, _ type: AttributeType) -> Int64? {
    switch type {
    case .time: return LocalTime(text).flatMap(seconds)
    case .date: return LocalDate(text).map { $0.daysSince1970 * 86_400 }
    case .dateTime:
      guard let moment = LocalDateTime(text), let time = seconds(moment.time) else { return nil }
      return moment.date.daysSince1970 * 86_400 + time
    default: return Int64(text)
    }
  }

  private static func seconds(_ time: LocalTime) -> Int64? {
    time.nanosecond == 0 ? Int64(time.hour * 3600 + time.minute * 60 + time.second) : nil
  }
}
