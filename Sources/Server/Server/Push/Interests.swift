/// A number for each exchange that is open.
package typealias ExchangeID = Int64

/// Which waiting exchanges concern a change: by partition, and by device for answers.
struct Interests {
  private var byPartition: [Int64: Set<ExchangeID>] = [:]
  private var byOwner: [Owner: Set<ExchangeID>] = [:]
  private var partitions: [ExchangeID: Set<Int64>] = [:]
  private var owners: [ExchangeID: Owner] = [:]

  mutating func register(_ exchange: ExchangeID, _ owner: Owner, partitions: Set<Int64>) {
    remove(exchange)
    self.partitions[exchange] = partitions
    owners[exchange] = owner
    byOwner[owner, default: []].insert(exchange)
    for partition in partitions { byPartition[partition, default: []].insert(exchange) }
  }

  mutating func remove(_ exchange: ExchangeID) {
    for partition in partitions.removeValue(forKey: exchange) ?? [] {
      byPartition[partition]?.remove(exchange)
      if byPartition[partition]?.isEmpty ?? false { byPartition[partition] = nil }
    }
    guard let owner = owners.removeValue(forKey: exchange) else { return }
    byOwner[owner]?.remove(exchange)
    if byOwner[owner]?.isEmpty ?? false { byOwner[owner] = nil }
  }

  /// Those for whose changes somebody waits.
  var partitionsWaitedFor: Set<Int64> { Set(byPartition.keys) }

  /// In the order of their numbers.
  func concerned(partitions: Set<Int64>, owners: Set<Owner>) -> [ExchangeID] {
    var found: Set<ExchangeID> = []
    for partition in partitions { found.formUnion(byPartition[partition] ?? []) }
    for owner in owners { found.formUnion(byOwner[owner] ?? []) }
    return found.sorted()
  }
}
