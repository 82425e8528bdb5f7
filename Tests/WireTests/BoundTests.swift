import FerryJSON
import FerryModel
import FerryWire
import Testing

/// Walks every member of every message and makes it longer than the table in Wire.md allows.
@Suite("Every text and every list of a message has a bound", .timeLimit(.minutes(60)))
struct BoundTests {
  /// A message of each kind with all its members.
  private static let samples: [Frame.Kind: String] = [
    .hello: #"""
    {"protocol":1,"server":"s","package":"Flights:1.0","device":"d","incarnation":"i","groups":[{"name":"default","era":"e","version":1}],"partitions":[[12,40,0]],"open":["000102030405060708090a0b0c0d0e0f"],"wait":1,"current":true,"parameters":{"sets":[{"region":"South"}],"keys":{"depot":"7"},"changed":{"territory":"3"}},"facts":{"hardware":"h","system":"s","library":"l","pending":1,"subscribed":true},"notices":{"orders":1},"settings":"v","corrections":[{"id":"000102030405060708090a0b0c0d0e0f","outcome":"taken","operation":"000102030405060708090a0b0c0d0e0f","message":"m"}]}
    """#,
    .welcome: #"""
    {"server":"s","era":"e","clock":1,"rightsVersion":"r","keep":[1],"start":[{"partition":14,"group":"default"}],"drop":[1],"reset":[1],"operations":{"000102030405060708090a0b0c0d0e0f":"inWork"},"expectedRows":2,"keys":{"territory":"3"},"takes":["report"],"settings":{"template":"t","version":"v","values":{"custom.color":"green"}},"corrections":[{"id":"000102030405060708090a0b0c0d0e0f","operation":"000102030405060708090a0b0c0d0e0f","verb":"restore","changed":"{}","seen":"{}","message":"m","sent":"{}","records":[RECORD]}]}
    """#,
    .pull: #"{"group":"default","staged":[[12,0,0]],"at":0}"#,
    .rows: #"""
    {"partition":12,"from":[0,0],"to":[57,0],"at":57,"count":1,"sets":[{"entity":"Booking","columns":["id","agency","flight","passenger","seats","price","bookedAt"],"rows":[[1042,"A07",318,"Ada Lovelace",2,"418.5","2026-03-01T09:30:00"]],"left":[[1017]]}]}
    """#,
    .checkpoint: #"""
    {"group":"default","era":"e","version":57,"partitions":[{"partition":12,"cursor":[57,0],"sum":"1","count":2}],"answers":[ANSWER],"rightsVersion":"r","unavailable":[1],"currency":"current","age":1,"load":{"permille":1,"remainingSeconds":1},"waiting":[{"id":"000102030405060708090a0b0c0d0e0f","for":"credential"}]}
    """#,
    .confirm: #"{"group":"default","version":57,"answers":["000102030405060708090a0b0c0d0e0f"]}"#,
    .replay: #"""
    {"operations":[{"id":"000102030405060708090a0b0c0d0e0f"}],"mayHaveRun":["000102030405060708090a0b0c0d0e0f"]}
    """#,
    .stored: #"{"ids":["000102030405060708090a0b0c0d0e0f"],"refused":[ANSWER]}"#,
    .stir:
      #"{"finished":["000102030405060708090a0b0c0d0e0f"],"settings":"v","groups":["default"],"corrections":true}"#,
    .beat: "{}",
    .failure: #"{"code":"internal","message":"m","hint":"h"}"#,
    .report: #"{"records":[RECORD]}"#,
  ]

  private static let record = #"""
    {"component":"Booking","entityKey":"1","code":412,"message":"m","operation":"update","requestId":"000102030405060708090a0b0c0d0e0f","timestamp":1,"level":"error","attribute":"seats","baseValue":"b","currentValue":[1],"constraint":"c","detail":"d","hint":"h"}
    """#

  private static let answer = #"""
    {"id":"000102030405060708090a0b0c0d0e0f","version":1,"method":"replayResult","newKey":"1","again":true,"written":{"price":"1"},"log":[RECORD]}
    """#

  private static let tables: Set<String> = [
    "hello notices", "hello parameters.sets[]", "hello parameters.keys", "hello parameters.changed",
    "welcome operations", "welcome keys", "welcome settings.values", "checkpoint answers.written",
    "stored refused.written",
  ]

  private struct Bound {
    /// Bytes or elements; nil for a text that has one form only.
    let limit: Int?
    let isCut: Bool
    let isForAll: Bool
  }

  private let bounds: [String: Bound]
  private let document: WireDocument

  init() throws {
    document = try WireDocument()
    var bounds: [String: Bound] = [:]
    for row in document.rows["Bounds of messages"] ?? []
    where row.count == 4 && row[0] != "message" {
      let word = row[2].filter { $0 != "`" }
      let limit = WireDocumentTests.limits[word] ?? Int(word)
      #expect(limit != nil || word == "its form", "\(word)")
      let bound = Bound(
        limit: limit, isCut: row[3].hasPrefix("cut"), isForAll: row[3].contains("together"))
      for message in BoundTests.quoted(row[0]) {
        for member in BoundTests.quoted(row[1]) {
          #expect(bounds["\(message) \(member)"] == nil, "\(message) \(member) stands there twice")
          bounds["\(message) \(member)"] = bound
        }
      }
    }
    self.bounds = bounds
  }

  private static func quoted(_ cell: String) -> [String] {
    cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map { String($0.element) }
  }

  /// The form and the member by which Wire.md names a place: an answer is one wherever it stands.
  private static func words(_ kind: Frame.Kind, _ name: String) -> String {
    var (form, member) = ("\(kind)", name)
    for (outer, inner, word) in [
      ("checkpoint", "answers.", "answer"), ("stored", "refused.", "answer"),
      ("answer", "log.", "record"), ("report", "records.", "record"),
      ("welcome", "corrections.records.", "record"),
    ] where form == outer && member.hasPrefix(inner) {
      (form, member) = (word, String(member.dropFirst(inner.count)))
    }
    return "\(form) \(member)"
  }

  private static func sample(_ kind: Frame.Kind) throws -> MessageTree {
    let text = (samples[kind] ?? "").replacing("ANSWER", with: answer)
      .replacing("RECORD", with: record)
    return MessageTree(try JSONNode.parse(Array(text.utf8)))
  }

  private static func places(_ kind: Frame.Kind) throws -> [MessageTree.Place] {
    try sample(kind).places { tables.contains("\(kind) \($0)") }
      // The members of an operation are kept as bytes, which have a bound of their own.
      .filter { kind != .replay || !$0.name.hasPrefix("operations.") }
  }

  private struct Unreadable: Error {}

  /// The bytes that are kept of a message; nil where it is refused.
  private static func kept(_ kind: Frame.Kind, _ tree: MessageTree) -> Int? {
    guard let message = try? Message(Frame(kind, tree.json)) else { return nil }
    guard case .rows(let page) = message else { return message.frame.content.count }
    do {
      try page.read(
        of: Examples.package, wrap: { _ in Unreadable() },
        row: { (_, _, _) throws(Unreadable) in }, left: { (_, _) throws(Unreadable) in })
    } catch { return nil }
    return page.json.count
  }

  @Test("The samples have every member that is written, and every one that Wire.md explains")
  func complete() throws {
    var chance = SeededGenerator(seed: 20_261_127)
    for kind in Frame.Kind.allCases {
      let sample = try BoundTests.sample(kind)
      // What no reader knew would not be written again.
      if kind != .rows {
        let again = try Message(Frame(kind, sample.json)).frame.content
        #expect(again.count == sample.json.count, "\(kind)")
      }
      let known = Set(try BoundTests.places(kind).map { BoundTests.words(kind, $0.name) })
      let text = String(decoding: sample.json, as: UTF8.self)
      for name in document.names("\(kind)") where kind != .failure && kind != .replay {
        #expect(text.contains("\"\(name)\":"), "\(kind) has no \(name)")
      }
      for _ in 0..<50 {
        for message in try chance.messages() where message.frame.kind == kind {
          let tree = MessageTree(try JSONNode.parse(message.frame.content))
          for place in tree.places(isTable: { BoundTests.tables.contains("\(kind) \($0)") })
          where kind != .replay && kind != .rows {
            let words = BoundTests.words(kind, place.name)
            #expect(known.contains(words), "\(words)")
          }
        }
      }
    }
  }

  @Test("The table in Wire.md names every text, list and table of the messages, and no others")
  func table() throws {
    var found: Set<String> = []
    for kind in Frame.Kind.allCases {
      for place in try BoundTests.places(kind) { found.insert(BoundTests.words(kind, place.name)) }
    }
    let named = Set(bounds.keys.filter { !$0.hasPrefix("POST ") })
    #expect(found.subtracting(named).sorted() == [])
    #expect(named.subtracting(found).sorted() == [])
  }

  @Test(
    "A text within its bound is read; one byte more is refused or cut",
    arguments: Frame.Kind.allCases)
  func texts(kind: Frame.Kind) throws {
    let sample = try BoundTests.sample(kind)
    let usual = sample.json.count
    for place in try BoundTests.places(kind) {
      guard case .text = place.tree, let bound = bounds[BoundTests.words(kind, place.name)] else {
        continue
      }
      func kept(_ count: Int) -> Int? {
        let text = String(repeating: "x", count: count)
        return BoundTests.kept(kind, sample.replacing(place.steps, with: .text(text)))
      }
      guard let limit = bound.limit else {
        #expect(kept(1 << 20) ?? 0 <= usual, "\(kind) \(place.name)")
        continue
      }
      // All records of a report have a bound together, which is lower.
      let most = kind == .report ? min(limit, WireLimits.reportBytes - usual) : limit
      #expect(kept(bound.isForAll ? most / 2 : most) != nil, "\(kind) \(place.name) of \(most)")
      for count in [limit + 1, max(limit + 1, 1 << 20)] {
        let more = kept(count)
        if bound.isCut {
          #expect(more ?? 0 <= usual + limit, "\(kind) \(place.name) of \(count)")
        } else {
          #expect(more == nil, "\(kind) \(place.name) of \(count)")
        }
      }
    }
  }

  @Test(
    "A list within its bound is read; one element more is refused",
    arguments: Frame.Kind.allCases)
  func lists(kind: Frame.Kind) throws {
    let sample = try BoundTests.sample(kind)
    for place in try BoundTests.places(kind) {
      guard let bound = bounds[BoundTests.words(kind, place.name)] else { continue }
      func kept(_ count: Int) -> Int? {
        let longer: MessageTree
        switch place.tree {
        case .list(let elements):
          let element = String(decoding: (elements.first ?? .other("1")).json, as: UTF8.self)
          longer = .other("[" + String(repeating: element + ",", count: count - 1) + element + "]")
        case .table(let members):
          let value = members.first?.value ?? .other("1")
          longer = .table(
            (0..<count).map { number in
              let digits = String(number, radix: 16)
              // Where a name must be an id, any other is refused for that.
              let zeros = String(repeating: "0", count: kind == .welcome ? 32 - digits.count : 0)
              return (zeros + digits, value)
            })
        case .text, .other: return nil
        }
        return BoundTests.kept(kind, sample.replacing(place.steps, with: longer))
      }
      // The bytes of a value, as many as a row has: the bound of the frame is near.
      if case .text = place.tree { continue }
      if let limit = bound.limit, limit > 1_000_000 { continue }
      guard let limit = bound.limit else {
        #expect(kept(200_000) == nil, "\(kind) \(place.name)")
        continue
      }
      if !bound.isForAll {
        #expect(kept(limit) != nil, "\(kind) \(place.name) of \(limit)")
      }
      #expect(kept(limit + 1) == nil, "\(kind) \(place.name) of \(limit + 1)")
    }
  }

  @Test("A name in a table of a message has a bound, too", arguments: Frame.Kind.allCases)
  func names(kind: Frame.Kind) throws {
    let sample = try BoundTests.sample(kind)
    for place in try BoundTests.places(kind) {
      guard case .table(let members) = place.tree, let value = members.first?.value else {
        continue
      }
      for (count, isRead) in [(WireLimits.nameBytes, true), (WireLimits.nameBytes + 1, false)] {
        let longer = MessageTree.table([(String(repeating: "n", count: count), value)])
        let kept = BoundTests.kept(kind, sample.replacing(place.steps, with: longer))
        // The names of these are ids of operations.
        let isAllowed = isRead && place.name != "operations"
        #expect((kept != nil) == isAllowed, "\(kind) \(place.name) of \(count)")
      }
    }
  }

  @Test("Who sends too much is told of what, and how much is allowed")
  func message() throws {
    let sample = try BoundTests.sample(.hello)
    let place = try #require(try BoundTests.places(.hello).first { $0.name == "incarnation" })
    let long = sample.replacing(place.steps, with: .text(String(repeating: "x", count: 15 << 20)))
    do {
      _ = try Message(Frame(.hello, long.json))
      Issue.record("it was read")
    } catch {
      #expect("\(error)".contains("incarnation has 15728640 bytes; 64 are allowed"))
    }
  }

  @Test("A text is cut between two characters, and one that is short enough is not")
  func cut() throws {
    let sample = try BoundTests.sample(.failure)
    let place = try #require(try BoundTests.places(.failure).first { $0.name == "message" })
    for (text, bytes) in [
      (String(repeating: "é", count: 8_192), 16_384),
      ("x" + String(repeating: "é", count: 8_192), 16_383),
      ("xy" + String(repeating: "🛫", count: 8_192), 16_382),
    ] {
      let message = try Message(
        Frame(.failure, sample.replacing(place.steps, with: .text(text)).json))
      guard case .failure(let failure) = message else { return }
      #expect(failure.message.utf8.count == bytes)
      #expect(text.utf8.starts(with: failure.message.utf8))
    }
  }
}
