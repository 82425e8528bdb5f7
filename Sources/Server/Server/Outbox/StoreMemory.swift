import FerryModel
import FerryWire

/// What devices ask of the store again and again, as it was last committed: a device for which there
/// is nothing new is answered without a question to the store.
///
/// The service is the store's only writer, so this is never behind: each commit drops what it changed,
/// and an error of the store drops all.
struct StoreMemory {
  private var clock: Int64?
  private var eras: EraList?
  private var partitions: [Int64: PartitionState] = [:]
  /// Devices that were here today, as they were then.
  private var devices: [Owner: StoredDevice] = [:]
  /// Those for whom no answer waits.
  private var unanswered: Set<Asker> = []
  /// Changes when answers were given, or may be given again.
  private(set) var answersGeneration: Int64 = 0

  private struct Asker: Hashable {
    let owner: Owner
    let group: String
  }

  /// How many of each are kept; what is over is asked for again.
  static let limit: Int = 100_000

  mutating func forget() {
    let generation = answersGeneration
    self = StoreMemory()
    answersGeneration = generation + 1
  }

  /// A numbered transaction was committed that changed these partitions; `clock` is nil where it wrote
  /// nothing.
  mutating func committed(_ changed: some Sequence<Int64>, clock: Int64?) {
    if let clock { self.clock = clock }
    for partition in changed { partitions[partition] = nil }
  }

  /// A numbered transaction was committed that may have changed any partition.
  mutating func committedAll() {
    clock = nil
    partitions = [:]
  }

  /// A day was counted.
  mutating func dayEnded() { devices = [:] }

  mutating func note(_ answered: [AnsweredOperation]) {
    if !answered.isEmpty { answersGeneration += 1 }
    for answer in answered {
      unanswered.remove(Asker(owner: answer.owner, group: answer.group))
    }
  }

  /// Answers that were confirmed may be given again, to whomever.
  mutating func noteAnswersOfAnybody() {
    unanswered = []
    answersGeneration += 1
  }

  /// A look for answers found none, which began when `generation` was that of the answers: what was
  /// answered since then may not have been seen.
  mutating func noteNoAnswer(for owner: Owner, group: String, since generation: Int64) {
    guard generation == answersGeneration else { return }
    if unanswered.count >= StoreMemory.limit { unanswered = [] }
    unanswered.insert(Asker(owner: owner, group: group))
  }

  func device(_ owner: Owner) -> StoredDevice? { devices[owner] }

  mutating func note(_ device: StoredDevice, of owner: Owner) {
    if devices.count >= StoreMemory.limit { devices = [:] }
    devices[owner] = device
  }

  mutating func note(clock: Int64, eras: EraList?, _ states: [PartitionState]) {
    // All that is remembered is of one clock: a partition that was looked at earlier may have changed.
    if let known = self.clock, known != clock { partitions = [:] }
    self.clock = clock
    if let eras { self.eras = eras }
    if partitions.count + states.count > StoreMemory.limit { partitions = [:] }
    for state in states { partitions[state.number] = state }
  }

  /// A state of the store in which all of these partitions are known; nil where it must be asked.
  func view(of numbers: some Sequence<Int64>) -> (any StoreSnapshot)? {
    guard let clock, let eras else { return nil }
    var known: [Int64: PartitionState] = [:]
    for number in numbers {
      guard let state = partitions[number] else { return nil }
      known[number] = state
    }
    return RememberedSnapshot(clock: clock, eraList: eras, partitions: known)
  }

  /// The same where there is nothing to read behind the cursors, and no answer for the owner.
  func view(
    _ download: Download, for owner: Owner, open: [OperationID]
  ) -> (any StoreSnapshot)? {
    let asker = Asker(owner: owner, group: download.group)
    guard open.isEmpty, unanswered.contains(asker) else { return nil }
    let cursors = download.cursors
    for cursor in cursors {
      guard let state = partitions[cursor.partition], cursor.cursor >= .end(of: state.version)
      else { return nil }
    }
    return view(of: cursors.map(\.partition))
  }
}

/// What a memory knows of the state of the store that was last committed.
private struct RememberedSnapshot: StoreSnapshot {
  let clock: Int64
  let eraList: EraList
  let partitions: [Int64: PartitionState]

  func eras() -> EraList { eraList }
  func partition(_ number: Int64) -> PartitionState? { partitions[number] }

  func page(
    _ partition: Int64, from: Cursor, upTo: Int64, _ limits: ServiceLimits
  ) throws(StoreError) -> Page {
    throw StoreError(.other, "there is no page behind the end of partition \(partition)")
  }

  func rows(
    of entity: Int, in partition: Int64, after key: ObjectKey?, count: Int
  ) throws(StoreError) -> [CachedRow] {
    throw StoreError(.other, "no row of partition \(partition) is in memory")
  }

  func answers(
    group: String, _ owner: Owner, open: [OperationID], upTo: Int64
  ) -> [Answer] { [] }
}
