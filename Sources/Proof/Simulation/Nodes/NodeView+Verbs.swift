import FerryConnector
import FerryModel
import FerrySQLiteStore
import FerryServer
import FerryWire
import FerryWorld

/// The verbs of the store: each reaches the file as far as this node may use it.
extension NodeView: Store {
  var name: String { "the shared store" }
  var server: String { shared.rows.server }
  var leads: Bool { term != nil }
  var isShared: Bool { true }

  func secret(_ name: String, make: () -> [UInt8]) throws(ServerError) -> [UInt8] {
    try shared.rows.secret(name, make: make)
  }

  func knownSecret(_ name: String) throws(ServerError) -> [UInt8]? {
    try shared.rows.knownSecret(name)
  }

  func check() throws(StoreError) {}
  func probe() throws(StoreError) {
    if term == nil {
      try any { store throws(StoreError) in try store.probe() }
    } else {
      try lead { store throws(StoreError) in try store.probe() }
    }
  }

  func transaction<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try any { store throws(StoreError) in try store.transaction(body) }
  }

  func snapshot<Result>(
    _ body: (any StoreSnapshot) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try any { store throws(StoreError) in try store.snapshot(body) }
  }

  /// Nobody reads on another thread here: what is far behind is read at once.
  var readerMaker: StoreReaderMaker { shared.rows.readerMaker }

  func receive(_ operations: [NewOperation]) throws(StoreError) -> [ReceivedOperation] {
    let received = try any { store throws(StoreError) in try store.receive(operations) }
    shared.touch(received.map(\.operation.id))
    return received
  }

  func tell(_ open: [OperationID], of owner: Owner, hasNews: Bool) throws(StoreError) {
    guard term == nil, !open.isEmpty else { return }
    try any { _ throws(StoreError) in shared.name(open, hasNews: hasNews) }
  }

  func contentReader(_ id: Int64) -> @Sendable (Int64) throws(ConnectorError) -> [UInt8] {
    shared.rows.contentReader(id)
  }

  func known(_ ids: [OperationID]) throws(StoreError) -> [KnownOperation?] {
    try any { store throws(StoreError) in try store.known(ids) }
  }

  func members(
    of chains: [OperationID], _ owner: Owner
  ) throws(StoreError) -> [OperationID: [ChainMember]] {
    try any { store throws(StoreError) in try store.members(of: chains, owner) }
  }

  func confirm(_ ids: [OperationID], upTo version: Int64, user: String) throws(StoreError) {
    try any { store throws(StoreError) in try store.confirm(ids, upTo: version, user: user) }
  }

  func ended(_ id: OperationID) throws(StoreError) -> EndedOperation? {
    try any { store throws(StoreError) in try store.ended(id) }
  }

  func elsewhere(_ ids: [OperationID], user: String) throws(StoreError) -> [OperationElsewhere] {
    try any { store throws(StoreError) in try store.elsewhere(ids, user: user) }
  }

  func takeOver(_ ids: [OperationID], groups: [String], isWaiting: Bool) throws(StoreError) {
    try lead { store throws(StoreError) in
      try store.takeOver(ids, groups: groups, isWaiting: isWaiting)
    }
  }

  func answerAgain(_ id: OperationID, _ answer: [UInt8]) throws(StoreError) {
    try any { store throws(StoreError) in try store.answerAgain(id, answer) }
  }

  func finishedChains(of owner: Owner) throws(StoreError) -> [OperationID] {
    try any { store throws(StoreError) in try store.finishedChains(of: owner) }
  }

  func takeUp() throws(StoreError) -> [(ReceivedOperation, wasClaimed: Bool)] {
    try lead { store throws(StoreError) in try store.takeUp() }
  }

  func operations(_ ids: [OperationID]) throws(StoreError) -> [ReceivedOperation] {
    try any { store throws(StoreError) in try store.operations(ids) }
  }

  func state(of id: OperationID, user: String) throws(StoreError) -> OperationState? {
    try any { store throws(StoreError) in try store.state(of: id, user: user) }
  }

  func unknownOperations() throws(StoreError) -> [OperationID] {
    try any { store throws(StoreError) in try store.unknownOperations() }
  }

  func note(_ outcomes: [UnknownOutcome]) throws(StoreError) {
    try lead { store throws(StoreError) in try store.note(outcomes) }
  }

  func unknownOutcomes() throws(StoreError) -> [UnknownOutcome] {
    try any { store throws(StoreError) in try store.unknownOutcomes() }
  }

  func claim(_ claims: [(ids: [OperationID], mark: Mark)]) throws(StoreError) {
    try lead { store throws(StoreError) in try store.claim(claims) }
  }

  func release(_ ids: [OperationID], mayHaveRun: Bool) throws(StoreError) {
    try lead { store throws(StoreError) in try store.release(ids, mayHaveRun: mayHaveRun) }
  }

  func answer(_ answers: [Answer], _ transaction: NumberedTransaction) throws(StoreError) {
    try lead { store throws(StoreError) in try store.answer(answers, transaction) }
  }

  func partition(at place: Place) throws(StoreError) -> Int64? {
    try any { store throws(StoreError) in try store.partition(at: place) }
  }

  func place(of partition: Int64) throws(StoreError) -> Place? {
    try any { store throws(StoreError) in try store.place(of: partition) }
  }

  func places(group: String, rule: String) throws(StoreError) -> [Place] {
    try any { store throws(StoreError) in try store.places(group: group, rule: rule) }
  }

  func makePartition(
    _ place: Place, for user: String?, _ transaction: NumberedTransaction
  ) throws(StoreError) -> Int64 {
    try any { store throws(StoreError) in try store.makePartition(place, for: user, transaction) }
  }

  func asked(_ partitions: some Sequence<Int64>) throws(StoreError) {
    try any { store throws(StoreError) in try store.asked(partitions) }
  }

  func emptyPartitions(askedBy user: String) throws(StoreError) -> [EmptyPartition] {
    try any { store throws(StoreError) in try store.emptyPartitions(askedBy: user) }
  }

  func emptyPartitions(unaskedForDays days: Int64) throws(StoreError) -> [Int64] {
    try any { store throws(StoreError) in try store.emptyPartitions(unaskedForDays: days) }
  }

  func removePartitions(
    _ partitions: [Int64], _ transaction: NumberedTransaction
  ) throws(StoreError) {
    try lead { store throws(StoreError) in try store.removePartitions(partitions, transaction) }
  }

  func borders() throws(StoreError) -> [WindowBorder] {
    try any { store throws(StoreError) in try store.borders() }
  }

  func keep(_ borders: [WindowBorder], _ transaction: NumberedTransaction) throws(StoreError) {
    try lead { store throws(StoreError) in try store.keep(borders, transaction) }
  }

  func row(_ name: FerryServer.RowName) throws(StoreError) -> CachedRow? {
    try any { store throws(StoreError) in try store.row(name) }
  }

  func children(_ name: ParentName) throws(StoreError) -> [CachedRow] {
    try any { store throws(StoreError) in try store.children(name) }
  }

  func parents(_ name: ParentName) throws(StoreError) -> [CachedRow] {
    try any { store throws(StoreError) in try store.parents(name) }
  }

  func partitions(ofRow id: Int64) throws(StoreError) -> [Int64] {
    try any { store throws(StoreError) in try store.partitions(ofRow: id) }
  }

  func apply(
    _ changes: CacheChanges, _ transaction: NumberedTransaction
  ) throws(StoreError) -> [FerryServer.RowName: Int64] {
    try lead { store throws(StoreError) in try store.apply(changes, transaction) }
  }

  func hasRow(of entity: Int) throws(StoreError) -> Bool {
    try any { store throws(StoreError) in try store.hasRow(of: entity) }
  }

  func insert(_ rows: [NewRow], _ transaction: NumberedTransaction) throws(StoreError) -> [Int64?] {
    try lead { store throws(StoreError) in try store.insert(rows, transaction) }
  }

  func isLoaded() throws(StoreError) -> Bool {
    try any { store throws(StoreError) in try store.isLoaded() }
  }

  func emptyStage() throws(StoreError) {
    try lead { store throws(StoreError) in try store.emptyStage() }
  }

  func stage(_ rows: [StagedRow]) throws(StoreError) {
    try lead { store throws(StoreError) in try store.stage(rows) }
  }

  func stage(rejected rows: [RejectedRow]) throws(StoreError) {
    try lead { store throws(StoreError) in try store.stage(rejected: rows) }
  }

  func nextStaged(limit: Int) throws(StoreError) -> [StagedRow] {
    try any { store throws(StoreError) in try store.nextStaged(limit: limit) }
  }

  func dropStaged(_ names: [FerryServer.RowName]) throws(StoreError) {
    try lead { store throws(StoreError) in try store.dropStaged(names) }
  }

  func note(rejected rows: [RejectedRow], fitting: [ObjectName]) throws(StoreError) {
    try lead { store throws(StoreError) in try store.note(rejected: rows, fitting: fitting) }
  }

  func rejectedRows() throws(StoreError) -> RejectedRows {
    try any { store throws(StoreError) in try store.rejectedRows() }
  }

  func absentRows(
    of entities: [Int]?, isSeen: (Int64) -> Bool
  ) throws(StoreError) -> [(partition: Int64, rows: [Int64], live: Int64)] {
    try any { store throws(StoreError) in try store.absentRows(of: entities, isSeen: isSeen) }
  }

  func name(ofRow id: Int64) throws(StoreError) -> (name: FerryServer.RowName, version: Int64)? {
    try any { store throws(StoreError) in try store.name(ofRow: id) }
  }

  func closeLoad(
    _ transaction: NumberedTransaction, of entities: [String]?
  ) throws(StoreError) -> Set<Int64> {
    try lead { store throws(StoreError) in try store.closeLoad(transaction, of: entities) }
  }

  func sourceCursor() throws(StoreError) -> String? {
    try any { store throws(StoreError) in try store.sourceCursor() }
  }

  func keep(sourceCursor: String) throws(StoreError) {
    try lead { store throws(StoreError) in try store.keep(sourceCursor: sourceCursor) }
  }
}
