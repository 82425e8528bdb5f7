import FerryModel
import FerryPostgreSQL
import FerryText

extension PostgreSQLValue {
  static func integer(_ number: Int64) -> PostgreSQLValue { .text(String(number)) }
  static func flag(_ flag: Bool) -> PostgreSQLValue { .text(flag ? "t" : "f") }

  /// A text as it is kept: PostgreSQL has no character 0 in texts, and names of devices may have one.
  static func exact(_ text: String) -> PostgreSQLValue { .text(KeptText.encode(text)) }
  static func exact(_ text: String?) -> PostgreSQLValue { text.map { .exact($0) } ?? .null }
  static func exact(_ text: ExactText) -> PostgreSQLValue { .exact(text.text) }

  /// Arrays in the form in which they are written.
  static func integers(_ numbers: some Sequence<Int64>) -> PostgreSQLValue {
    .text("{" + numbers.map { String($0) }.joined(separator: ",") + "}")
  }
  static func integers(_ numbers: [Int64?]) -> PostgreSQLValue {
    .text("{" + numbers.map { $0.map { String($0) } ?? "NULL" }.joined(separator: ",") + "}")
  }
  static func flags(_ flags: [Bool]) -> PostgreSQLValue {
    .text("{" + flags.map { $0 ? "t" : "f" }.joined(separator: ",") + "}")
  }
  static func texts(_ texts: [String?]) -> PostgreSQLValue {
    var array = ArrayText()
    for text in texts { array.add(text.map { Array(KeptText.encode($0).utf8) }) }
    return array.value
  }
  /// UTF-8 as it came, in which no character 0 is: canonical JSON.
  static func bodies(_ bodies: [[UInt8]]) -> PostgreSQLValue {
    var array = ArrayText()
    for body in bodies { array.add(body) }
    return array.value
  }
  static func blobs(_ blobs: [[UInt8]?]) -> PostgreSQLValue {
    var array = ArrayText()
    for blob in blobs { array.add(blob.map { Array("\\x".utf8) + Hexadecimal.digits($0) }) }
    return array.value
  }
}

/// An array of texts, each in quotes.
private struct ArrayText {
  private var bytes: [UInt8] = [UInt8(ascii: "{")]

  mutating func add(_ text: [UInt8]?) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    guard let text else {
      bytes += Array("NULL".utf8)
      return
    }
    bytes.append(UInt8(ascii: "\""))
    for byte in text {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        bytes.append(UInt8(ascii: "\\"))
      }
      bytes.append(byte)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  var value: PostgreSQLValue { .text(String(decoding: bytes + [UInt8(ascii: "}")], as: UTF8.self)) }
}

/// Texts without the character 0; two different ones stay different.
enum KeptText {
  static func encode(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 <= 1 }) else { return text }
    var kept: [UInt8] = []
    for byte in text.utf8 {
      if byte > 1 {
        kept.append(byte)
      } else {
        kept += [1, byte + UInt8(ascii: "0")]
      }
    }
    return String(decoding: kept, as: UTF8.self)
  }

  static func decode(_ text: String) -> String {
    guard text.utf8.contains(1) else { return text }
    var bytes: [UInt8] = []
    var isEscaped = false
    for byte in text.utf8 {
      if isEscaped {
        bytes.append(byte &- UInt8(ascii: "0"))
        isEscaped = false
      } else if byte == 1 {
        isEscaped = true
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension PostgreSQLRows {
  func integer(_ row: Int, _ column: Int) -> Int64? { text(row, column).flatMap { Int64($0) } }
  func flag(_ row: Int, _ column: Int) -> Bool { text(row, column) == "t" }
  func exact(_ row: Int, _ column: Int) -> String? { text(row, column).map(KeptText.decode) }

  /// UTF-8 of a text.
  func body(_ row: Int, _ column: Int) -> [UInt8]? { bytes(row, column) { Array($0) } }

  /// A bytea, which comes as hexadecimal digits.
  func blob(_ row: Int, _ column: Int) -> [UInt8]? {
    bytes(row, column) { text in
      var blob: [UInt8] = []
      blob.reserveCapacity(text.count / 2)
      var index = 2
      while index + 1 < text.count {
        blob.append(PostgreSQLRows.digit(text[index]) << 4 | PostgreSQLRows.digit(text[index + 1]))
        index += 2
      }
      return blob
    }
  }

  private static func digit(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "a") ? byte - UInt8(ascii: "a") + 10 : byte - UInt8(ascii: "0")
  }

  /// The numbers of the first column.
  var integers: [Int64] { (0..<count).compactMap { integer($0, 0) } }
}
