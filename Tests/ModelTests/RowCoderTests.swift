import FerryJSON
import FerryModel
import Testing

struct RowCoderTests {
  /// Any value of the type, null among them.
  private func value(of type: AttributeType, _ chance: inout Chance) -> AttributeValue {
    if chance.next() % 7 == 0 { return .null }
    let bits = chance.next()
    switch type {
    case .boolean: return .boolean(bits % 2 == 0)
    case .byte: return .integer(Int64(Int8(truncatingIfNeeded: bits)))
    case .short: return .integer(Int64(Int16(truncatingIfNeeded: bits)))
    case .int: return .integer(Int64(Int32(truncatingIfNeeded: bits)))
    case .long: return .integer(Int64(bitPattern: bits))
    case .integer: return AttributeType.integer.canonical(.text("\(bits)\(bits)")) ?? .null
    case .decimal:
      return AttributeType.decimal.canonical(.text("-\(bits % 1_000_000_007).\(bits % 997)"))
        ?? .null
    case .float, .double:
      return .double(bits % 11 == 0 ? .nan : Double(bitPattern: bits))
    case .string:
      return .text(
        String(
          (0..<bits % 9).map { _ in
            Character(Unicode.Scalar(UInt8.random(in: 0...255, using: &chance)))
          })
          + (bits % 2 == 0 ? "🍎\u{301}" : ""))
    case .date: return .text("20\(10 + bits % 90)-0\(1 + bits % 9)-\(10 + bits % 19)")
    case .time: return .text("1\(bits % 10):2\(bits % 10):3\(bits % 10)")
    case .dateTime: return .text("20\(10 + bits % 90)-0\(1 + bits % 9)-11T11:22:33.5")
    case .binary:
      return .bytes((0..<bits % 9).map { _ in UInt8.random(in: 0...255, using: &chance) })
    case .list: return type.canonical(.text("[ \(bits % 97), \"a\" , null]")) ?? .null
    case .complex:
      return type.canonical(.text("{ \"b\": [\(bits % 97)], \"a\": \"ü\" }")) ?? .null
    case .bigString, .bigBinary:
      let digest = String(repeating: "\(bits % 10)f", count: 32)
      return .text(BigReference(sizeBytes: Int64(bits % 1_000_003), digest: digest).description)
    }
  }

  @Test("A row of any types is read back equal, and its bytes are always the same")
  func roundTrip() throws {
    var chance = Chance(seed: 42)
    for _ in 0..<1_000 {
      let types = (0..<chance.next() % 12).map { _ in
        AttributeType.allCases.randomElement(using: &chance) ?? .string
      }
      let row = types.map { value(of: $0, &chance) }
      let bytes = RowCoder.encode(row)
      let read = try RowCoder.decode(bytes, types: types)
      #expect(read == row)
      #expect(RowCoder.encode(read) == bytes)
    }
  }

  @Test("A row cut anywhere is refused")
  func cut() {
    let types: [AttributeType] = [.long, .string, .binary, .double, .decimal, .boolean]
    let row: [AttributeValue] = [
      .integer(-5), .text("é\"🍎"), .bytes([1, 2]), .double(1.5), .text("1.5"), .boolean(true),
    ]
    let bytes = RowCoder.encode(row)
    for end in bytes.indices {
      #expect(throws: JSONError.self) { try RowCoder.decode(Array(bytes[..<end]), types: types) }
    }
  }

  @Test(
    "A value that is not canonical for its type is refused",
    arguments: [
      ("[1]", .string), ("[\"1\"]", .long), ("[300]", .byte), ("[\"01\"]", .integer),
      ("[\"1.50\"]", .decimal), ("[1.5]", .decimal), ("[\"2024-02-30\"]", .date),
      ("[\"2024-02-28 10:00:00\"]", .dateTime), ("[\"YQ\"]", .binary), ("[\"inf\"]", .double),
      ("[1]", .boolean), ("[]", .long), ("[1,2]", .long), ("[null] x", .long),
    ] as [(String, AttributeType)])
  func refused(_ text: String, _ type: AttributeType) {
    #expect(throws: JSONError.self) { try RowCoder.decode(Array(text.utf8), types: [type]) }
  }

  @Test("A key's text gives its values back, and equal keys have equal texts")
  func keys() {
    let entity = Entity(
      name: "Lines", table: "Lines",
      attributes: [
        Attribute(name: "note", column: "note", type: .string, isNullable: true),
        Attribute(name: "part", column: "part", type: .string, isNullable: false),
        Attribute(name: "order", column: "order", type: .long, isNullable: false),
      ], key: [2, 1], keyOrigin: .app, relationships: [], operations: [], partition: nil,
      group: "default")
    let key = entity.key(of: [.null, .text("a,\"b"), .integer(10_248)])
    #expect(key.text == #"10248,"a,\"b""#)
    #expect(key.values(of: entity) == [.integer(10_248), .text("a,\"b")])
    #expect(ObjectKey(text: key.text) == key)
    for text in ["", "1", "\"a\",1", "1,\"a\",2", "1,\"a\"]"] {
      #expect(ObjectKey(text: text).values(of: entity) == nil, "\(text)")
    }
  }
}

/// The same numbers from the same seed.
struct Chance: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
