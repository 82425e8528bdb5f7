import FerryModel
import FerryWorld

/// A room of the service: it names the core, its own fields and the rooms below it.
protocol ServiceRoom: AnyObject {
  var core: ServiceCore { get }
}

/// What never changes in the core, and its transactions, by their own names.
extension ServiceRoom {
  var package: Package { core.package }
  var limits: ServiceLimits { core.limits }
  var world: World { core.world }
  var store: any Store { core.store }
  var rules: PartitionRules { core.rules }
  var connections: PackageConnections { core.rules.connections }
  var directory: PartitionDirectory { core.directory }
  var cache: CacheReader { core.cache }
  var meter: PackageMeter { core.meter }

  func clock() throws(ServerError) -> Int64 { try core.clock() }

  func isLoaded() throws(ServerError) -> Bool { try core.isLoaded() }

  func guarded<Result>(_ body: () throws(StoreError) -> Result) throws(ServerError) -> Result {
    try core.guarded(body)
  }

  func reading<Result>(_ body: () throws(StoreError) -> Result) throws(ServerError) -> Result {
    try core.reading(body)
  }

  func write<Result>(
    isTakenOver: Bool = false,
    _ body: (NumberedTransaction, inout CacheMachine) throws(StoreError) -> (
      Result, [AnsweredOperation]
    )
  ) throws(ServerError) -> Result {
    try core.write(isTakenOver: isTakenOver, body)
  }

  func writeRows<Result>(
    _ body: (NumberedTransaction, inout CacheMachine) throws(StoreError) -> (
      Result, [AnsweredOperation]
    )
  ) throws(ServerError) -> (result: Result, made: [Int64]) {
    try core.writeRows(body)
  }
}
