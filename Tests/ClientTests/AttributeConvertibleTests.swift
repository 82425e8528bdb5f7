import Ferry
import Foundation
import Testing

@Suite("Values of attributes as Swift types")
struct AttributeConvertibleTests {
  private func read<T: AttributeConvertible>(_ value: AttributeValue, _ type: T.Type) -> T? {
    T(attributeValue: value)
  }

  @Test("What a type cannot hold is nil, and no other value of the type")
  func nothingIsLost() {
    #expect(read(.integer(5), String.self) == nil && read(.null, String.self) == nil)
    #expect(read(.text("5"), Int.self) == nil && read(.double(2.5), Int.self) == nil)
    #expect(read(.integer(300), Int8.self) == nil && read(.integer(-1), UInt8.self) == nil)
    #expect(read(.integer(1), Bool.self) == nil)
    #expect(read(.text("1.5"), Double.self) == nil && read(.null, Float.self) == nil)
    #expect(read(.text("12 or more"), BigInteger.self) == nil)
    let days = ["", "2026-02-30", "2026-11-29T07:00:00", "yesterday"]
    #expect(days.allSatisfy { read(.text($0), LocalDate.self) == nil })
    #expect(read(.text("25:00:00"), LocalTime.self) == nil)
    #expect(read(.text("2026-11-29"), LocalDateTime.self) == nil)
    #expect(read(.integer(0), [Int].self) == nil && read(.null, [String].self) == nil)
    #expect(read(.text("x"), Int?.self) == nil && read(.null, Int?.self) == .some(nil))
    #expect(read(.null, AssignedKey<Int>.self) == nil)
  }

  @Test("A decimal is read exactly or not at all")
  func decimals() {
    let texts = ["12abc", "1e3", "1,5", "", String(repeating: "9", count: 60), "0x10", " 1"]
    for text in texts { #expect(read(.text(text), Decimal.self) == nil, "\(text)") }
    #expect(read(.text("-12.50"), Decimal.self) == Decimal(string: "-12.5"))
    let long = "-1234567890123456789012345678.9012345678"
    #expect(read(.text(long), Decimal.self)?.value == .text(long))
    #expect(read(.text("NaN"), Decimal.self)?.isNaN == true)
  }

  @Test("Each value reads back as it was, and each type has a default that does too")
  func roundTrip() throws {
    func check<T: AttributeConvertible & Equatable>(
      _ values: T..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
      for value in values + [T.attributeDefault] {
        #expect(T(attributeValue: value.value) == value, sourceLocation: sourceLocation)
        #expect(
          Optional<T>(attributeValue: value.value) == .some(value), sourceLocation: sourceLocation)
      }
    }
    check(Int.min, Int.max)
    check(Int8.min, Int8.max)
    check(UInt8.max)
    check(true, false)
    check(1.5, Double.infinity)
    check(Float(0.1))
    check("", "Grüße")
    check(Decimal(string: "0.001") ?? 0)
    check(BigInteger("123456789012345678901234567890") ?? 0)
    check(try #require(LocalDate("2026-11-29")))
    check(try #require(LocalTime("07:41:00.5")))
    check(try #require(LocalDateTime("2026-11-29T07:41:00")))
    check([1, 2, 3], [])
    check(["a", ""], [])
    check([UInt8(0), 255])
  }
}
