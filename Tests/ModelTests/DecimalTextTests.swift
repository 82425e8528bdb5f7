import FerryModel
import Foundation
import Testing

@Suite("Decimal texts")
struct DecimalTextTests {
  private static let numbers = [
    "-100000000000000000000000000000000000001", "-12", "-9.5", "-9.25", "-0.001", "0", "0.0005",
    "0.001", "0.01", "0.1", "1", "9", "9.25", "9.5", "10", "99.9", "100",
    "100000000000000000000000000000000000000",
  ]

  @Test("They are in the order of the numbers")
  func order() {
    for (left, first) in Self.numbers.enumerated() {
      for (right, second) in Self.numbers.enumerated() {
        #expect(
          DecimalText.compare(first, second).signum() == (left - right).signum(),
          "\(first) \(second)")
      }
    }
  }

  @Test("Zeros behind a fraction, as SQLite writes them, say nothing")
  func zeros() {
    let pairs = [
      ("10", "10.0", 0), ("10.50", "10.5", 0), ("10.0", "10.01", -1), ("10.001", "10.00", 1),
      ("-10.0", "-10", 0), ("0.0", "0", 0), ("100", "10.0", 1),
    ]
    for (left, right, order) in pairs {
      #expect(DecimalText.compare(left, right).signum() == order)
      #expect(DecimalText.compare(right, left).signum() == -order)
    }
  }

  @Test("Their sum is exact and canonical")
  func sum() {
    let cases = [
      ("1", "2", "3"), ("9.5", "0.5", "10"), ("0.1", "0.2", "0.3"), ("-3", "3", "0"),
      ("-3", "1", "-2"), ("1", "-3", "-2"), ("99.99", "0.01", "100"), ("-0.5", "-0.5", "-1"),
      ("100", "-0.001", "99.999"), ("0", "0", "0"),
      ("5", "0.0000000000000000000001", "5.0000000000000000000001"),
      ("99999999999999999999999999999999999999", "1", "100000000000000000000000000000000000000"),
    ]
    for (left, right, sum) in cases {
      #expect(DecimalText.sum(left, right) == sum)
      #expect(DecimalText.sum(right, left) == sum)
    }
  }
}
