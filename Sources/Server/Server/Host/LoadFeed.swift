import FerryConnector
import FerryModel
import FerryWorld

/// Gives what a load reads to the service's thread, in pieces that hold nobody up for long. The thread
/// that loads reads and encodes the next rows while the last ones are written.
struct LoadFeed {
  private let service: ServiceHost
  private let ticket: LoadTicket
  private let coder: LoadCoder
  private var pace = LoadPace()
  private var open: [(rows: Int, end: @Sendable () -> Result<Duration, ServerError>)] = []
  /// How many pieces wait for the service's thread at most; a device waits behind them.
  private static let limit = 2

  init(_ service: ServiceHost, _ ticket: LoadTicket) {
    self.service = service
    self.ticket = ticket
    coder = LoadCoder(rules: service.rules)
  }

  mutating func add(_ entity: Entity, _ rows: [RowImage]) throws(ServerError) {
    guard let position = coder.rules.position(of: entity.name) else { return }
    let batch = coder.batch(position, rows, isFirst: ticket.isFirst)
    for piece in batch.pieces(of: pace.rows) {
      while open.count >= LoadFeed.limit { try takeFirst() }
      open.append((piece.rows.count, service.begin(ticket, piece)))
    }
  }

  /// Returns when everything was taken.
  mutating func finish() throws(ServerError) { while !open.isEmpty { try takeFirst() } }

  private mutating func takeFirst() throws(ServerError) {
    let (rows, end) = open.removeFirst()
    pace.note(rows, try end().get())
  }
}
