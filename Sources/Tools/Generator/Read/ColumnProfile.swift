import FerryModel
import FerrySQLite

/// What the values of one column are, whatever its declaration says.
package struct ColumnProfile: Sendable, Equatable {
  package private(set) var nulls: Int = 0
  package private(set) var integers: Int = 0
  package private(set) var reals: Int = 0
  package private(set) var texts: Int = 0
  package private(set) var blobs: Int = 0
  package private(set) var smallest: Int64 = .max
  package private(set) var largest: Int64 = .min
  /// Numbers that no decimal of 38 digits holds.
  package private(set) var unfitReals: Int = 0
  /// Integers that no double holds exactly.
  package private(set) var longIntegers: Int = 0
  /// Of the numbers, and of the texts that are decimals: the most digits before the point, and behind.
  package private(set) var digitsBefore: Int = 0
  package private(set) var digitsBehind: Int = 0
  package private(set) var tildes: Int = 0
  package private(set) var longestText: Int = 0
  package private(set) var forms: [TextForm: Int] = [:]

  /// How a text could be read as something else.
  package enum TextForm: Sendable, Hashable { case date, time, space, iso, integer, decimal }

  package init() {}

  package var values: Int { integers + reals + texts + blobs }
  package var numbers: Int { integers + reals }

  /// Counts one value of the column.
  package mutating func add(_ value: SQLiteValue) {
    switch value {
    case .null: nulls += 1
    case .integer(let number):
      integers += 1
      smallest = min(smallest, number)
      largest = max(largest, number)
      if Double(exactly: number) == nil { longIntegers += 1 }
      countDigits(.integer(number))
    case .real(let number):
      reals += 1
      if !countDigits(.double(number)) { unfitReals += 1 }
    case .text(let text): add(text)
    case .blob: blobs += 1
    }
  }

  private mutating func add(_ text: String) {
    texts += 1
    longestText = max(longestText, text.unicodeScalars.count)
    if text.utf8.first == UInt8(ascii: "~") { tildes += 1 }
    guard let form = ColumnProfile.form(of: text) else { return }
    forms[form, default: 0] += 1
    if form == .integer || form == .decimal { countDigits(.text(text)) }
  }

  /// False where no decimal holds the value.
  @discardableResult
  private mutating func countDigits(_ value: AttributeValue) -> Bool {
    guard case .text(let text) = AttributeType.decimal.canonical(value) else { return false }
    let (before, behind) = Attribute.digits(of: text)
    digitsBefore = max(digitsBefore, before)
    digitsBehind = max(digitsBehind, behind)
    return true
  }

  private static func form(of text: String) -> TextForm? {
    let utf8 = text.utf8
    guard let first = utf8.first, (1...40).contains(utf8.count) else { return nil }
    guard (48...57).contains(first) || first == UInt8(ascii: "-") || first == UInt8(ascii: ".")
    else { return nil }
    if utf8.count == 10, LocalDate(text) != nil { return .date }
    if utf8.count >= 19, LocalDateTime(text) != nil {
      return utf8.dropFirst(10).first == UInt8(ascii: "T") ? .iso : .space
    }
    if utf8.count >= 5, LocalTime(text) != nil { return .time }
    if AttributeType.integer.canonical(.text(text)) == .text(text) { return .integer }
    if AttributeType.decimal.canonical(.text(text)) != nil { return .decimal }
    return nil
  }

  func allTexts(are form: TextForm) -> Bool { texts > 0 && forms[form] == texts }

  /// Whether every value of the column is one of this type.
  package func fits(_ type: AttributeType, stored: StoredForm?) -> Bool {
    guard blobs == 0 || type == .binary || type.isBig else { return false }
    let onlyTexts = numbers == 0
    switch type {
    case .boolean: return onlyIntegers(in: 0, 1)
    case .byte: return onlyIntegers(in: Int64(Int8.min), Int64(Int8.max))
    case .short: return onlyIntegers(in: Int64(Int16.min), Int64(Int16.max))
    case .int: return onlyIntegers(in: Int64(Int32.min), Int64(Int32.max))
    case .long: return reals == 0 && texts == 0
    case .integer: return reals == 0 && texts == forms[.integer, default: 0]
    case .decimal:
      return unfitReals == 0 && texts == forms[.integer, default: 0] + forms[.decimal, default: 0]
    case .float, .double: return texts == 0 && longIntegers == 0
    case .string: return true
    case .date: return onlyTexts && texts == forms[.date, default: 0]
    case .time: return onlyTexts && texts == forms[.time, default: 0]
    case .dateTime:
      switch stored {
      case .unixSeconds: return reals == 0 && texts == 0
      case .space: return onlyTexts && texts == forms[.space, default: 0]
      case .iso, nil: return onlyTexts && texts == forms[.iso, default: 0]
      }
    case .binary: return values == blobs
    case .list, .complex, .bigString: return numbers == 0 && blobs == 0
    case .bigBinary: return values == blobs
    }
  }

  private func onlyIntegers(in low: Int64, _ high: Int64) -> Bool {
    reals == 0 && texts == 0 && (integers == 0 || (smallest >= low && largest <= high))
  }
}
