import FerryModel
import FerryWire
import Testing

@testable import Ferry

/// An object that the app deletes and makes again with the same key.
@Suite struct RecreateTests {
  private let shop: Stocked

  init() throws {
    shop = try Stocked()
    shop.shore.put(Line.entity, [.integer(1), .integer(1), .text("tea")])
    try shop.device.exchange(shop.shore)
  }

  private func line() throws -> Line {
    let key = ObjectKey([.integer(1), .integer(1)])
    return try #require(try Records(shop.device.store).of(Line.entity, key: key).map(Line.init))
  }

  @Test("Deleting and creating again with the same key is one update")
  func recreate() throws {
    var line = try self.line()
    try line.delete()
    var again = shop.device.newLine(of: 1, 1, "coffee")
    try again.create()
    let operations = try shop.device.operations()
    #expect(operations.count == 1 && operations[0].kind == .update)
    #expect(operations[0].base == [2: .text("tea")])
    #expect(again.surrogateKey == line.surrogateKey)
  }

  @Test("What is created again as it was shows what was saved, also where others have changed it")
  func recreateChanged() throws {
    var line = try self.line()
    try line.delete()
    shop.shore.put(Line.entity, [.integer(1), .integer(1), .text("cocoa")])
    try shop.device.exchange(shop.shore)
    var again = shop.device.newLine(of: 1, 1, "tea")
    try again.create()
    #expect(again.text == "tea")
    let operations = try shop.device.operations()
    #expect(operations.map(\.changed) == [[2: .text("tea")]])
    #expect(operations.map(\.base) == [[2: .text("tea")]], "the business system can tell that")
  }

  @Test("A delete on its way, refused, and the same object made again leave nothing to send")
  func recreateSame() throws {
    var line = try self.line()
    try line.delete()
    try line.submitPending()
    try shop.device.exchange(shop.shore)
    var again = shop.device.newLine(of: 1, 1, "tea")
    try again.create()
    shop.shore.refuse(try #require(shop.shore.stored.keys.first))
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.operations().isEmpty)
    try again.refresh()
    #expect(!again.isPending && !again.replayFailed && again.text == "tea")
    #expect(again.surrogateKey == line.surrogateKey)
  }

  @Test("A delete, and the object made again with less behind it, are an update to what was made")
  func recreateWithLess() throws {
    var line = try self.line()
    try line.delete()
    try line.submitPending()
    try shop.device.exchange(shop.shore)
    var again = shop.device.newLine(of: 1, 1, nil)
    try again.create()
    shop.shore.refuse(try #require(shop.shore.stored.keys.first))
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.operations().map(\.changed) == [[2: .null]])
    try again.refresh()
    #expect(again.record.values[2] == .null && again.replayFailed)
  }
}
