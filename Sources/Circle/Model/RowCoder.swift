import FerryJSON

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

/// RFC 4648 Base64 with padding.
public enum Base64 {
  private static let alphabet: [UInt8] = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let values: [UInt8] = {
    var table = [UInt8](repeating: 0xFF, count: 256)
    for (value, letter) in alphabet.enumerated() { table[Int(letter)] = UInt8(value) }
    return table
  }()

  public static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
      let left = bytes.count - index
      let group =
        UInt32(bytes[index]) << 16
        | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
        | (left > 2 ? UInt32(bytes[index + 2]) : 0)
      text.append(alphabet[Int(group >> 18)])
      text.append(alphabet[Int(group >> 12 & 63)])
      text.append(left > 1 ? alphabet[Int(group >> 6 & 63)] : UInt8(ascii: "="))
      text.append(left > 2 ? alphabet[Int(group & 63)] : UInt8(ascii: "="))
      index += 3
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Nil when the text is not Base64 in its one canonical form.
  public static func decode(_ text: String) -> [UInt8]? {
    let letters = Array(text.utf8)
    guard letters.count % 4 == 0 else { return nil }
    let padding = letters.suffix(2).filter { $0 == UInt8(ascii: "=") }.count
    var bytes: [UInt8] = []
    bytes.reserveCapacity(letters.count / 4 * 3)
    var group: UInt32 = 0
    for (index, letter) in letters.dropLast(padding).enumerated() {
      let value = values[Int(letter)]
      guard value != 0xFF else { return nil }
      group = group << 6 | UInt32(value)
      if index % 4 == 3 {
        bytes += [UInt8(truncatingIfNeeded: group >> 16), UInt8(truncatingIfNeeded: group >> 8)]
        bytes.append(UInt8(truncatingIfNeeded: group))
        group = 0
      }
    }
    if padding == 1 {
      bytes += [UInt8(truncatingIfNeeded: group >> 10), UInt8(truncatingIfNeeded: group >> 2)]
    } else if padding == 2 {
      bytes.append(UInt8(truncatingIfNeeded: group >> 4))
    }
    return encode(bytes) == text ? bytes : nil
  }
}
