import FerryOData

/// What the values of a feed add up to, whoever read them.
struct FeedSum: Equatable {
  private var total: UInt64 = 0
  private(set) var values = 0

  private mutating func add(_ value: UInt64) {
    total &+= value &* 0x9E37_79B9_7F4A_7C15 ^ value >> 7
    values += 1
  }

  private mutating func add(_ value: Int64) { add(UInt64(bitPattern: value)) }
  private mutating func add(_ value: Double) { add(value.bitPattern) }

  private mutating func add(_ value: String) {
    var value = value
    let hash = value.withUTF8 { bytes in
      var hash: UInt64 = 0
      for byte in bytes { hash = hash &* 31 &+ UInt64(byte) }
      return hash
    }
    add(hash)
  }

  /// Of an amount: its digits without the point.
  private mutating func add(amount text: String) {
    var digits: UInt64 = 0
    for byte in text.utf8 where byte != UInt8(ascii: ".") {
      digits = digits &* 10 &+ UInt64(byte &- 0x30)
    }
    add(digits)
  }

  /// As the maker knows the values.
  mutating func add(_ made: FeedValues) {
    let start: Int64 = 1_767_225_600
    add(made.id)
    for text in [made.name, made.city, made.note, made.code, made.group] { add(text) }
    for cents in [made.cents, made.discount] { add(cents) }
    add(Double(made.thousandths) / 1_000)
    add(Int64(made.isActive ? 1 : 0))
    add(made.stock)
    add(made.rating)
    for second in [made.second, made.changed] { add((start + second) * 1_000) }
    add(made.high ^ made.low)
  }

  /// Each value of an entry that stands in the reader's memory, once as its Swift type.
  mutating func add(_ row: ODataRow) throws(ODataError) {
    add(try row.integer("ID") ?? 0)
    add(try row.string("Name") ?? "")
    add(try row.string("City") ?? "")
    add(try row.string("Note") ?? "")
    add(try row.string("Code") ?? "")
    add(try row.string("Group") ?? "")
    add(amount: try row.decimal("Price")?.text ?? "")
    add(amount: try row.decimal("Less")?.text ?? "")
    add(try row.double("Mass") ?? 0)
    add(Int64(try row.boolean("On") == true ? 1 : 0))
    add(try row.integer("Stock") ?? 0)
    add(try row.integer("Stars") ?? 0)
    add(try row.dateTime("Made")?.milliseconds.value ?? 0)
    add(try row.dateTime("Seen")?.milliseconds.value ?? 0)
    let key = try row.guid("Key")
    add((key?.high ?? 0) ^ (key?.low ?? 0))
  }

  /// Each value of a whole entry, once.
  mutating func add(_ entry: ODataEntry) {
    for property in entry.properties {
      switch property.value {
      case .string(let text): add(text)
      case .boolean(let value): add(Int64(value ? 1 : 0))
      case .double(let value): add(value)
      case .decimal(let value): add(amount: value.text)
      case .guid(let value): add(value.high ^ value.low)
      case .dateTime(let value): add(value.milliseconds.value)
      default: add(property.value.integer ?? 0)
      }
    }
  }
}
