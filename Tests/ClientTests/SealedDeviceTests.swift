import Ferry
import FerryInspection
import FerryModel
import FerryTestTraits
import Foundation
import Testing

@testable import Ferry

@Suite("A sealed device")
struct SealedDeviceTests {
  private func filesHolding(_ texts: [String], in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { name in
      let data = try Data(contentsOf: folder.appendingPathComponent(name))
      return texts.contains { data.range(of: Data($0.utf8)) != nil }
    }
  }

  @Test("goes round the circle as a plain one does, and its files hold no plaintext")
  func circle() throws {
    let device = try Device(key: DatabaseKey(passphrase: "open sesame"))
    let shore = Shore(Shop.package)
    for id in 1...40 {
      shore.put(Order.entity, [.integer(Int64(id)), .text("ALFKI"), .text("Bremen"), .null])
    }
    _ = try device.loggedIn()
    for _ in 0..<4 { try device.exchange(shore) }
    #expect(try device.orders().count == 40)
    var order = try #require(try device.order(1))
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    let texts = ["Bremen", "Kiel", "ALFKI", "CREATE TABLE", "ferry_operation"]
    #expect(try filesHolding(texts, in: device.folder) == [])
    let before = try device.dump()
    try device.restart()
    #expect(try device.dump() == before)
    try device.exchange(shore)
    #expect(shore.stored.count == 1)
    #expect(try filesHolding(texts, in: device.folder) == [])
  }

  @Test(
    "Opens with its key only, and with the new one after a change",
    .reference("facts/1.4", "facts/5.12"))
  func keys() async throws {
    let folder = try Device().folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("sealed.db").path
    func open(_ key: DatabaseKey?) async throws {
      let database = try FerryDatabase.open(
        at: path, key: key, package: Shop.package,
        profile: ConnectionProfile(server: "http://127.0.0.1:9"))
      #expect(try !database.hasPendingOperations)
      await database.close()
    }
    let (first, second) = (DatabaseKey.random(), DatabaseKey(passphrase: "second"))
    try await open(first)
    for key in [second, nil] {
      let error = await #expect(throws: FerryError.self) { try await open(key) }
      #expect(error?.code == .wrongKey)
    }
    try FerryDatabase.changeKey(at: path, from: first, to: second)
    try await open(second)
    let old = await #expect(throws: FerryError.self) { try await open(first) }
    #expect(old?.code == .wrongKey)
    try FerryDatabase.unseal(at: path, key: second)
    try await open(nil)
    let late = await #expect(throws: FerryError.self) { try await open(first) }
    #expect(late?.hint.contains("seal it") == true)
    try FerryDatabase.seal(at: path, key: first)
    try await open(first)
  }

  @Test("whose keys are decimals is sealed, has its key changed, and is made plain")
  func decimalKeys() async throws {
    let entity = Entity(
      name: "Rate", table: "rates",
      attributes: [Attribute(name: "rate", column: "rate", type: .decimal, isNullable: false)],
      key: [0], keyOrigin: .app, relationships: [], operations: [.create], partition: nil,
      group: "default")
    let model = Package(
      name: "Rates", version: "1.0", entities: [entity],
      groups: [SynchronizationGroup(name: "default")])
    let device = try Device(model)
    for rate in ["9", "10", "2.5"] {
      var record = ObjectRecord(entity, store: device.store)
      record.set(0, Decimal(string: rate))
      _ = try PendingStore.save(try record.change(.create), in: device.store)
    }
    device.store.close()
    let (first, second) = (DatabaseKey.random(), DatabaseKey.random())
    try FerryDatabase.seal(at: device.path, key: first)
    try FerryDatabase.changeKey(at: device.path, from: first, to: second)
    try FerryDatabase.unseal(at: device.path, key: second)
    try device.restart()
    let rates = try Records(device.store).all(entity, "ORDER BY rate", [])
    #expect(rates.map { $0.value(at: 0) } == [.text("2.5"), .text("9"), .text("10")])
    let file = try DeviceFile(path: device.path)
    #expect(try file.why(entity: "Rate", key: #""10""#).values?.contains("10") == true)
  }
}
