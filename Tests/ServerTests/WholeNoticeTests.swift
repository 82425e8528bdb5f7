import FerryModel
import Testing

@testable import FerryServer

@Suite("A notice that an object changed whole")
struct WholeNoticeTests {
  @Test("It is read, and everything is compared: nobody knows the keys of what is new below it")
  func compared() throws {
    let bench = try Bench()
    _ = try bench.load()
    let key = ObjectKey([.integer(1)])
    let hint = try bench.service.take([Notice(Shop.order, key, .hint)])
    #expect(hint.outcomes == [.readBack] && !hint.needsLoad)
    let whole = try bench.service.take([Notice(Shop.order, key, .whole)])
    #expect(whole.outcomes == [.readBack] && whole.needsLoad)
  }
}
