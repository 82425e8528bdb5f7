import FerryPersistence
import FerryTestTraits
import Foundation
import Testing

@Suite("Settings of an app")
struct AppSettingsStoreTests {
  @Test(
    "Values of the standard types are kept by key", .reference("adr/PEB-8", "adr/PEB-4", "adr/B25"))
  func values() throws {
    let fixture = PersistenceFixture()
    let settings = AppSettingsStore(try fixture.open())
    #expect(try settings.getProperty("a") == nil)
    let values: [SettingValue] = [
      .bool(true), .bool(false), .int(.min), .double(-0.5), .text("Größe"), .text(""),
      .bytes([0, 255]), .list([.int(1), .list([]), .dictionary(["k": .text("v")])]),
      .dictionary([:]),
    ]
    for (number, value) in values.enumerated() { try settings.setProperty("\(number)", value) }
    let again = AppSettingsStore(try fixture.open())
    for (number, value) in values.enumerated() {
      #expect(try again.getProperty("\(number)") == value)
    }
    try again.setProperty("0", nil)
    #expect(try settings.getProperty("0") == nil)
    try settings.deleteStore()
    #expect(try again.getProperty("1") == nil)
    try settings.deleteStore()
  }

  @Test("There is no limit of 64 KB, and one of 32 levels", .reference("adr/PEB-3"))
  func limits() throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open()
    let settings = AppSettingsStore(store)
    try settings.setProperty("big", .bytes([UInt8](repeating: 1, count: 1 << 20)))
    #expect(try settings.getProperty("big") == .bytes([UInt8](repeating: 1, count: 1 << 20)))
    func nested(_ depth: Int) -> SettingValue {
      (0..<depth).reduce(.int(1)) { value, _ in .list([value]) }
    }
    try settings.setProperty("deep", nested(32))
    #expect(try settings.getProperty("deep") == nested(32))
    #expect(reason { try settings.setProperty("deep", nested(33)) } == .invalidArgument)
    #expect(reason { try settings.setProperty("", .int(1)) } == .invalidArgument)
    #expect(try settings.getProperty("deep") == nested(32))
    // Another name is another store, and other kinds of data are none.
    #expect(try AppSettingsStore(store, name: "other").getProperty("deep") == nil)
    try store.storeData([1], id: "other")
    #expect(
      reason { _ = try AppSettingsStore(store, name: "other").getProperty("a") } == .dataType)
  }
}
