import Ferry
import Foundation
import Testing

@Suite("Dates and times, to Foundation and back")
struct DateTests {
  private func zone(_ name: String) throws -> TimeZone { try #require(TimeZone(identifier: name)) }

  private func moment(_ text: String) throws -> Date {
    try Date(text, strategy: .iso8601)
  }

  @Test("A timestamp is a moment, and comes back as it was; so does any date, to the millisecond")
  func timestamps() throws {
    for milliseconds in [0, 1, -1, 1_700_000_000_123, -62_135_596_800_000, 253_402_300_799_999]
      as [Int64]
    {
      let moment = Timestamp(milliseconds: milliseconds)
      #expect(Timestamp(Date(moment)) == moment)
    }
    let seconds = Date(Timestamp(milliseconds: 1_700_000_000_123)).timeIntervalSince1970
    #expect(abs(seconds - 1_700_000_000.123) < 1e-6)
    #expect(Timestamp(Date(timeIntervalSince1970: 1.0006)).milliseconds == 1_001)
    #expect(Timestamp(Date(timeIntervalSinceReferenceDate: .infinity)).milliseconds == .max)
    #expect(Timestamp(Date(timeIntervalSinceReferenceDate: -.infinity)).milliseconds == .min)
  }

  @Test(
    "The first and the last moment are dates, and what is further away, or no number, is the end")
  func farAway() throws {
    for milliseconds in [Int64.min, .min + 1, .max - 1, .max] {
      let date = Date(Timestamp(milliseconds: milliseconds))
      #expect(abs(date.timeIntervalSince1970 - Double(milliseconds) / 1000) < 10)
      let back = Timestamp(date).milliseconds
      #expect(abs(Double(back) - Double(milliseconds)) < 10_000)
    }
    #expect(Timestamp(Date(timeIntervalSinceReferenceDate: -9.3e15)).milliseconds == .min)
    #expect(Timestamp(Date(timeIntervalSinceReferenceDate: 9.3e15)).milliseconds == .max)
    #expect(Timestamp(Date(timeIntervalSinceReferenceDate: .nan)).milliseconds == .max)
    let utc = try zone("GMT")
    for seconds in [-9.2e12, 9.2e12, -9.3e12, -.infinity, .nan] as [Double] {
      #expect(LocalDateTime(Date(timeIntervalSinceReferenceDate: seconds), in: utc) == nil)
    }
  }

  @Test("A local time is a moment in a zone; before 1582 and below the second as well")
  func local() throws {
    let berlin = try zone("Europe/Berlin")
    let cases = [
      ("2026-11-22T08:00:00", "2026-11-22T07:00:00Z"),
      ("2026-07-01T08:00:00", "2026-07-01T06:00:00Z"),
      ("2024-02-29T23:59:59", "2024-02-29T22:59:59Z"),
      ("2000-03-01T00:30:00", "2000-02-29T23:30:00Z"),
    ]
    for (text, iso) in cases {
      let local = try #require(LocalDateTime(text))
      #expect(try Date(local, in: berlin) == moment(iso), "\(text)")
      #expect(LocalDateTime(Date(local, in: berlin), in: berlin) == local)
    }
    let utc = try zone("GMT")
    for text in [
      "2026-11-22T08:00:00.123456", "1900-01-01T00:00:00.000001", "1969-12-31T23:59:59.999999",
      "0000-03-01T00:00:00", "9999-12-31T23:59:59", "1582-10-10T12:00:00", "0001-01-01T00:00:00",
      "2000-02-29T12:00:00", "2100-02-28T12:00:00", "2100-03-01T12:00:00", "2400-02-29T12:00:00",
    ] {
      let local = try #require(LocalDateTime(text))
      #expect(LocalDateTime(Date(local, in: utc), in: utc) == local, "\(text)")
    }
    let nanoseconds = try #require(LocalDateTime("2026-11-22T08:00:00.123456789"))
    let read = try #require(LocalDateTime(Date(nanoseconds, in: utc), in: utc))
    #expect(read.description == "2026-11-22T08:00:00.123457")
    #expect(LocalDateTime(Date.distantFuture.addingTimeInterval(3e11), in: utc) == nil)
    #expect(LocalDateTime(Date(timeIntervalSinceReferenceDate: .infinity), in: utc) == nil)
  }

  @Test("Each day of four centuries is the day that Foundation says")
  func days() throws {
    let utc = try zone("GMT")
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = utc
    for day in stride(from: -90_000, through: 60_000, by: 7) {
      let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 43_200)
      let parts = calendar.dateComponents([.year, .month, .day], from: date)
      let local = try #require(LocalDate(date, in: utc))
      #expect(local.year == parts.year && local.month == parts.month && local.day == parts.day)
      #expect(Date(local, in: utc).timeIntervalSince1970 == Double(day) * 86_400)
    }
  }

  @Test(
    "In the nights in which clocks change, a time that is there twice is the first, one that is not is later"
  )
  func clockChange() throws {
    let berlin = try zone("Europe/Berlin")
    let twice = try #require(LocalDateTime("2026-10-25T02:30:00"))
    #expect(try Date(twice, in: berlin) == moment("2026-10-25T00:30:00Z"))
    #expect(LocalDateTime(try moment("2026-10-25T01:30:00Z"), in: berlin) == twice)
    let missing = try #require(LocalDateTime("2026-03-29T02:30:00"))
    #expect(try Date(missing, in: berlin) == moment("2026-03-29T01:30:00Z"))
    #expect(
      LocalDateTime(Date(missing, in: berlin), in: berlin)?.description == "2026-03-29T03:30:00")
    for (text, iso) in [
      ("2026-03-29T01:59:59", "2026-03-29T00:59:59Z"),
      ("2026-03-29T03:00:00", "2026-03-29T01:00:00Z"),
      ("2026-10-25T01:59:59", "2026-10-24T23:59:59Z"),
      ("2026-10-25T03:00:00", "2026-10-25T02:00:00Z"),
    ] {
      #expect(try Date(#require(LocalDateTime(text)), in: berlin) == moment(iso), "\(text)")
    }
    // Midnight is left out where clocks go forward at midnight.
    let day = try #require(LocalDate("2018-11-04"))
    let first = Date(day, in: try zone("America/Sao_Paulo"))
    #expect(try first == moment("2018-11-04T03:00:00Z"))
    #expect(try LocalTime(first, in: zone("America/Sao_Paulo"))?.description == "01:00:00")
  }

  @Test("Bytes are Data and back, without a word of Ferry's")
  func bytes() {
    let bytes: [UInt8] = [0, 255, 7]
    #expect(Array(Data(bytes)) == bytes)
  }
}
