import Ferry
import FerryModel
import FerrySQLite
import FerryWire
import Foundation
import Testing

@testable import Ferry

/// `device-3.db` is a device's file as the code of commit c2d2940 left it: version 3 of the tables, no
/// number of Ferry's in the header, decimals that sort as texts.
@Suite("A device's file of commit c2d2940")
struct OldDeviceTests {
  private let device: Device

  init() throws {
    device = try Device()
    device.store.close()
    let fixture = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/device-3.db")
    for ending in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: device.path + ending)
    }
    try FileManager.default.copyItem(at: fixture, to: URL(filePath: device.path))
    try device.restart()
  }

  /// What the server of then has.
  private func shore() throws -> Shore {
    let shore = Shore(Shop.package)
    for (id, freight) in [(1, "9"), (2, "10"), (3, "100"), (4, "2.5")] {
      shore.put(
        Order.entity, [.integer(Int64(id)), .text("ALFKI"), .text("Bremen"), .text(freight)])
    }
    shore.put(Line.entity, [.integer(1), .integer(1), .text("tea")])
    shore.put(Order.entity, [.integer(5), .text("ALFKI"), .text("Jena"), .null])
    // The answer that refused one.
    shore.remove(Order.entity, ObjectKey([.integer(99)]))
    let payloads = try device.store.read { connection throws(FerryError) in
      try device.store.sql { () throws(SQLiteError) in
        try connection.rows(
          "SELECT payload FROM ferry_operation WHERE sent = 1 AND acknowledged = 1")
      }
    }
    for payload in payloads.compactMap({ $0[0].blob }) {
      shore.take(try Operation(payload, in: Shop.package))
    }
    return shore
  }

  @Test("opens with its rows, and with what is pending: waiting, submitted, sent and refused")
  func opens() throws {
    #expect(
      try device.dump() == """
        -8543584508092325881 ALFKI Weimar C
        1 ALFKI Bremen N
        2 ALFKI Kiel U
        3 ALFKI Halle U
        4 ALFKI Ulm U!
        5 ALFKI Jena N
        """)
    #expect(
      try device.operations().map { "\($0.entity) \($0.kind.rawValue) \($0.state.rawValue)" } == [
        "Order update replayFailed", "Order create submitted", "Line create waiting",
        "Order update submitted", "Order update waiting",
      ])
    let alias = ObjectKey([.integer(-5_779_233_503_071_354_090)])
    #expect(try Records(device.store).of(Order.entity, key: alias)?.key == ObjectKey([.integer(5)]))
    let header = try Connection(path: device.path)
    #expect(try header.value("PRAGMA application_id") == .integer(FileOwner.application))
    #expect(try header.value("PRAGMA user_version") == .integer(Schema.version))
  }

  @Test("goes on where it was: what was sent is answered, what was submitted is sent, each once")
  func goesOn() throws {
    let shore = try shore()
    #expect(shore.stored.count == 1)
    let sent = try #require(shore.stored.keys.first)
    shore.accept(sent, newKey: ObjectKey([.integer(6)]))
    var answered: Set = [sent]
    for _ in 0..<4 {
      try device.exchange(shore)
      for id in shore.stored.keys where answered.insert(id).inserted { shore.accept(id) }
    }
    #expect(
      try device.dump() == """
        1 ALFKI Bremen N
        2 ALFKI Kiel N
        3 ALFKI Halle U
        4 ALFKI Ulm U!
        5 ALFKI Jena N
        6 ALFKI Weimar N
        """)
    #expect(try device.order(6)?.lines().map(\.text) == ["milk"])
    #expect(device.handler.resets == [] && device.handler.exceptions.isEmpty)
    var waiting = try #require(try device.order(3))
    try waiting.submitPending()
    try device.exchange(shore)
    #expect(shore.received.count == 3)
    // No number is given a second time.
    let highest = try device.orders().compactMap(\.surrogateKey).max() ?? 0
    var new = device.newOrder("Gera")
    try new.create()
    #expect(try #require(new.surrogateKey) > highest)
  }

  @Test("compares decimals as numbers in plain SQL, as a new one does")
  func decimals() throws {
    let rows = try Records(device.store).rows(
      sql: #"SELECT id FROM "Order" WHERE freight > ? ORDER BY freight"#, [.text("9")])
    #expect(rows.map { $0.get(0, as: Int64.self) } == [2, -8_543_584_508_092_325_881, 3])
  }
}
