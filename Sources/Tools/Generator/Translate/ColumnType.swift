import FerryModel

/// The attribute type for a column: what is declared, unless the values say otherwise.
struct ColumnType: Equatable {
  var type: AttributeType
  var maxLength: Int?
  /// Of a decimal.
  var digits: Digits?
  var stored: StoredForm?
  /// Why it is not the declared type; nil when it is.
  var reason: String?

  /// `DECIMAL(precision, scale)`.
  struct Digits: Equatable {
    var precision: Int
    var scale: Int
  }

  init(
    _ type: AttributeType, maxLength: Int? = nil, digits: Digits? = nil, stored: StoredForm? = nil,
    reason: String? = nil
  ) {
    self.type = type
    self.maxLength = maxLength
    self.digits = digits
    self.stored = stored
    self.reason = reason
  }

  /// Nil when no type holds all the values.
  static func choose(for column: DatabaseSchema.Column) -> ColumnType? {
    let profile = column.profile
    switch column.known {
    case .type(let type, let length, let precision, let scale):
      return ColumnType(
        type, maxLength: length,
        digits: precision.map { Digits(precision: $0, scale: scale ?? 0) })
    case .some(.none): return nil
    case nil: break
    }
    switch declared(column.declaredType) {
    case .moment(let wanted): return moment(wanted, column)
    case .decimal(let digits):
      guard profile.fits(.decimal, stored: nil) else { return widened(from: .decimal, column) }
      guard let digits else { return ColumnType(.decimal) }
      let isTooLong =
        profile.digitsBehind > digits.scale
        || profile.digitsBefore > digits.precision - digits.scale
      return ColumnType(
        .decimal, digits: isTooLong ? nil : digits,
        reason: isTooLong
          ? "has values of up to \(profile.digitsBefore) digits before the point and "
            + "\(profile.digitsBehind) behind it" : nil)
    case .type(let wanted, let length):
      if profile.fits(wanted, stored: nil) {
        let isTooLong = length.map { profile.longestText > $0 } ?? false
        return ColumnType(
          wanted, maxLength: isTooLong ? nil : length,
          reason: isTooLong ? "has values of \(profile.longestText) characters" : nil)
      }
      return widened(from: wanted, column)
    case .unknown: return byValues(column)
    }
  }

  /// The values that the database lists for the column, where all of them are of this type.
  ///
  /// A list of 0 and 1 is a flag, and needs no names.
  func values(of column: DatabaseSchema.Column) -> [AttributeValue] {
    let values = column.values
    let isFlag = values.allSatisfy { $0 == .integer(0) || $0 == .integer(1) }
    guard ListedNames.types.contains(type), !isFlag,
      values.allSatisfy({ type.canonical($0) == $0 })
    else { return [] }
    let isTooLong = values.contains { value in
      guard case .text(let text) = value, let maxLength else { return false }
      return text.unicodeScalars.count > maxLength
    }
    return isTooLong ? [] : values
  }

  private enum Declared {
    case type(AttributeType, Int?)
    case decimal(Digits?)
    case moment(AttributeType)
    case unknown
  }

  private static func declared(_ text: String) -> Declared {
    let upper = text.uppercased()
    let names = { (words: String...) in words.contains { upper.contains($0) } }
    if names("BOOL") || upper == "BIT" { return .type(.boolean, nil) }
    if names("DATETIME", "TIMESTAMP") { return .moment(.dateTime) }
    if names("DATE") { return .moment(.date) }
    if upper.hasPrefix("TIME") { return .moment(.time) }
    if names("REAL", "FLOA", "DOUB") { return .type(.double, nil) }
    if names("INT", "SERIAL") { return .type(.long, nil) }
    if names("CHAR", "CLOB", "TEXT", "STRING", "UUID", "JSON") {
      return .type(.string, names("CHAR") ? length(in: upper) : nil)
    }
    if names("BLOB", "BINARY", "IMAGE") { return .type(.binary, nil) }
    if names("DEC", "NUM", "MONEY") { return .decimal(digits(in: upper)) }
    return .unknown
  }

