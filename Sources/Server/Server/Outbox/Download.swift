import FerryModel
import FerryWire

/// The download of one synchronization group to one device: rounds of pages until one snapshot
/// shows the end of all partitions.
struct Download: Sendable {
  enum Step: Sendable {
    /// Bytes to send; there is more.
    case pages([UInt8])
    /// Bytes to send, with the checkpoint at their end.
    case checkpoint([UInt8], version: Int64, answers: Int)
    /// A partition's cursor fell below its floor: the device must be told first.
    case overtaken
    /// More is to be read than `nearRows`: a reader does that.
    case far
  }

  let group: String
  /// In the order of the partitions' numbers.
  private(set) var cursors: [PartitionCursor]
  /// The highest snapshot that the device has seen.
  private(set) var at: Int64
  /// The snapshots in which partitions were begun from their start. What left by then is in no page,
  /// so a floor up to there takes nothing away.
  private var begun: [Int64: Int64] = [:]
  /// Whether the last round had no place for the rest, so that a reader goes on.
  private(set) var isFar: Bool = false

  init(group: String, cursors: [PartitionCursor], at: Int64) {
    self.group = group
    self.cursors = cursors.sorted { $0.partition < $1.partition }
    self.at = at
  }

  /// Who asks, for the answers of the checkpoint.
  struct Asker: Sendable {
    let owner: Owner
    let open: [OperationID]
    let rightsVersion: String
    let era: String
    /// What the checkpoint says of itself; nil where nobody asked.
    var currency: Currency?
    /// How old the rows of each group are that are not current, in milliseconds.
    var ages: [String: Int64] = [:]
    /// How far the load is that is under way.
    var load: LoadStanding?
    /// What waits of the device, by group.
    var waiting: [String: [WaitingOperation]] = [:]
  }

  /// One round: everything in one snapshot, up to the round's limits.
  ///
  /// `nearRows`: how many rows are read of the store at most, beside the pages that are known. Where
  /// there are more the step is `far`, and what is here must not be used any more. `made`: pages that
  /// were read, which the caller keeps when it knows that they are good.
  mutating func round(
    _ view: any StoreSnapshot, _ limits: ServiceLimits, frames: FrameCache,
    made: inout [(place: FrameCache.Place, page: Page)], asker: Asker,
    nearRows: Int = .max
  ) throws(StoreError) -> Step {
    var near = nearRows
    let clock = view.clock
    guard clock >= at else { throw StoreError.damaged("the clock \(clock) is behind \(at)") }
    var bytes: [UInt8] = []
    var rows = 0
    var sums: [PartitionSum] = []
    var unavailable: [Int64] = []
    for index in cursors.indices {
      let partition = cursors[index].partition
      guard let state = try view.partition(partition) else { return .overtaken }
      guard state.isLoaded else {
        unavailable.append(partition)
        continue
      }
      if cursors[index].cursor == .start { begun[partition] = clock }
      if WelcomeMachine.isBelow(cursors[index].cursor, floor: state.floor),
        state.floor > begun[partition] ?? -1
      {
        return .overtaken
      }
      while cursors[index].cursor < .end(of: state.version) {
        guard rows < limits.roundRows && bytes.count < limits.roundBytes else {
          at = clock
          isFar = true
          return .pages(bytes)
        }
        let place = FrameCache.Place(partition: partition, from: cursors[index].cursor)
        let page: Page
        if let known = frames.page(at: place, partitionVersion: state.version, clock: clock) {
          page = known
        } else {
          // All of a partition that is begun comes.
          if place.from == .start, state.count > near { return .far }
          var pageLimits = limits
          pageLimits.pageRows = min(limits.pageRows, near)
          page = try view.page(partition, from: place.from, upTo: .max, pageLimits)
          near -= page.rows
          guard nearRows == .max || page.to == .end(of: clock) else { return .far }
          made.append((place, page))
        }
        bytes += page.bytes
        rows += page.rows
        cursors[index] = PartitionCursor(partition: partition, cursor: page.to)
      }
      sums.append(
        PartitionSum(
          partition: partition, cursor: cursors[index].cursor, sum: state.sum, count: state.count))
    }
    at = clock
    isFar = false
    let answers = try view.answers(
      group: group, asker.owner, open: asker.open, upTo: clock)
    var checkpoint = Checkpoint(
      group: group, era: try view.eras().eras.last?.id ?? asker.era, version: clock,
      partitions: sums, answers: answers,
      rightsVersion: asker.rightsVersion, unavailable: unavailable)
    checkpoint.currency = asker.currency
    checkpoint.age = asker.ages[group]
    checkpoint.waiting = asker.waiting[group] ?? []
    if !unavailable.isEmpty { checkpoint.load = asker.load }
    if unavailable.isEmpty {
      // The device's import sets all of its cursors to the checkpoint.
      cursors = cursors.map { PartitionCursor(partition: $0.partition, cursor: .end(of: clock)) }
    }
    return .checkpoint(
      bytes + Message.checkpoint(checkpoint).frame.encoded(), version: clock,
      answers: answers.count)
  }
}
