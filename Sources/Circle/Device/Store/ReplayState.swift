import FerrySQLite

/// The state of an object's change in the reference's three counters.
public struct ReplayState: Sendable, Hashable {
  /// Grows with each local change and each submit; 0 where nothing is pending.
  public let counter: Int64
  /// The counter at the time of the submit, until the answer is here; else 0. If `counter` is
  /// greater, the object was changed again since.
  public let pending: Int64
  /// The counter at the time of the refusal, until the change is submitted again; else 0.
  public let failure: Int64

  public static let none: ReplayState = ReplayState(counter: 0, pending: 0, failure: 0)

  package init(counter: Int64, pending: Int64, failure: Int64) {
    self.counter = counter
    self.pending = pending
    self.failure = failure
  }

  /// As the object's row keeps it; null for nothing pending.
  init(_ column: ColumnView) {
    guard case .text(let text) = column else {
      self = .none
      return
    }
    let numbers = text.split(separator: UInt8(ascii: " "))
      .compactMap { Int64(String(decoding: $0, as: UTF8.self)) }
    guard numbers.count == 3 else {
      self = .none
      return
    }
    self.init(counter: numbers[0], pending: numbers[1], failure: numbers[2])
  }

  package var text: String { "\(counter) \(pending) \(failure)" }
}
