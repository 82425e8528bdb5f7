/// Temporary keys are from a range that no business system uses: the lowest quarter of the integers,
/// or a text that begins with a tilde. `ferry new` refuses a table that has such keys.
extension AttributeType {
  /// Nil where keys are texts.
  package var temporaryNumbers: Range<Int64>? {
    switch self {
    case .byte: Int64(Int8.min)..<Int64(Int8.min / 2)
    case .short: Int64(Int16.min)..<Int64(Int16.min / 2)
    case .int: Int64(Int32.min)..<Int64(Int32.min / 2)
    case .long, .integer, .decimal: Int64.min..<(Int64.min / 2)
    default: nil
    }
  }

  /// Whether a device would take the key for one of its own that waits for the business system.
  package func isTemporaryKey(_ value: AttributeValue) -> Bool {
    switch (value, temporaryNumbers) {
    case (.integer(let number), let numbers?): numbers.contains(number)
    case (.text(let text), let numbers?): Int64(text).map(numbers.contains) ?? false
    case (.text(let text), nil): text.utf8.first == UInt8(ascii: "~")
    default: false
    }
  }
}
