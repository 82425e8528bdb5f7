import Ferry
import FerryFaultVFS
import FerryModel
import FerrySQLite
import FerryWorld
import Testing

@testable import Ferry

/// The disk is full from one operation on that a deed makes on it, then from another one: the error
/// says so, what was there before is there, and the deed is done when there is space.
///
/// Saves are in `BadInputTests.disk`, imports in `BadInputTests.space`, transactions in
/// `UndoneTransactionTests`, big values in `BigValueTests.diskFull`.
@Suite("A full disk under all that changes much")
struct FullDiskTests {
  enum Deed: CaseIterable, CustomTestStringConvertible {
    case create, migrate, submit, cancel, clean, vacuum

    var testDescription: String {
      switch self {
      case .create: "a database that is made"
      case .migrate: "a newer model"
      case .submit: "submitPendingOperations"
      case .cancel: "cancelPendingOperations"
      case .clean: "cleanAllData"
      case .vacuum: "vacuum"
      }
    }

    /// What is pending and what is shown afterwards.
    var after: [Int] {
      switch self {
      case .create, .cancel, .clean: [0, 0, 0]
      case .migrate, .vacuum: [FullDiskTests.orders, 0, FullDiskTests.orders]
      case .submit: [FullDiskTests.orders, FullDiskTests.orders, FullDiskTests.orders]
      }
    }
  }

  static let orders: Int = 12
  private let disk = FaultDisk()

  private static var newer: Package {
    let order = Entity(
      name: "Order", table: "orders",
      attributes: Order.entity.attributes + [
        Attribute(name: "text", column: "text", type: .string, isNullable: true, fullText: true)
      ], key: [0], keyOrigin: .businessSystem, relationships: [],
      operations: [.create, .update, .delete], partition: nil, group: "default")
    return Package(
      name: "Shop", version: "1.1", entities: [order, Line.entity],
      groups: [SynchronizationGroup(name: "default")])
  }

  private func open(_ model: Package = Shop.package) throws -> Store {
    try Store(
      path: "/device.db", model: model, world: .system(), durability: .machine, vfs: disk.vfs)
  }

  /// A database with new orders, each with a text that fills a page; none for `.create`.
  private func prepare(_ deed: Deed) throws {
    guard deed != .create else { return }
    let store = try open()
    for _ in 0..<Self.orders {
      var record = ObjectRecord(Order.entity, store: store)
      record.set(1, "ALFKI")
      record.set(2, String(repeating: "city ", count: 600))
      _ = try PendingStore.save(try record.change(.create), in: store)
    }
    store.close()
  }

  private func run(_ deed: Deed, _ store: Store?) throws {
    switch deed {
    case .create: try open().close()
    case .migrate: try open(Self.newer).close()
    case .submit: try store.map { Outbox($0) }?.submitAll(Order.entity)
    case .cancel: try store.map { Outbox($0) }?.cancelAll(Order.entity)
    case .clean: try store?.cleanAllData()
    case .vacuum: try store?.vacuum()
    }
  }

  /// How many operations are pending, how many of them submitted, and how many orders are shown.
  private func state(_ deed: Deed, _ store: Store?, isDone: Bool) throws -> [Int] {
    let shown = try store ?? migrated(deed, isDone: isDone)
    defer { if store == nil { shown.close() } }
    let operations = try shown.read { connection throws(FerryError) in
      try shown.sql { () throws(SQLiteError) in
        try OperationTable(shown, connection).select("", [])
      }
    }
    let rows = try Records(shown).all(shown.model.entities[0], "", [])
    return [operations.count, operations.count { $0.state == .submitted }, rows.count]
  }

  /// What was not told as done may be done: the disk was full behind the commit. It is never half.
  private func migrated(_ deed: Deed, isDone: Bool) throws -> Store {
    guard deed == .migrate else { return try open() }
    guard !isDone else { return try open(Self.newer) }
    do { return try open() } catch let error as FerryError {
      #expect(error.code == .incompatibleModel, "\(error)")
      return try open(Self.newer)
    }
  }

  private static func opens(_ deed: Deed) -> Bool { deed != .create && deed != .migrate }

  /// Nil where the deed was done all the same.
  private func fill(_ deed: Deed, at place: Int, _ store: Store?) -> FerryError? {
    disk.fail(
      at: disk.operations + place,
      code: 13, times: nil)
    defer { disk.fail(at: disk.operations, code: 13, times: 0) }
    do {
      try run(deed, store)
      return nil
    } catch {
      guard let error = error as? FerryError else {
        Issue.record("\(deed) at \(place): \(error)")
        return nil
      }
      return error
    }
  }

  private static func places(_ deed: Deed) throws -> Int {
    let trial = FullDiskTests()
    try trial.prepare(deed)
    let store = opens(deed) ? try trial.open() : nil
    defer { store?.close() }
    let before = trial.disk.operations
    try trial.run(deed, store)
    return trial.disk.operations - before
  }

  @Test(
    "is told, leaves what was before, and the deed is done when there is space",
    arguments: Deed.allCases)
  func everywhere(deed: Deed) throws {
    let places = try Self.places(deed)
    #expect(places > 3)
    var failures = 0
    // Some forty of all, or each where they are few.
    for place in stride(from: 0, to: places, by: max(1, places / 40)) {
      let trial = FullDiskTests()
      try trial.prepare(deed)
      let store = Self.opens(deed) ? try trial.open() : nil
      let before = deed == .create ? [0, 0, 0] : try trial.state(deed, store, isDone: false)
      let error = trial.fill(deed, at: place, store)
      if let error {
        failures += 1
        #expect(error.code == .diskFull, "\(place): \(error)")
        #expect(error.hint.contains("Free some space on the device"), "\(place): \(error.hint)")
        // Of what is made anew nothing was there before, and nothing need be now.
        if deed != .create {
          #expect(try trial.state(deed, store, isDone: false) == before, "\(place)")
        }
        try trial.run(deed, store)
      }
      #expect(try trial.state(deed, store, isDone: true) == deed.after, "\(place)")
      store?.close()
    }
    #expect(failures > 0)
  }

  @Test(
    "Where more is to be done than one transaction takes, what was done stays, and the rest goes on",
    arguments: [Deed.submit, .cancel])
  func many(deed: Deed) throws {
    let count = 1_100
    let store = try open()
    for _ in 0..<count {
      var record = ObjectRecord(Order.entity, store: store)
      record.set(1, "ALFKI")
      _ = try PendingStore.save(try record.change(.create), in: store)
    }
    var done: Set<Int> = []
    var place = 1
    while let error = fill(deed, at: place, store) {
      #expect(error.code == .diskFull, "\(place): \(error)")
      let now = try state(deed, store, isDone: false)
      done.insert(deed == .submit ? now[1] : count - now[0])
      #expect(now[2] == now[0], "each order is there while it is pending")
      place *= 2
    }
    #expect(done.contains(0) && done.isSubset(of: [0, 1_000]), "\(done)")
    let left = try state(deed, store, isDone: true)
    #expect(left == (deed == .submit ? [count, count, count] : [0, 0, 0]))
    store.close()
  }
}
