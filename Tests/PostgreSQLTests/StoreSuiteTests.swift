import FerryModel
import FerryPostgreSQL
import FerryPostgreSQLStore
import FerryServer
import FerryStoreConformance
import FerryWorld
import Synchronization
import Testing

@Suite("PostgreSQL keeps the contract of a store")
struct PostgreSQLStoreSuiteTests {
  @Test("PostgreSQL", arguments: StoreSuite.cases)
  func postgresql(_ one: StoreCase) throws {
    #expect(one.failures(on: try StoreDatabase()) == [])
  }
}

/// A database for the store of a server, and the nodes that open it.
final class StoreDatabase: StoreStage {
  let address: PostgreSQLAddress
  let clock = StoreClock()
  let world: World

  convenience init() throws { self.init(try Cluster.database()) }

  init(_ address: PostgreSQLAddress) {
    self.address = address
    world = World(clock: clock, chance: World.system().chance, log: World.system().log)
  }

  /// Takes the lease from whoever has it, as if its time were over.
  func lead(_ package: Package = StoreSuite.package) throws -> Lease {
    if let held = try Lease.take(address, package, holder: "suite", world) { return held }
    try PostgreSQLConnection(address).execute(
      "UPDATE ferry_store.lease SET until = clock_timestamp()")
    return try #require(try Lease.take(address, package, holder: "suite", world))
  }

  func open(_ package: Package) throws -> any Store {
    let store = try PostgreSQLStore(
      address, package: package, world: world, lease: try lead(package).term)
    store.countsDaysOfWorld = true
    return store
  }

  func advance(days: Int64) { clock.advance(.seconds(days * 86_400)) }
}

/// A clock that is set by hand. It begins after the real day, on which a new store counts.
final class StoreClock: WorldClock {
  private let time = Mutex<Int64>(4_000_000_000_000)

  var now: Timestamp { Timestamp(milliseconds: time.withLock { $0 }) }
  var uptime: Duration { .milliseconds(time.withLock { $0 }) }
  func advance(_ duration: Duration) {
    let milliseconds = Int64(duration / .milliseconds(1))
    time.withLock { $0 += milliseconds }
  }
}
