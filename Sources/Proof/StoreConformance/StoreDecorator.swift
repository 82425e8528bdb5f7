import FerryConnector
import FerryModel
import FerryServer
import FerryWire

/// A store that passes each verb to another one. Tests and simulations spoil or hold the verbs that they
/// write themselves.
package protocol StoreDecorator: Store {
  var inner: any Store { get }
}

extension StoreDecorator {
  package var name: String { inner.name }

  package var server: String { inner.server }

  package var era: String { inner.era }

  package var leads: Bool { inner.leads }

  package func secret(_ name: String, make: () -> [UInt8]) throws(ServerError) -> [UInt8] {
    try inner.secret(name, make: make)
  }

  package func knownSecret(_ name: String) throws(ServerError) -> [UInt8]? {
    try inner.knownSecret(name)
  }

  package func check() throws(StoreError) {
    try inner.check()
  }

  package func probe() throws(StoreError) {
    try inner.probe()
  }

  package func transaction<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try inner.transaction(body)
  }

  package func numbered<Result>(
    _ body: (NumberedTransaction) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try inner.numbered(body)
  }

  package func clock() throws(StoreError) -> Int64 {
    try inner.clock()
  }

  package func snapshot<Result>(
    _ body: (any StoreSnapshot) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try inner.snapshot(body)
  }

  package func replica<Result>(
    _ body: (any StoreSnapshot) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try inner.replica(body)
  }

  package var readerMaker: StoreReaderMaker { inner.readerMaker }
}

extension StoreDecorator {
  package func partition(at place: Place) throws(StoreError) -> Int64? {
    try inner.partition(at: place)
  }

  package func place(of partition: Int64) throws(StoreError) -> Place? {
    try inner.place(of: partition)
  }

  package func places(group: String, rule: String) throws(StoreError) -> [Place] {
    try inner.places(group: group, rule: rule)
  }

  package func makePartition(
    _ place: Place, for user: String?, _ transaction: NumberedTransaction
  ) throws(StoreError) -> Int64 {
    try inner.makePartition(place, for: user, transaction)
  }

  package func asked(_ partitions: some Sequence<Int64>) throws(StoreError) {
    try inner.asked(partitions)
  }

  package func emptyPartitions(askedBy user: String) throws(StoreError) -> [EmptyPartition] {
    try inner.emptyPartitions(askedBy: user)
  }

  package func emptyPartitions(unaskedForDays days: Int64) throws(StoreError) -> [Int64] {
    try inner.emptyPartitions(unaskedForDays: days)
  }

  package func removePartitions(
    _ partitions: [Int64], _ transaction: NumberedTransaction
  ) throws(StoreError) {
    try inner.removePartitions(partitions, transaction)
  }

  package func borders() throws(StoreError) -> [WindowBorder] { try inner.borders() }

  package func keep(
    _ borders: [WindowBorder], _ transaction: NumberedTransaction
  ) throws(StoreError) {
    try inner.keep(borders, transaction)
  }
}

extension StoreDecorator {
  package func row(_ name: RowName) throws(StoreError) -> CachedRow? {
    try inner.row(name)
  }

  package func children(_ name: ParentName) throws(StoreError) -> [CachedRow] {
    try inner.children(name)
  }

  package func parents(_ name: ParentName) throws(StoreError) -> [CachedRow] {
    try inner.parents(name)
  }

  package func partitions(ofRow id: Int64) throws(StoreError) -> [Int64] {
    try inner.partitions(ofRow: id)
  }

  package func apply(
    _ changes: CacheChanges, _ transaction: NumberedTransaction
  ) throws(StoreError) -> [RowName: Int64] {
    try inner.apply(changes, transaction)
  }

  package func hasRow(of entity: Int) throws(StoreError) -> Bool {
    try inner.hasRow(of: entity)
  }

  package func insert(
    _ rows: [NewRow], _ transaction: NumberedTransaction
  ) throws(StoreError) -> [Int64?] {
    try inner.insert(rows, transaction)
  }
}

extension StoreDecorator {
  package func isLoaded() throws(StoreError) -> Bool {
    try inner.isLoaded()
  }

  package func emptyStage() throws(StoreError) {
    try inner.emptyStage()
  }

  package func stage(_ rows: [StagedRow]) throws(StoreError) {
    try inner.stage(rows)
  }

  package func stage(rejected rows: [RejectedRow]) throws(StoreError) {
    try inner.stage(rejected: rows)
  }

  package func nextStaged(limit: Int) throws(StoreError) -> [StagedRow] {
    try inner.nextStaged(limit: limit)
  }

  package func dropStaged(_ names: [RowName]) throws(StoreError) {
    try inner.dropStaged(names)
  }

  package func note(rejected rows: [RejectedRow], fitting: [ObjectName]) throws(StoreError) {
    try inner.note(rejected: rows, fitting: fitting)
  }

  package func rejectedRows() throws(StoreError) -> RejectedRows {
    try inner.rejectedRows()
  }

  package func absentRows(
    of entities: [Int]?, isSeen: (Int64) -> Bool
  ) throws(StoreError) -> [(partition: Int64, rows: [Int64], live: Int64)] {
    try inner.absentRows(of: entities, isSeen: isSeen)
  }

  package func name(ofRow id: Int64) throws(StoreError) -> (name: RowName, version: Int64)? {
    try inner.name(ofRow: id)
  }

  package func closeLoad(
    _ transaction: NumberedTransaction, of entities: [String]?
  ) throws(StoreError) -> Set<Int64> {
    try inner.closeLoad(transaction, of: entities)
  }

  package func sourceCursor() throws(StoreError) -> String? {
    try inner.sourceCursor()
  }

  package func keep(sourceCursor: String) throws(StoreError) {
    try inner.keep(sourceCursor: sourceCursor)
  }
}
