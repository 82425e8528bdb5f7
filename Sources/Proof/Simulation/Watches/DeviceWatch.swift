import Ferry
import FerryModel
import FerryWire

/// Looks at a device after each step that touched it and compares with what it was before.
final class DeviceWatch {
  /// What was done to the device since the last look.
  enum Cause {
    /// The app did what `deeds` has.
    case app
    /// The session took what came.
    case session
  }

  let number: Int
  /// Whose rows each checkpoint held; more than one where the rights changed and the clock did not.
  var claims: [CheckpointName: [Set<Int64>]] = [:]
  /// Whose rows the exchange holds that is being taken.
  var rights: Set<Int64> = []
  var cause: Cause?
  var deeds = AppDeeds()
  /// The last that came was a checkpoint; it may be the one that is shown already, with answers.
  var hasCheckpointCome = false
  /// Answers that came at the door since the last look.
  var refused: [Answer] = []
  /// Partitions that the server has begun or begun anew since the last look.
  var begun: Set<Int64> = []
  /// Those of them that a write was about which the disk reported as failed: its pages may be in the
  /// log all the same, and then the next start finds them.
  private var begunAtStart: Set<Int64> = []
  /// How far it is with each partition.
  private(set) var places: [DevicePlace] = []
  private(set) var operations: [Int64: PendingOperation] = [:]
  /// What it shows of each synchronization group.
  private(set) var shown: [String: CheckpointName] = [:]
  private(set) var lineage = 0
  /// Whether it is, or was once, a copy of an earlier state.
  private(set) var isCopy = false
  private(set) var tables: [DeviceTable] = []
  private var readings = DeviceReadings()
  private var isFresh = true
  private var lookedAtLife = 0
  private var lookedAtOperations = 0
  /// Temporary keys and those that took their places, in the import that is looked at.
  var given: [ObjectKey: ObjectKey] = [:]
  /// How often which deed met which state of the changes of an object.
  var reach: [ReachedPair: Int] = [:]
  var expected: [CallbackRecorder.Told: Int] = [:]

  let trace: TraceLog

  /// `operations`: what it had when it was looked at last.
  init(number: Int, trace: TraceLog, operations: [PendingOperation] = []) {
    self.number = number
    self.trace = trace
    for operation in operations { self.operations[operation.sequence] = operation }
  }

  /// The session does something with the device.
  func touch() { cause = .session }

  /// The disk reported an error while the session wrote.
  func writeFailed() { begunAtStart.formUnion(begun) }

  /// Whether the device has started since the last look.
  func isUnseen(life: Int) -> Bool { life != lookedAtLife }

  /// Somebody else has what it has, and its id.
  func isCopied() { isCopy = true }

  /// The device goes on from another state than it was in.
  func forget() {
    isFresh = true
    isCopy = true
    lineage = 0
    cause = nil
    deeds = AppDeeds()
  }

  /// Compares; nothing where the device has written nothing since the last look.
  func look(
    _ device: SimulatedDevice, _ oracle: Oracle, _ ledger: Ledger, _ contents: ContentWatch
  ) throws {
    if let wrong = device.log.wrongSum { throw failure(9, "a sum is wrong: \(wrong)") }
    let hasStarted = isUnseen(life: device.life)
    if hasStarted { begun.formUnion(begunAtStart) }
    let isSame = device.disk.operations == lookedAtOperations && !isFresh
    if !isSame || hasStarted {
      try device.inOneSnapshot {
        let isChanged = try compare(device, oracle, ledger)
        let found = try readings.readContents(of: device)
        if isChanged || !found.isSame {
          try contents.check(number, found.content, operations.values.compactMap(pendingContents))
        }
      }
      lookedAtOperations = device.disk.operations
    }
    isFresh = false
    cause = nil
    deeds = AppDeeds()
    hasCheckpointCome = false
    refused = []
    begun = []
    if hasStarted { begunAtStart = [] }
  }

  /// Whether a pending change is another one now.
  private func compare(
    _ device: SimulatedDevice, _ oracle: Oracle, _ ledger: Ledger
  ) throws -> Bool {
    if lineage == 0 { lineage = ledger.newLineage() }
    if isFresh { expected = device.recorder.told }
    let checkpoints = try device.checkpoints()
    let now = try readings.readOperations(of: device)
    let isChanged = isFresh || !now.isSame
    let snapshot = try Snapshot(device, now.content, try readings.readTables(of: device))
    // An import may also bring other rights at the same number.
    let isTaken = if case .session? = cause { true } else { false }
    var imported: [CheckpointName] = []
    for group in SimulatedBusiness.groups {
      let isMoved = areImagesOther(snapshot, in: group)
      let checkpoint = checkpoints[group]
      let isImport = !isFresh && (checkpoint != shown[group] || isTaken && isMoved)
      if isImport, let checkpoint {
        claims[checkpoint, default: []].append(rights)
        imported.append(checkpoint)
      }
      try checkOrder(checkpoint, shown[group], oracle)
      try checkImages(snapshot, group, checkpoint, isImport: isImport, isMoved: isMoved, oracle)
    }
    let read = try readings.readPlaces(of: device)
    if isFresh || !read.isSame {
      if !isFresh { try checkCursors(read.content) }
      try checkPages(read.content)
      places = read.content
    }
    for operation in now.content { ledger.note(operation, lineage: lineage) }
    var current = operations
    if isChanged {
      current = Dictionary(
        now.content.map { ($0.sequence, $0) }, uniquingKeysWith: { $1 })
    }
    let before = tables
    tables = snapshot.tables
    if !isFresh {
      let isAnswered = !imported.isEmpty || hasCheckpointCome
      given = [:]
      if isChanged {
        try checkOperations(current, checkpoints, isAnswered: isAnswered, ledger)
        try checkDependencies(now.content)
      }
      for checkpoint in imported { try checkAnswers(current, checkpoint, ledger) }
      try checkObjects(before)
      reachImported(before)
      try checkDeeds(current, snapshot)
    }
    try snapshot.check(known: isChanged ? [] : before, isCopy: isCopy, ledger)
    try checkCallbacks(device)
    operations = current
    shown = checkpoints
    lookedAtLife = device.life
    return isChanged
  }

