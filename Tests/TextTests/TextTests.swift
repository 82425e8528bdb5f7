import FerryText
import Foundation
import Testing

/// Bytes as letters, and days as numbers, against Foundation.
@Suite("Base64, hexadecimal digits, days of the calendar")
struct TextTests {
  /// Bytes of every length to 99, all of them different.
  private static let samples: [[UInt8]] = (0..<100).map { count in
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ count &* 29) }
  }

  @Test("Base64 is written as Foundation writes it, and read in its one form only")
  func base64() {
    for bytes in Self.samples {
      let text = Base64.encode(bytes)
      #expect(text == Data(bytes).base64EncodedString())
      #expect(Base64.decode(text) == bytes)
      let url = Base64.encode(bytes, .url)
      #expect(
        url
          == text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""))
      #expect(Base64.decode(url, .url) == bytes)
    }
    #expect(Base64.encode(Array("any carnal pleas".utf8)) == "YW55IGNhcm5hbCBwbGVhcw==")
    for text in ["YQ", "YQ=", "YR==", "Y===", "====", "YW=5", "YW5\n", "YW5-", "YWé=", "YW\u{0}="] {
      #expect(Base64.decode(text) == nil, "\(text)")
    }
    for text in ["YQ==", "YR", "Y", "YW5+", "YW5/", "YW 5"] {
      #expect(Base64.decode(text, .url) == nil, "\(text)")
    }
  }

  @Test("Base64 of others is read in both alphabets, with and without padding")
  func lenient() {
    func read(_ text: String) -> [UInt8]? {
      Array(text.utf8).withUnsafeBufferPointer { Base64.decodeLeniently($0) }
    }
    for text in ["YQ==", "YQ", " Y Q = =\r\n"] { #expect(read(text) == [97], "\(text)") }
    #expect(read("-_+/") == [0xFB, 0xFF, 0xBF])
    for text in ["YR", "Y", "YQ=", "YQ===", "Y=Q=", "YQ==YQ==", "Y.Q="] {
      #expect(read(text) == nil, "\(text)")
    }
  }

  @Test("Hexadecimal digits of both cases are read, and written in either")
  func hexadecimal() {
    for bytes in Self.samples {
      let text = bytes.map { String(format: "%02x", $0) }.joined()
      #expect(Hexadecimal.encode(bytes) == text)
      #expect(Hexadecimal.encode(bytes, isUppercase: true) == text.uppercased())
      #expect(Hexadecimal.decode(text) == bytes)
      #expect(Hexadecimal.decode(text.uppercased()) == bytes)
    }
    for text in ["0", "0g", "G0", "+1", " 1", "é", "0x00"] {
      #expect(Hexadecimal.decode(text) == nil, "\(text)")
    }
  }

  @Test("Days have the numbers that a count of all days gives, over 1,200 years and at the ends")
  func days() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    for number in stride(from: Int64(-71_000), through: 380_000, by: 1) {
      let day = CivilDay(number: number)
      #expect(CivilDay.number(year: day.year, month: day.month, day: day.day) == number)
      guard number % 97 == 0 else { continue }
      let parts = calendar.dateComponents(
        [.year, .month, .day], from: Date(timeIntervalSince1970: Double(number) * 86_400))
      #expect(parts.year.map(Int64.init) == day.year && parts.month.map(Int64.init) == day.month)
      #expect(parts.day.map(Int64.init) == day.day)
    }
    for number: Int64 in [-719_528, -719_529, 2_932_896, 10_000_000_000, -10_000_000_000] {
      let day = CivilDay(number: number)
      #expect(CivilDay.number(year: day.year, month: day.month, day: day.day) == number)
    }
    let first = CivilDay(number: -719_528)
    #expect([first.year, first.month, first.day] == [0, 1, 1])
    // The extremes of what a text may hold are no reason to end.
    for number: Int64 in [.min, .max] { _ = CivilDay(number: number) }
    for year: Int64 in [.min, .max] { _ = CivilDay.number(year: year, month: 12, day: 31) }
  }
}
