import Testing

@testable import FerryOData

@Suite("Edm values") struct ValueTests {
  @Test(
    "A text of each primitive type is read and written again without loss",
    arguments: [
      (EdmPrimitive.boolean, "true"), (.byte, "255"), (.sbyte, "-128"), (.int16, "-32768"),
      (.int32, "2147483647"), (.int64, "-9223372036854775808"), (.single, "1.5"),
      (.double, "-INF"), (.double, "NaN"), (.double, "5e-324"),
      (.decimal, "12345678901234567890123456789.1234567890"), (.string, " kept  as it is "),
      (.binary, "AAEC/w=="), (.guid, "01234567-89ab-cdef-0123-456789abcdef"),
      (.dateTime, "0001-01-01T00:00:00"), (.dateTime, "9999-12-31T23:59:59.9999999"),
      (.dateTimeOffset, "2026-11-21T07:59:59.1234567+14:00"),
      (.dateTimeOffset, "-0044-03-15T12:00:00Z"), (.time, "PT23H59M59.9999999S"),
      (.date, "2024-02-29"), (.timeOfDay, "23:59:59.123456789012"),
      (.duration, "-P106751DT2H48M5.477S"),
    ])
  func roundTrip(_ type: EdmPrimitive, _ text: String) throws {
    let value = try #require(EdmValue(text: text, type: type))
    #expect(value.text == text)
    #expect(value.primitive == type)
  }

  @Test(
    "A text out of its type's range or shape is no value",
    arguments: [
      (EdmPrimitive.byte, "256"), (.byte, "-1"), (.int32, "2147483648"),
      (.int64, "9223372036854775808"), (.int64, ""), (.int64, "1.0"),
      (.double, "1e400"), (.double, "nan"), (.double, "0x10"), (.single, "1e39"),
      (.decimal, "1.2.3"), (.decimal, "."), (.boolean, "yes"), (.binary, "A"), (.binary, "A=BC"),
      (.guid, "01234567-89ab-cdef-0123-456789abcdeg"), (.dateTime, "2023-02-29T00:00:00"),
      (.dateTime, "2023-01-01T24:00:00"), (.dateTimeOffset, "2023-01-01T00:00:00+15:00"),
      (.date, "2023-13-01"), (.timeOfDay, "12:60:00"), (.timeOfDay, "12:00:00.1234567890123"),
      (.duration, "P1M"), (.duration, "PT"), (.duration, "P"), (.duration, "PT1S1M"),
      (.duration, "P99999999999999999999D"),
    ])
  func refused(_ type: EdmPrimitive, _ text: String) {
    #expect(EdmValue(text: text, type: type) == nil)
  }

  @Test("A number of 5,000 digits is a decimal with all of them, and no integer or double")
  func manyDigits() throws {
    let digits = String(repeating: "7", count: 5_000)
    #expect(EdmValue(text: digits, type: .decimal)?.text == digits)
    #expect(EdmValue(text: digits, type: .int64) == nil)
    #expect(EdmValue(text: digits, type: .double) == nil)
    #expect(EdmDecimal("1e999999999999999999999") == nil)
    #expect(EdmDecimal("1e9223372036854775807").map { $0 == $0 } == true)
  }

  @Test("Decimals are equal when they mean the same number")
  func decimals() throws {
    #expect(EdmDecimal("1.50") == EdmDecimal("01.5"))
    #expect(EdmDecimal("15E-1") == EdmDecimal("1.5"))
    #expect(EdmDecimal("-0") == EdmDecimal("0.00"))
    #expect(EdmDecimal("1.5") != EdmDecimal("1.51"))
    #expect(EdmDecimal("12.5E3")?.plainText() == "12500")
    #expect(EdmDecimal("-12.5E-3")?.plainText() == "-0.0125")
  }

  @Test(
    "The milliseconds of a verbose date with an offset are those of the clock there, both ways",
    arguments: [
      ("/Date(1000+0030)/", "1970-01-01T00:00:01+00:30"),
      ("/Date(1379823077250+0330)/", "2013-09-22T04:11:17.25+05:30"),
      ("/Date(-1-0330)/", "1969-12-31T23:59:59.999-05:30"),
      ("/Date(1379823077250+0000)/", "2013-09-22T04:11:17.25Z"),
    ])
  func verboseOffsets(_ spelled: String, _ meant: String) throws {
    let json = "{\"d\":{\"results\":[{\"__metadata\":{\"uri\":\"u\"},\"a\":\"\(spelled)\"}]}}"
    let read = try #require(try ODataFeed.read(json.bytes).entries.first)
    #expect(read["a"] == EdmValue(text: meant, type: .dateTimeOffset))
    let body = try ODataComposer(.json, version: .v2).body(read, .archive)
    #expect(String(decoding: body, as: UTF8.self).contains(spelled))
    let reader = ODataFeedReader()
    reader.push(json.bytes)
    reader.finish()
    let row = try #require(try reader.nextRow())
    #expect(EdmValue.dateTimeOffset(try #require(try row.dateTimeOffset("a"))).text == meant)
  }

  @Test(
    "Text without padding whose last bits are not zero is no base 64",
    arguments: [("00FF10", false), ("AB", false), ("AA", true), ("AAE", true), ("AB==", true)])
  func restBits(_ text: String, _ isRead: Bool) throws {
    #expect((EdmValue(text: text, type: .binary) != nil) == isRead)
    let atom = Samples.atomFeed(
      entries: """
        <entry><content type="application/xml"><m:properties><d:v m:type="Edm.Binary">\(text)</d:v>
        </m:properties></content></entry>
        """
    ).bytes
    let reader = ODataFeedReader()
    reader.push(atom)
    reader.finish()
    let value = try reader.nextEntry()?["v"]
    #expect((value == .invalid(text, .binary)) == !isRead)
    #expect(
      reader.diagnostics.map(\.message) == (isRead ? [] : ["\"\(text)\" is not an Edm.Binary"]))
    let strict = ODataReadOptions(isStrict: true)
    #expect((try? ODataFeed.read(atom, strict)) == nil || isRead)
  }

  @Test("Spans of time have one order: the larger its size, the earlier a negative one")
  func durations() {
    let spans = [
      EdmDuration(seconds: 2, isNegative: true),
      EdmDuration(seconds: 1, picoseconds: 1, isNegative: true),
      EdmDuration(seconds: 1, isNegative: true), EdmDuration(seconds: 0),
      EdmDuration(seconds: 1), EdmDuration(seconds: 1, picoseconds: 1), EdmDuration(seconds: 2),
    ]
    for (left, first) in spans.enumerated() {
      for (right, second) in spans.enumerated() {
        #expect((first < second) == (left < right), "\(first) and \(second)")
      }
    }
  }

  @Test("Dates of verbose JSON keep their offset and know days before 1970")
  func verboseDates() throws {
    #expect(EdmDateTime(milliseconds: -1)?.description == "1969-12-31T23:59:59.999")
    #expect(EdmDateTime(milliseconds: 951_782_400_000)?.description == "2000-02-29T00:00:00")
    #expect(EdmDateTime(milliseconds: .max)?.date.year == 292_278_994)
    #expect(EdmValue(verboseDate: "/Date(9223372036854775807+0840)/", type: nil) == nil)
    for days in stride(from: Int64(-1_000_000), to: 1_000_000, by: 997) {
      #expect(EdmDate(daysSince1970: days)?.daysSince1970 == days)
    }
  }
}
