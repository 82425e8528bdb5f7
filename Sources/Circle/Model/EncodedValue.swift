import FerryJSON

/// A value of an encoded row, read without making a copy of what need not be copied.
public enum EncodedValue {
  case null
  case integer(Int64)
  case double(Double)
  /// UTF-8 without escapes; valid as long as the text that is read.
  case text(UnsafeBufferPointer<UInt8>)
  /// Everything that had to be converted to be checked.
  case value(AttributeValue)

  public var isNull: Bool { if case .null = self { true } else { false } }

  /// The value by itself.
  public var decoded: AttributeValue {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .double(let number): .double(number)
    case .text(let bytes): .text(String(decoding: bytes, as: UTF8.self))
    case .value(let value): value
    }
  }
}

extension JSONScanner {
  /// Reads an array of exactly `types.count` values into `values`, with the same checks as
  /// `row(types:)`; `texts` gets where each stands in the text. Both are emptied first and keep
  /// their room.
  public mutating func row(
    types: [AttributeType], into values: inout [EncodedValue], texts: inout [Range<Int>]
  ) throws(JSONError) {
    values.removeAll(keepingCapacity: true)
    texts.removeAll(keepingCapacity: true)
    try enterArray()
    while try nextElement() {
      guard values.count < types.count else {
        throw failure("a row of \(types.count) values has more")
      }
      let kind = try peek()
      let start = position
      values.append(try encodedValue(of: types[values.count], kind))
      texts.append(start..<position)
    }
    guard values.count == types.count else {
      throw failure("a row of \(types.count) values has only \(values.count)")
    }
  }

  private mutating func encodedValue(
    of type: AttributeType, _ kind: Kind
  ) throws(JSONError) -> EncodedValue {
    switch (kind, type) {
    case (.null, _):
      try null()
      return .null
    case (.number, .long): return .integer(try integer())
    case (.number, .double): return .double(try shortDouble())
    case (.string, .string):
      let (text, hasEscapes) = try stringRange()
      if !hasEscapes, isASCII(text) {
        return .text(UnsafeBufferPointer(rebasing: bytes[text]))
      }
      return .value(.text(try JSONTape.string(text, hasEscapes: hasEscapes, in: bytes)))
    default: return .value(try value(of: type))
    }
  }

  /// A number of few digits is exact by one division, as both are; others take the long way.
  private mutating func shortDouble() throws(JSONError) -> Double {
    let range = try numberTextRange()
    var mantissa: Int64 = 0
    var digits = 0
    var fraction = 0
    var hasPoint = false
    var index = range.lowerBound
    let isNegative = bytes[index] == UInt8(ascii: "-")
    if isNegative { index += 1 }
    while index < range.upperBound {
      let byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: ".") {
        hasPoint = true
        continue
      }
      digits += 1
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9"), digits <= 15 else {
        guard let value = Double(String(decoding: bytes[range], as: UTF8.self)), value.isFinite
        else { throw failure("the number is too large") }
        return value
      }
      mantissa = mantissa * 10 + Int64(byte - UInt8(ascii: "0"))
      if hasPoint { fraction += 1 }
    }
    let value = Double(mantissa) / JSONScanner.powersOfTen[fraction]
    return isNegative ? -value : value
  }

  private static let powersOfTen: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
  ]
}
