import FerryJSON
import FerryModel
import FerryTestTraits
import FerryWire
import Testing

@Suite("Messages")
struct MessageTests {
  private func message(_ kind: Frame.Kind, _ text: String) throws(WireError) -> Message {
    try Message(Frame(kind, Array(text.utf8)))
  }

  private func problem(_ kind: Frame.Kind, _ text: String) -> WireError? {
    do throws(WireError) {
      _ = try message(kind, text)
      return nil
    } catch {
      return error
    }
  }

  @Test("Every message is read back equal, and written again with the same bytes")
  func roundTrip() throws {
    var chance = SeededGenerator(seed: 20_260_301)
    for _ in 0..<200 {
      for message in try chance.messages() {
        let bytes = message.frame.encoded()
        let frame = try #require(try FrameReader.frames(of: bytes).first)
        let read = try Message(frame)
        #expect(read == message)
        #expect(read.frame.encoded() == bytes)
      }
    }
  }

  @Test("There is a message of every kind of frame")
  func kinds() throws {
    var chance = SeededGenerator(seed: 1)
    #expect(try chance.messages().map(\.frame.kind) == Frame.Kind.allCases)
  }

  @Test("A message cut anywhere is refused")
  func cut() throws {
    var chance = SeededGenerator(seed: 77)
    for message in try chance.messages() {
      let content = message.frame.content
      for end in content.indices {
        let frame = Frame(message.frame.kind, Array(content[..<end]))
        #expect(throws: WireError.self) { try Message(frame) }
      }
    }
  }

  @Test("What follows a message is refused", arguments: Frame.Kind.allCases)
  func followed(kind: Frame.Kind) throws {
    var chance = SeededGenerator(seed: 78)
    let messages = try chance.messages()
    let message = try #require(messages.first { $0.frame.kind == kind })
    let frame = Frame(kind, message.frame.content + Array(" {}".utf8))
    #expect(throws: WireError.self) { try Message(frame) }
  }

  @Test("Ten thousand nested arrays or objects are refused in every message, at the limit")
  func nested() {
    let deep = [
      String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000),
      String(repeating: #"{"a":"#, count: 10_000) + "1" + String(repeating: "}", count: 10_000),
    ]
    for kind in Frame.Kind.allCases {
      for text in deep {
        for content in [text, #"{"later":\#(text)}"#, #"{"operations":[\#(text)]}"#] {
          let error = problem(kind, content)
          #expect(error?.code == .badMessage)
          #expect(error?.message.utf8.count ?? .max < 200)
        }
      }
    }
    #expect(problem(.pull, #"{"later":\#(deep[0])}"#)?.message.contains("32 levels") == true)
  }

  @Test("A member that is not known is left aside: a later version may add one")
  func unknownMember() throws {
    var chance = SeededGenerator(seed: 79)
    for message in try chance.messages() where message.frame.kind != .rows {
      var content = message.frame.content
      let more = Array(#""later":{"a":[1,null,"x"]}"#.utf8)
      content.insert(contentsOf: more + (content.count > 2 ? [0x2C] : []), at: 1)
      #expect(try Message(Frame(message.frame.kind, content)) == message)
    }
  }

  @Test(
    "What a message needs and does not have is named",
    arguments: [
      (Frame.Kind.hello, "{}"), (.welcome, #"{"server":"s"}"#), (.pull, #"{"at":1}"#),
      (.checkpoint, #"{"group":"default"}"#), (.confirm, "{}"), (.rows, #"{"partition":1}"#),
      (.checkpoint, #"{"group":"g","era":"e","partitions":[{"partition":1}]}"#),
      (.pull, #"{"group":"g","staged":[[1,2]]}"#), (.stir, #"{"finished":["x"]}"#),
      (.welcome, #"{"server":"s","era":"e","operations":{"x":"inWork"}}"#),
      (
        .welcome,
        #"{"server":"s","era":"e","operations":{"000102030405060708090a0b0c0d0e0f":"lost"}}"#
      ),
      (.rows, #"{"partition":1,"from":[2,0],"to":[1,0],"at":2,"count":0,"sets":[]}"#),
      (.beat, ""), (.failure, "[]"), (.replay, #"{"operations":[}]"#),
    ])
  func missing(kind: Frame.Kind, text: String) {
    #expect(problem(kind, text)?.code == .badMessage)
  }

  @Test("replayFailed and replayFailure are both read, and replayFailed is written")
  func bothNames() throws {
    let id = "000102030405060708090a0b0c0d0e0f"
    let answers = try ["replayFailed", "replayFailure"].map { name in
      try Answer(
        json: Array(#"{"id":"\#(id)","version":7,"method":"\#(name)","log":[]}"#.utf8))
    }
    #expect(answers[0] == answers[1])
    #expect(answers[1].outcome == .replayFailed)
    #expect(String(decoding: answers[1].json, as: UTF8.self).contains(#""method":"replayFailed""#))
    #expect(throws: JSONError.self) {
      try Answer(json: Array(#"{"id":"\#(id)","method":"replayLost"}"#.utf8))
    }
  }

  @Test("A code of failure that is not known reads as internal")
  func unknownFailure() throws {
    let text = #"{"code":"later","message":"m","hint":"h"}"#
    #expect(try message(.failure, text) == .failure(WireFailure(.internal, "m", hint: "h")))
  }

  @Test(
    "A log record keeps the reference's fields, and more only where there is more",
    .reference("sync/P17"))
  func logRecord() throws {
    let id = try #require(OperationID("000102030405060708090a0b0c0d0e0f"))
    let record = LogRecord(
      component: "Booking", entityKey: "1042", code: 412, message: "taken", operation: .update,
      requestID: id, timestamp: 1, level: .error)
    var writer = JSONWriter()
    writer.logRecord(record)
    #expect(
      writer.text == #"{"component":"Booking","entityKey":"1042","code":412,"message":"taken","#
        + #""operation":"update","requestId":"000102030405060708090a0b0c0d0e0f","timestamp":1,"#
        + #""level":"error"}"#)
    #expect(try LogRecord(json: writer.bytes) == record)
  }

  @Test("A log record has the constraint, detail and hint of the business system, and no nulls")
  func wordsOfTheBusiness() throws {
    let id = try #require(OperationID("000102030405060708090a0b0c0d0e0f"))
    let record = LogRecord(
      component: "Visit", entityKey: "3", code: 412, message: "no", operation: .update,
      requestID: id, timestamp: 1, level: .error, constraint: "visit_ends_after_start",
      hint: "Correct the end.")
    var writer = JSONWriter()
    writer.logRecord(record)
    #expect(
      writer.text.hasSuffix(
        #""level":"error","constraint":"visit_ends_after_start","hint":"Correct the end."}"#))
    #expect(try LogRecord(json: writer.bytes) == record)
  }
}