  private static func length(in text: String) -> Int? {
    numbers(in: text).first.flatMap { $0 > 0 ? $0 : nil }
  }

  /// As SQL has it, a precision without a scale is one of whole numbers.
  private static func digits(in text: String) -> Digits? {
    let numbers = numbers(in: text)
    guard let precision = numbers.first, numbers.count <= 2 else { return nil }
    let scale = numbers.count == 2 ? numbers[1] : 0
    guard (1...Int(Attribute.longestDecimal)).contains(precision), (0...precision).contains(scale)
    else { return nil }
    return Digits(precision: precision, scale: scale)
  }

  /// The numbers in parentheses; none where something else stands there.
  private static func numbers(in text: String) -> [Int] {
    guard let open = text.firstIndex(of: "("), let close = text[open...].firstIndex(of: ")")
    else { return [] }
    let parts = text[text.index(after: open)..<close].split(separator: ",")
    let numbers = parts.compactMap { Int($0.filter { $0 != " " }) }
    return numbers.count == parts.count ? numbers : []
  }

  private static func moment(
    _ wanted: AttributeType, _ column: DatabaseSchema.Column
  ) -> ColumnType? {
    let profile = column.profile
    if profile.values == 0 {
      return ColumnType(wanted, stored: wanted == .dateTime ? .space : nil)
    }
    if profile.values == profile.texts {
      if profile.allTexts(are: .date) { return ColumnType(.date) }
      if profile.allTexts(are: .time) { return ColumnType(.time) }
      if profile.allTexts(are: .space) { return ColumnType(.dateTime, stored: .space) }
      if profile.allTexts(are: .iso) { return ColumnType(.dateTime, stored: .iso) }
    }
    if profile.values == profile.integers, wanted != .time {
      return ColumnType(.dateTime, stored: .unixSeconds, reason: "holds integers")
    }
    if profile.texts == 0 { return byValues(column) }
    guard profile.blobs == 0 else { return nil }
    return ColumnType(.string, reason: "holds \(contents(profile)), not all in one form of a date")
  }

  private static func widened(
    from wanted: AttributeType, _ column: DatabaseSchema.Column
  ) -> ColumnType? {
    let candidates: [AttributeType] =
      switch wanted {
      case .boolean: [.long, .decimal, .double, .string, .binary]
      case .long: [.decimal, .double, .string, .binary]
      case .decimal: [.double, .string, .binary]
      case .double: [.decimal, .string, .binary]
      case .string: [.binary]
      default: [.string]
      }
    guard let type = candidates.first(where: { column.profile.fits($0, stored: nil) }) else {
      return nil
    }
    return ColumnType(type, reason: "holds \(contents(column.profile))")
  }

  private static func byValues(_ column: DatabaseSchema.Column) -> ColumnType? {
    let profile = column.profile
    let subject = column.declaredType.isEmpty ? "" : "this type is unknown, and it "
    guard profile.values > 0 else { return ColumnType(.string, reason: subject + "holds no value") }
    let candidates: [AttributeType] = [.long, .decimal, .double, .string, .binary]
    let type = candidates.first { type in
      // Digits in a text are a text: leading zeros and blanks may matter.
      (type == .string || type == .binary || profile.texts == 0)
        && profile.fits(type, stored: nil)
    }
    return type.map { ColumnType($0, reason: "\(subject)holds \(contents(profile))") }
  }

  /// `12 texts, 3 integers`.
  static func contents(_ profile: ColumnProfile) -> String {
    let kinds = [
      (profile.integers, "integer"), (profile.reals, "fraction"), (profile.texts, "text"),
      (profile.blobs, "blob"),
    ]
    return kinds.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }.joined(
      separator: ", ")
  }
}
