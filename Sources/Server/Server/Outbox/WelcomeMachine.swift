import FerryWire

/// Judges where a device says it stands against what the store holds.
struct WelcomeMachine {
  /// A partition that the device may have now.
  struct Partition: Equatable {
    let number: Int64
    let group: String
    /// Highest number of a leave that was purged.
    let floor: Int64
    let count: Int64
  }

  /// What the device says of a group.
  struct Position: Equatable {
    let era: String?
    let version: Int64
    /// The highest snapshot of the pages that wait on the device, in the same era.
    let stagedAt: Int64
  }

  struct Judgement: Equatable {
    var keep: [Int64] = []
    var start: [PartitionPlace] = []
    var drop: [Int64] = []
    var reset: [Int64] = []
    var expectedRows: Int64 = 0
    /// Where each partition's download goes on.
    var cursors: [Int64: Cursor] = [:]
  }

  let eras: EraList
  let clock: Int64

  /// Groups whose rows are asked for; nil where all are. Others count for no progress.
  var pulled: Set<String>?

  init(eras: EraList, clock: Int64) {
    self.eras = eras
    self.clock = clock
  }

  func judge(
    _ partitions: [Partition], positions: [String: Position], applied: [Int64: Cursor],
    staged: [Int64: Cursor]
  ) -> Judgement {
    var judgement = Judgement()
    for partition in partitions.sorted(by: { $0.number < $1.number }) {
      let number = partition.number
      let position = positions[partition.group]
      guard applied[number] != nil || staged[number] != nil else {
        judgement.start.append(PartitionPlace(partition: number, group: partition.group))
        judgement.cursors[number] = .start
        if isPulled(partition) { judgement.expectedRows += partition.count }
        continue
      }
      if let cursor = cursor(applied[number], staged[number], position, partition.floor) {
        judgement.keep.append(number)
        judgement.cursors[number] = cursor
        if cursor == .start, isPulled(partition) { judgement.expectedRows += partition.count }
      } else {
        judgement.reset.append(number)
        judgement.cursors[number] = .start
        if isPulled(partition) { judgement.expectedRows += partition.count }
      }
    }
    let present = Set(partitions.map(\.number))
    judgement.drop = Set(applied.keys).union(staged.keys).subtracting(present).sorted()
    assert(
      judgement.keep.count + judgement.start.count + judgement.reset.count == partitions.count
        && present.isDisjoint(with: judgement.drop),
      "a partition has two judgements, or none")
    return judgement
  }

  private func isPulled(_ partition: Partition) -> Bool {
    pulled?.contains(partition.group) ?? true
  }

  /// Where the download goes on; nil where the partition must be downloaded anew.
  private func cursor(
    _ applied: Cursor?, _ staged: Cursor?, _ position: Position?, _ floor: Int64
  ) -> Cursor? {
    let cursor: Cursor
    if let staged, staged != .start {
      guard let position, let era = position.era,
        eras.holds(era: era, version: max(position.stagedAt, staged.version), clock: clock)
      else { return nil }
      cursor = staged
    } else if let applied, applied != .start {
      guard let position, let era = position.era,
        eras.holds(era: era, version: max(position.version, applied.version), clock: clock)
      else { return nil }
      cursor = applied
    } else {
      // Whoever asks for no rows does not say where its waiting pages end. Those of a state that was
      // lost must not be continued.
      if staged == nil, let position, let era = position.era,
        !eras.holds(era: era, version: max(position.version, position.stagedAt), clock: clock)
      {
        return nil
      }
      return .start
    }
    return WelcomeMachine.isBelow(cursor, floor: floor) ? nil : cursor
  }

  /// A cursor inside the floor's own version counts as below; from the start no floor applies.
  static func isBelow(_ cursor: Cursor, floor: Int64) -> Bool {
    cursor != .start && cursor < .end(of: floor)
  }
}
