import FerryModel
import FerryWire

/// The model of Wire.md's examples, and messages of every kind made from a seed.
enum Examples {
  static let booking = Entity(
    name: "Booking", table: "Bookings",
    attributes: [
      attribute("id", .long), attribute("agency", .string), attribute("flight", .long),
      attribute("passenger", .string), attribute("seats", .int), attribute("price", .decimal, true),
      attribute("bookedAt", .dateTime, true),
    ],
    key: [0], keyOrigin: .businessSystem, relationships: [],
    operations: [.create, .update, .delete], partition: nil, group: "default")

  /// A key of two attributes, and a value of each type that travels as a string.
  static let seat = Entity(
    name: "Seat", table: "Seats",
    attributes: [
      attribute("flight", .long), attribute("number", .string),
      attribute("isTaken", .boolean, true),
      attribute("weight", .double, true), attribute("image", .binary, true),
      attribute("day", .date, true), attribute("opens", .time, true),
      attribute("miles", .integer, true),
    ],
    key: [0, 1], keyOrigin: .app, relationships: [], operations: [.create, .update, .delete],
    partition: nil, group: "default")

  /// A child of a booking, by whose key it is known.
  static let extra = Entity(
    name: "Extra", table: "Extras",
    attributes: [
      attribute("booking", .long), attribute("kind", .string), attribute("price", .decimal, true),
    ],
    key: [0, 1], keyOrigin: .app,
    relationships: [
      Relationship(
        name: "owner", target: "Booking", attributes: ["booking"], targetAttributes: ["id"])
    ], operations: [.create, .update, .delete], partition: nil, group: "default")

  static let package = Package(
    name: "Flights", version: "1.0", entities: [booking, seat, extra],
    groups: [SynchronizationGroup(name: "default")])

  private static func attribute(
    _ name: String, _ type: AttributeType, _ isNullable: Bool = false
  ) -> Attribute {
    Attribute(name: name, column: name, type: type, isNullable: isNullable)
  }
}

/// SplitMix64: the same seed gives the same messages.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  mutating func long() -> Int64 {
    let edges: [Int64] = [0, 1, -1, .max, .min]
    return number(below: 4) == 0
      ? edges[number(below: edges.count)] : Int64(bitPattern: next() >> UInt64(number(below: 64)))
  }

  mutating func text() -> String {
    let letters = ["a", "Z", "é", "\"", "\\", "\n", "\u{0}", "🛫", "\u{301}", "/", " ", "~"]
    return (0..<number(below: 9)).map { _ in letters[number(below: letters.count)] }.joined()
  }

  mutating func identifier() -> OperationID {
    let digits = (0..<32).map { _ in String(number(below: 16), radix: 16) }.joined()
    guard let id = OperationID(digits) else { preconditionFailure(digits) }
    return id
  }

  mutating func optional<Value>(_ make: (inout SeededGenerator) -> Value) -> Value? {
    number(below: 3) == 0 ? nil : make(&self)
  }

  mutating func list<Value>(_ make: (inout SeededGenerator) -> Value) -> [Value] {
    (0..<number(below: 5)).map { _ in make(&self) }
  }

  mutating func element<Value>(_ values: [Value]) -> Value { values[number(below: values.count)] }

  mutating func value(of attribute: Attribute) -> AttributeValue {
    if attribute.isNullable, number(below: 4) == 0 { return .null }
    switch attribute.type {
    case .boolean: return .boolean(number(below: 2) == 0)
    case .int: return .integer(Int64(Int32(truncatingIfNeeded: next())))
    case .long: return .integer(long())
    case .double: return .double(element([0, -0.5, 1e300, .infinity, -.infinity, 0.1]))
    case .string: return .text(text())
    case .decimal: return .text(element(["0", "-0.05", "418.5", "99999999999999999999.25"]))
    case .integer: return .text(element(["0", "-170141183460469231731687303715884105728"]))
    case .date: return .text("2026-02-28")
    case .time: return .text(element(["09:30:00", "23:59:59.000000001"]))
    case .dateTime: return .text(element(["2026-03-01T09:30:00", "0001-01-01T00:00:00.5"]))
    case .binary: return .bytes(list { UInt8.random(in: 0...255, using: &$0) })
    default: preconditionFailure("\(attribute.name) has a type that no example has")
    }
  }

  mutating func row(of entity: Entity) -> [AttributeValue] {
    entity.attributes.map { value(of: $0) }
  }
}
