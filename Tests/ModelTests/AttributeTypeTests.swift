import Testing

@testable import FerryModel

struct AttributeTypeTests {
  @Test(
    "A decimal has one canonical form",
    arguments: [
      ("1", "1"), ("01.50", "1.5"), ("-0", "0"), ("-0.0", "0"), ("+7", "7"), (".5", "0.5"),
      ("5.", "5"), ("1e2", "100"), ("12.5E-3", "0.0125"), ("1.50e1", "15"), ("-00.10", "-0.1"),
      ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
    ])
  func decimals(_ text: String, _ canonical: String) {
    #expect(AttributeType.decimal.canonical(.text(text)) == .text(canonical))
    #expect(AttributeType.decimal.canonical(.text(canonical)) == .text(canonical))
  }

  @Test(
    "What is no decimal of 38 digits is refused",
    arguments: [
      "", ".", "-", "e5", "1e", "0x1", "1 ", "1,5", "--1", "NaN", "1e401", "1e-401",
      "1e-9223372036854775808", "1e9223372036854775807", "1e-18446744073709551616", "1e39", "1.5e",
      "-e1", "1e1.5", "1.2.3", "1\u{301}", "-\u{301}1",
      "999999999999999999999999999999999999999",
    ])
  func noDecimals(_ text: String) {
    #expect(AttributeType.decimal.canonical(.text(text)) == nil)
  }

  @Test(
    "A content is named by its size and its digest, each in one form",
    arguments: [
      ("0", true), ("7", true), ("9223372036854775807", true), ("9223372036854775808", false),
      ("", false), ("00", false), ("07", false), ("-1", false), ("+1", false), (" 1", false),
      ("1\u{301}", false),
    ])
  func references(_ size: String, _ isOne: Bool) {
    let digest = String(repeating: "0a", count: 32)
    let text = "\(size):\(digest)"
    #expect(BigReference(text)?.description == (isOne ? text : nil))
    #expect(AttributeType.bigString.canonical(.text(text)) == (isOne ? .text(text) : nil))
    for other in [digest.uppercased(), digest + "0", String(digest.dropLast()), "\u{301}" + digest]
    {
      #expect(BigReference("\(size):\(other)") == nil)
    }
    #expect(BigReference("\(size)\(digest)") == nil && BigReference("\(size);\(digest)") == nil)
  }

  @Test("A decimal takes integers and the shortest digits of a double")
  func decimalsFromNumbers() {
    #expect(AttributeType.decimal.canonical(.integer(-12)) == .text("-12"))
    #expect(AttributeType.decimal.canonical(.double(32.38)) == .text("32.38"))
    #expect(AttributeType.decimal.canonical(.double(1e21)) == .text("1000000000000000000000"))
    #expect(AttributeType.decimal.canonical(.double(.nan)) == nil)
    #expect(AttributeType.decimal.canonical(.double(1e300)) == nil)
  }

  @Test("Integers keep to the bits of their type")
  func integers() {
    for (type, low, high) in [
      (AttributeType.byte, Int64(-128), Int64(127)), (.short, -32_768, 32_767),
      (.int, -2_147_483_648, 2_147_483_647),
    ] {
      #expect(type.canonical(.integer(low)) == .integer(low))
      #expect(type.canonical(.integer(high)) == .integer(high))
      #expect(type.canonical(.integer(low - 1)) == nil)
      #expect(type.canonical(.integer(high + 1)) == nil)
    }
    #expect(AttributeType.long.canonical(.integer(.min)) == .integer(.min))
    #expect(AttributeType.long.canonical(.text("1")) == nil)
    #expect(AttributeType.integer.canonical(.text("-0012")) == .text("-12"))
    #expect(AttributeType.integer.canonical(.text("1.5")) == nil)
    #expect(AttributeType.boolean.canonical(.integer(1)) == .boolean(true))
    #expect(AttributeType.boolean.canonical(.integer(2)) == nil)
    #expect(AttributeType.double.canonical(.integer(9_007_199_254_740_993)) == nil)
  }

  @Test("A moment in SQLite's form becomes the canonical one")
  func moments() {
    #expect(
      AttributeType.dateTime.canonical(.text("1996-07-04 00:00:00.000"))
        == .text("1996-07-04T00:00:00"))
    #expect(AttributeType.time.canonical(.text("08:30")) == .text("08:30:00"))
    #expect(AttributeType.time.canonical(.text("08:30:00.250")) == .text("08:30:00.25"))
    #expect(AttributeType.date.canonical(.text("1996-07-04 00:00:00")) == nil)
  }

  @Test("Null is canonical for every type, and nothing else crosses types")
  func nulls() {
    for type in AttributeType.allCases { #expect(type.canonical(.null) == .null) }
    #expect(AttributeType.binary.canonical(.text("a")) == nil)
    #expect(AttributeType.string.canonical(.bytes([1])) == nil)
  }
}

struct LocalDateTests {
  @Test("Only days of the calendar are dates")
  func days() {
    for text in ["2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31"] {
      #expect(LocalDate(text)?.description == text)
    }
    for text in [
      "2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01", "2024-00-01", "2024-01-00",
      "24-01-01",
      "2024-1-1", "2024/01/01", "+024-01-01", "2024-01-01 ", "２０２４-01-01",
    ] {
      #expect(LocalDate(text) == nil, "\(text)")
    }
  }

  @Test("The days of all years from 0 to 9999 are counted, and none before or after")
  func counted() throws {
    let first = try #require(LocalDate(year: 0, month: 1, day: 1)).daysSince1970
    var passed = first
    for year in 0...9999 {
      for month in 1...12 {
        let length = LocalDate.days(in: month, of: year)
        for day in [1, length] {
          let date = try #require(LocalDate(year: year, month: month, day: day))
          let number = passed + Int64(day) - 1
          if date.daysSince1970 != number || LocalDate(daysSince1970: number) != date {
            Issue.record("\(date) is day \(date.daysSince1970), not \(number)")
            return
          }
        }
        passed += Int64(length)
      }
    }
    #expect(LocalDate("1970-01-01")?.daysSince1970 == 0)
    for outside in [first - 1, passed, .min, .max] {
      #expect(LocalDate(daysSince1970: outside) == nil)
    }
  }

  @Test("Times and moments are ordered as they pass")
  func order() throws {
    let early = try #require(LocalDateTime("2024-02-28T23:59:59.999999999"))
    let late = try #require(LocalDateTime("2024-02-29 00:00"))
    #expect(early < late)
    #expect(late.description == "2024-02-29T00:00:00")
    for text in [
      "24:00", "23:60", "23:59:60", "9:00", "09:00:00.", "09:00:00.1234567890", "09:00:0",
    ] {
      #expect(LocalTime(text) == nil, "\(text)")
    }
  }
}
