import Ferry
import FerryFaultVFS
import FerryModel
import FerrySQLite
import FerryWorld
import Testing

@testable import Ferry

/// SQLite undoes a whole transaction by itself when the disk is full or breaks inside it. What the
/// body does afterwards must not be committed change by change.
@Suite("A transaction that the disk undid")
struct UndoneTransactionTests {
  private typealias Body = (Shopkeeper) throws(FerryError) -> Void

  /// A store on a disk in memory, with one saved order.
  private final class Shopkeeper {
    let disk = FaultDisk()
    let store: Store

    // The disk must outlive the connections.
    deinit { store.close() }

    init() throws {
      store = try Store(
        path: "/device.db", model: Shop.package, world: .system(), durability: .machine,
        vfs: disk.vfs)
      try create("first")
    }

    func create(_ city: String) throws(FerryError) {
      var record = ObjectRecord(Order.entity, store: store)
      record.set(1, "ALFKI")
      record.set(2, city)
      _ = try PendingStore.save(try record.change(.create), in: store)
    }

    func update(_ city: String) throws(FerryError) {
      var record = try Records(store).all(Order.entity, "", [])[0]
      record.set(2, city)
      _ = try PendingStore.save(try record.change(.update), in: store)
    }

    /// A setting of the connection that writes, which no transaction undoes.
    func set(_ setting: String) throws(FerryError) {
      try store.writer.withConnection(closed: Store.closed("")) {
        connection throws(FerryError) in
        try store.sql { () throws(SQLiteError) in try connection.execute("PRAGMA \(setting)") }
      }
    }

    /// Creates until it is refused; returns why, without a word of it to the transaction.
    func fill() -> FerryError? {
      do throws(FerryError) {
        for number in 0..<10_000 { try create("\(number) " + String(repeating: "x", count: 500)) }
        return nil
      } catch { return error }
    }

    var cities: [String?] {
      get throws { try Records(store).all(Order.entity, "", []).map { Order(record: $0).city } }
    }

    var pending: Int {
      get throws {
        try store.read { connection throws(FerryError) in
          try store.sql { () throws(SQLiteError) in
            try OperationTable(store, connection).select("ORDER BY sequence", []).count
          }
        }
      }
    }
  }

  /// Runs `body` in a transaction in which the disk is full at some point.
  private func full(_ shop: Shopkeeper, _ body: Body) throws(FerryError) {
    try shop.set("max_page_count = 120")
    try shop.store.transaction { () throws(FerryError) in try body(shop) }
  }

  @Test(
    "What the app saves after it caught the error is not committed, and the transaction says why")
  func caught() throws {
    let shop = try Shopkeeper()
    var inside: [FerryError?] = []
    let error = #expect(throws: FerryError.self) {
      try full(shop) { (shop) throws(FerryError) in
        inside.append(shop.fill())
        do throws(FerryError) { try shop.update("afterwards") } catch { inside.append(error) }
      }
    }
    #expect(inside.map { $0?.code } == [.diskFull, .diskFull])
    #expect(error?.code == .diskFull)
    #expect(error?.message.contains("the whole transaction was undone") == true, "\(error as Any)")
    #expect(error?.hint.contains("Free some space on the device") == true)
    #expect(try shop.cities == ["first"])
    #expect(try shop.pending == 1)
    try shop.set("max_page_count = 100000")
    try shop.update("later")
    #expect(try shop.cities == ["later"])
  }

  @Test("A body that saves nothing more, and returns as if nothing had been, fails all the same")
  func returned() throws {
    let shop = try Shopkeeper()
    let error = #expect(throws: FerryError.self) {
      try full(shop) { (shop) throws(FerryError) in _ = shop.fill() }
    }
    #expect(error?.code == .diskFull)
    #expect(try shop.cities == ["first"])
  }

  @Test(
    "It takes the transactions around it along, and what is read inside it is not another state")
  func nested() throws {
    let shop = try Shopkeeper()
    var read: FerryError?
    let error = #expect(throws: FerryError.self) {
      try full(shop) { (shop) throws(FerryError) in
        try shop.update("outside")
        do throws(FerryError) {
          try shop.store.transaction { () throws(FerryError) in _ = shop.fill() }
        } catch {}
        do throws(FerryError) { _ = try Records(shop.store).all(Order.entity, "", []) } catch {
          read = error
        }
      }
    }
    #expect(error?.code == .diskFull && read?.code == .diskFull)
    #expect(try shop.cities == ["first"])
  }

  @Test(
    "Of what was rolled back in it nothing stands either, and rollback of all of it is no error")
  func rolledBack() throws {
    let shop = try Shopkeeper()
    try full(shop) { (shop) throws(FerryError) in
      _ = shop.fill()
      try? shop.update("afterwards")
      try shop.store.rollback()
    }
    #expect(try shop.cities == ["first"])
    #expect(!shop.store.isInTransaction)
  }

  @Test("A disk that breaks in the middle undoes it likewise")
  func broken() throws {
    let shop = try Shopkeeper()
    try shop.set("cache_size = 10")
    var inside: FerryError?
    let error = #expect(throws: FerryError.self) {
      try shop.store.transaction { () throws(FerryError) in
        try shop.update("inside")
        // The cache is small: the transaction is spilled to the log.
        shop.disk.fail(at: shop.disk.operations, code: 10, times: 1)
        inside = shop.fill()
        try? shop.update("afterwards")
      }
    }
    #expect(inside?.code == .diskFailing && error?.code == .diskFailing)
    #expect(try shop.cities == ["first"])
    #expect(try shop.pending == 1)
  }
}
