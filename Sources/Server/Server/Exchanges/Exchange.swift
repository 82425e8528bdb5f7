import FerryWire
import FerryWorld

/// One request of a device while it is answered. Ask `next` until it says `.end`, or give the
/// exchange to `Service.close`.
package final class Exchange {
  /// What an exchange says when it is asked.
  package enum Step: Sendable, Equatable {
    /// Whole frames, to be sent in this order; there may be more.
    case bytes([UInt8])
    /// Nothing at present: the event `stirred` tells when to ask again.
    case waiting
    /// Nothing ever again.
    case end
  }

  package let id: ExchangeID
  private weak var source: (any ExchangeSource)?
  var state: ExchangeState

  init(id: ExchangeID, source: any ExchangeSource, state: ExchangeState) {
    self.id = id
    self.source = source
    self.state = state
  }

  /// The next piece of the response. Reads at most one round: a bounded number of rows from one
  /// snapshot of the store. After the service has ended: `.end`.
  package func next() -> Step { source?.next(of: self) ?? .end }

  /// Its pages wait for operations to be replayed.
  var isHeld: Bool { state.holdUntil != nil }

  /// It is held back and need not be any longer: it goes on though nothing has stirred it.
  package func isHoldOver(at now: Timestamp) -> Bool {
    [state.holdUntil, state.groupsUntil].contains { $0.map { now >= $0 } ?? false }
  }

  /// The time of a notice has come that had to wait.
  package func isNoticeDue(at now: Timestamp) -> Bool {
    state.notices.due.map { now >= $0 } ?? false
  }

  /// A frame that says nothing but keeps proxies from closing a silent line; it may be sent
  /// between any two pieces.
  package static var beat: [UInt8] { Message.beat.frame.encoded() }
}

/// Who answers an exchange, piece by piece.
protocol ExchangeSource: AnyObject {
  func next(of exchange: Exchange) -> Exchange.Step
}
