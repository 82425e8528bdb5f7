import FerryModel
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite("A cursor of the business system is kept only behind what the cache has")
struct CursorMachineTests {
  private func name(_ number: Int64) -> ObjectName {
    ObjectName(entity: "Order", key: ObjectKey([.integer(number)]))
  }

  @Test("A cursor is due when all of its objects are settled, and once")
  func objects() {
    var machine = CursorMachine()
    #expect(machine.due == nil)
    machine.deliver("a", names: [name(1), name(2)], needsLoad: false)
    machine.settled([name(1)])
    #expect(machine.due == nil)
    machine.settled([name(2)])
    #expect(machine.due == "a")
    machine.kept()
    #expect(machine.due == nil)
  }

  @Test("What comes meanwhile waits in one, and does not hold up the first")
  func meanwhile() {
    var machine = CursorMachine()
    machine.deliver("a", names: [name(1)], needsLoad: false)
    machine.deliver("b", names: [name(1), name(2)], needsLoad: false)
    machine.deliver("c", names: [name(1), name(3)], needsLoad: false)
    machine.settled([name(1)])
    #expect(machine.due == "a")
    machine.kept()
    #expect(machine.due == nil)
    machine.settled([name(2)])
    #expect(machine.due == nil)
    machine.settled([name(3)])
    #expect(machine.due == "c")
  }

  @Test("A load counts only when it began behind the cursor, and with what it left to be read")
  func loads() {
    var machine = CursorMachine()
    machine.loadBegan()
    machine.deliver("a", names: [], needsLoad: true)
    machine.loadEnded(names: [])
    #expect(machine.due == nil)
    machine.loadBegan()
    machine.deliver("b", names: [], needsLoad: true)
    machine.loadEnded(names: [name(7)])
    #expect(machine.due == nil)
    machine.settled([name(7)])
    #expect(machine.due == "a")
    machine.kept()
    #expect(machine.due == nil)
    machine.loadBegan()
    machine.loadEnded(names: [])
    #expect(machine.due == "b")
  }
}
