/// Writes JSON text into a growing array of bytes; commas are placed by the writer.
public struct JSONWriter {
  public private(set) var bytes: [UInt8] = []
  private var needsComma: Bool = false

  public init(reserving capacity: Int = 256) { bytes.reserveCapacity(capacity) }

  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// What was written so far, taken out; the text goes on after it.
  public mutating func take() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &bytes)
    return taken
  }

  public mutating func beginObject() { open(UInt8(ascii: "{")) }
  public mutating func endObject() { close(UInt8(ascii: "}")) }
  public mutating func beginArray() { open(UInt8(ascii: "[")) }
  public mutating func endArray() { close(UInt8(ascii: "]")) }

  /// A member's name; its value must follow.
  public mutating func key(_ key: String) {
    string(key)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  public mutating func null() { plain("null") }
  public mutating func boolean(_ value: Bool) { plain(value ? "true" : "false") }
  public mutating func integer(_ value: Int64) { plain(String(value)) }
  public mutating func integer(_ value: Int) { plain(String(value)) }

  /// The shortest text that reads back as the same number. JSON has no word for infinities and
  /// NaN; they are written as the strings `INF`, `-INF` and `NaN`.
  public mutating func double(_ value: Double) {
    if value.isFinite {
      plain(value.description)
    } else {
      string(value.isNaN ? "NaN" : value < 0 ? "-INF" : "INF")
    }
  }

  /// Text that is JSON already, taken as it is.
  public mutating func raw(_ json: some Collection<UInt8>) {
    comma()
    bytes.append(contentsOf: json)
    needsComma = true
  }

  /// A text, escaped where JSON asks for it.
  public mutating func string(_ value: String) {
    comma()
    bytes.append(UInt8(ascii: "\""))
    var value = value
    value.withUTF8 { utf8 in
      var start = 0
      for index in 0..<utf8.count {
        let byte = utf8[index]
        guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
          continue
        }
        bytes.append(contentsOf: utf8[start..<index])
        start = index + 1
        escape(byte)
      }
      bytes.append(contentsOf: utf8[start..<utf8.count])
    }
    bytes.append(UInt8(ascii: "\""))
    needsComma = true
  }

  /// A member; no value is written as null.
  public mutating func field(_ name: String, _ value: String?) {
    key(name)
    if let value { string(value) } else { null() }
  }

  public mutating func field(_ name: String, _ value: Int64?) {
    key(name)
    if let value { integer(value) } else { null() }
  }

  public mutating func field(_ name: String, _ value: Int) {
    key(name)
    integer(value)
  }

  public mutating func field(_ name: String, _ value: Bool) {
    key(name)
    boolean(value)
  }

  /// An array of values, each written by `write`.
  public mutating func array<T>(_ values: some Sequence<T>, _ write: (inout JSONWriter, T) -> Void)
  {
    beginArray()
    for value in values { write(&self, value) }
    endArray()
  }

  private mutating func escape(_ byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    default:
      let digits: StaticString = "0123456789abcdef"
      bytes.append(contentsOf: [UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0")])
      bytes.append(digits.utf8Start[Int(byte >> 4)])
      bytes.append(digits.utf8Start[Int(byte & 15)])
    }
  }

  private mutating func comma() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }

  private mutating func open(_ byte: UInt8) {
    comma()
    bytes.append(byte)
    needsComma = false
  }

  private mutating func close(_ byte: UInt8) {
    bytes.append(byte)
    needsComma = true
  }

  private mutating func plain(_ text: String) {
    comma()
    bytes.append(contentsOf: text.utf8)
    needsComma = true
  }
}
