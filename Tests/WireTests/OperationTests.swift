import FerryJSON
import FerryModel
import FerryWire
import Testing

@Suite("Operations as they travel")
struct OperationTests {
  private let id: String = "000102030405060708090a0b0c0d0e0f"

  private func problem(_ rest: String) -> String? {
    let text = #"{"id":"\#(id)","chain":"\#(id)","entity":"Booking",\#(rest)}"#
    do throws(JSONError) {
      _ = try Operation(Array(text.utf8), in: Examples.package)
      return nil
    } catch {
      return error.problem
    }
  }

  @Test("An operation is read back equal, and its bytes are always the same")
  func roundTrip() throws {
    var chance = SeededGenerator(seed: 4)
    for _ in 0..<2_000 {
      let operation = chance.operation()
      let entity = try #require(Examples.package.entity(named: operation.entity))
      let bytes = operation.encoded(for: entity)
      #expect(try Operation(bytes, in: Examples.package) == operation)
      #expect(operation.encoded(for: entity) == bytes)
      #expect(try Operation.identity(of: bytes) == operation.id)
    }
  }

  @Test("Replay carries each operation in the bytes that submit fixed, whatever they are")
  func bytesAsTheyAre() throws {
    let odd = Array(#"{ "later" : 1.50e0, "id":"\#(id)" }"#.utf8)
    let frame = Message.replay(Replay(operations: [odd])).frame
    guard case .replay(let replay) = try Message(frame) else {
      Issue.record("another message came back")
      return
    }
    #expect(replay.operations == [odd])
  }

  @Test("The id is read even where nothing else makes sense")
  func identityAlone() throws {
    let bytes = Array(#"{"entity":7,"key":{"x":[]},"id":"\#(id)","count":"many"}"#.utf8)
    #expect(try Operation.identity(of: bytes).text == id)
    #expect(throws: JSONError.self) { try Operation.identity(of: Array(#"{"chain":1}"#.utf8)) }
  }

  @Test(
    "An operation that makes no sense is refused with the reason",
    arguments: [
      (#""operation":"update","key":[1],"changed":{"nights":2}"#, "no attribute nights"),
      (#""operation":"update","key":[1],"base":{"nights":2}"#, "no attribute nights"),
      (#""operation":"update","key":[1],"changed":{"seats":"2"}"#, "type int"),
      (#""operation":"update","key":[1],"changed":{"price":"1.50"}"#, "not a canonical decimal"),
      (#""operation":"update","key":[1],"changed":{"seats":2147483648}"#, "canonical int"),
      (#""operation":"update","key":[1,2]"#, "has more"),
      (#""operation":"update","key":[]"#, "only 0"),
      (#""operation":"update""#, "no key"),
      (#""operation":"delete","key":{"temporary":"x"}"#, "no key"),
      (#""operation":"replace","key":[1]"#, "known kind"),
      (#""operation":"create","position":1,"count":1"#, "number 1 of 1"),
      (#""operation":"create","position":-1"#, "number -1 of 1"),
      (#""operation":"create","count":1001"#, "of 1001"),
      (#""operation":"create","entity":"Hotel""#, "no entity Hotel"),
    ])
  func senseless(rest: String, reason: String) {
    #expect(problem(rest)?.contains(reason) == true, "\(problem(rest) ?? "accepted")")
  }

  @Test("An operation cut anywhere is refused")
  func cut() {
    var chance = SeededGenerator(seed: 6)
    for _ in 0..<20 {
      let operation = chance.operation()
      let entity = operation.entity == "Seat" ? Examples.seat : Examples.booking
      let bytes = operation.encoded(for: entity)
      for end in bytes.indices {
        #expect(throws: JSONError.self) {
          try Operation(Array(bytes[..<end]), in: Examples.package)
        }
      }
    }
  }
}
