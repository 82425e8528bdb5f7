import FerryJSON
import FerryText

/// The one form in which a row travels, is cached and is hashed: a JSON array of its values in the
/// order of the entity's attributes.
///
/// null, booleans and numbers as JSON's; texts, decimals, dates as strings; bytes as Base64. Since
/// every value is canonical for its type, equal rows have equal bytes.
public enum RowCoder {
  public static func encode(_ values: [AttributeValue]) -> [UInt8] {
    var writer = JSONWriter(reserving: 24 * values.count)
    writer.row(values)
    return writer.bytes
  }

  /// Reads a whole row and checks each value against its type.
  public static func decode(
    _ bytes: [UInt8], types: [AttributeType]
  ) throws(JSONError) -> [AttributeValue] {
    let result: Result<[AttributeValue], JSONError> = bytes.withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer)
      do throws(JSONError) {
        let values = try scanner.row(types: types)
        try scanner.finish()
        return .success(values)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}

extension JSONWriter {
  /// An array in the order of the attributes.
  public mutating func row(_ values: [AttributeValue]) {
    beginArray()
    for value in values { self.value(value) }
    endArray()
  }

  /// One value in its canonical form.
  public mutating func value(_ value: AttributeValue) {
    switch value {
    case .null: null()
    case .boolean(let flag): boolean(flag)
    case .integer(let number): integer(number)
    case .double(let number): double(number)
    case .text(let text): string(text)
    case .bytes(let bytes): string(Base64.encode(bytes))
    }
  }
}

extension JSONScanner {
  /// Reads an array of exactly `types.count` values.
  public mutating func row(types: [AttributeType]) throws(JSONError) -> [AttributeValue] {
    var values: [AttributeValue] = []
    values.reserveCapacity(types.count)
    try enterArray()
    while try nextElement() {
      guard values.count < types.count else {
        throw failure("a row of \(types.count) values has more")
      }
      values.append(try value(of: types[values.count]))
    }
    guard values.count == types.count else {
      throw failure("a row of \(types.count) values has only \(values.count)")
    }
    return values
  }

  /// Reads one value and checks that it is canonical for the type.
  public mutating func value(of type: AttributeType) throws(JSONError) -> AttributeValue {
    let value: AttributeValue
    switch (try peek(), type) {
    case (.null, _):
      try null()
      return .null
    case (.boolean, .boolean): return .boolean(try boolean())
    case (.number, .byte), (.number, .short), (.number, .int), (.number, .long):
      value = .integer(try integer())
    case (.number, .float), (.number, .double): return .double(try double())
    case (.string, .float), (.string, .double): return .double(try specialDouble())
    case (.string, .binary):
      guard let bytes = Base64.decode(try string()) else {
        throw failure("the string is not Base64")
      }
      return .bytes(bytes)
    case (.string, .string): return .text(try string())
    case (.string, .integer), (.string, .decimal), (.string, .date), (.string, .time),
      (.string, .dateTime), (.string, .list), (.string, .complex), (.string, .bigString),
      (.string, .bigBinary):
      value = .text(try string())
    default: throw failure("a value of type \(type.rawValue) was expected")
    }
    guard type.canonical(value) == value else {
      throw failure("\(value.shown) is not a canonical \(type.rawValue)")
    }
    return value
  }

  private mutating func specialDouble() throws(JSONError) -> Double {
    switch try string() {
    case "NaN": return .nan
    case "INF": return .infinity
    case "-INF": return -.infinity
    default: throw failure("a number was expected")
    }
  }
}