  /// What a change that may be sent again has written.
  private func pendingContents(_ operation: PendingOperation) -> PendingContents? {
    guard operation.state != .withdrawn else { return nil }
    let references = operation.changed.sorted { $0.key < $1.key }.compactMap(\.value.bigReference)
    return references.isEmpty
      ? nil : PendingContents(operation: operation, references: references)
  }

  /// The downloaded image of the operation's object.
  func hasImage(_ operation: PendingOperation) -> Bool {
    tables.contains { $0.entity.name == operation.entity && $0.images[operation.object] != nil }
  }

  private func areImagesOther(_ snapshot: Snapshot, in group: String) -> Bool {
    guard tables.count == snapshot.tables.count else { return true }
    return !zip(tables, snapshot.tables).allSatisfy { old, new in
      new.entity.group != group || old === new || old.images == new.images
    }
  }

  func failure(_ invariant: Int, _ problem: String) -> SimulationFailure {
    SimulationFailure(invariant: invariant, problem: "device \(number): \(problem)")
  }

  /// Invariant 8: what the app sees never goes back to an earlier checkpoint.
  private func checkOrder(
    _ checkpoint: CheckpointName?, _ shown: CheckpointName?, _ oracle: Oracle
  ) throws {
    guard !isFresh, let shown else { return }
    guard let checkpoint else { throw failure(8, "its checkpoint is gone") }
    guard oracle.areComparable(shown, checkpoint), checkpoint.version < shown.version else {
      return
    }
    throw failure(8, "it went from \(shown.version) back to \(checkpoint.version)")
  }

  /// Invariant 4: the images are the rows of its rights at its checkpoint, byte for byte, and
  /// between two imports they stay.
  private func checkImages(
    _ snapshot: Snapshot, _ group: String, _ checkpoint: CheckpointName?, isImport: Bool,
    isMoved: Bool, _ oracle: Oracle
  ) throws {
    guard isImport || isFresh else {
      if isMoved { throw failure(4, "downloaded rows changed without an import") }
      return
    }
    let found = snapshot.bodies(in: group)
    guard let checkpoint else {
      if !found.isEmpty { throw failure(4, "it has rows before its first import") }
      return
    }
    var problem = "nobody sent it the checkpoint \(checkpoint.version)"
    for rights in claims[checkpoint] ?? [] {
      guard let wanted = oracle.rows(at: checkpoint, for: rights) else { continue }
      if found == wanted { return }
      problem = "at \(checkpoint.version): \(Oracle.difference(found, wanted))"
    }
    throw failure(4, problem)
  }

  /// Invariant 12: an object that stays visible keeps its surrogate key.
  private func checkObjects(_ before: [DeviceTable]) throws {
    if case .app = cause { return }
    for (old, new) in zip(before, tables) where old !== new {
      for (name, object) in new.objects.sorted(by: { $0.value < $1.value }) {
        guard let before = old.objects[name], before != object else { continue }
        // One that was made here and came by an import as well is one object from the answer on.
        let isMade = operations.values.contains {
          $0.entity == name.entity && $0.object == object && $0.kind == .create
        }
        if isMade { continue }
        throw failure(12, "\(name) was the object \(before) and is \(object)")
      }
    }
  }

  /// Invariant 7: every callback that is owed is made, or still stands in the database; and nothing
  /// is told that the database does not show.
  private func checkCallbacks(_ device: SimulatedDevice) throws {
    let told = device.recorder.told
    let missing = expected.filter { $1 > told[$0, default: 0] }
    // What stands in the database may be under another key by now.
    var owed = missing.isEmpty ? [:] : try device.owedAnswers()
    for (callback, count) in missing.sorted(by: { $0.key.text < $1.key.text }) {
      for _ in 0..<(count - told[callback, default: 0]) {
        let kind = CallbackRecorder.Owed(kind: callback.kind, entity: callback.entity)
        guard owed[kind, default: 0] > 0 else {
          throw failure(7, "\(callback.text) was owed \(count) times")
        }
        owed[kind, default: 0] -= 1
      }
    }
    let early = told.keys.filter { expected[$0] == nil }.map(\.text).min()
    if let early { throw failure(7, "\(early) was told before it was so") }
  }

  /// Invariant 7: at rest every callback has been made.
  func checkRest(_ device: SimulatedDevice) throws {
    let owed = try device.owed()
    guard owed > 0 else { return }
    throw failure(7, "\(owed) callbacks are owed at rest")
  }
}
