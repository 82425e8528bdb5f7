import FerryCrypto
import FerryJSON
import FerryModel
import FerryTestTraits
import FerryWire
import Testing

@Suite("Wire.md prints what travels")
struct WireDocumentTests {
  private let document: WireDocument

  init() throws { document = try WireDocument() }

  private func json(_ name: String) throws -> [UInt8] {
    Array(try #require(document.block("json", name)).text.utf8)
  }

  private func message(_ kind: Frame.Kind) throws -> Message {
    try Message(Frame(kind, try json("\(kind)")))
  }

  private struct Told: Error {}

  @Test("The example of each message is read, and is written with the very same bytes")
  func examples() throws {
    for kind in Frame.Kind.allCases {
      let printed = try json("\(kind)")
      let message = try Message(Frame(kind, printed))
      guard case .rows(let page) = message else {
        #expect(String(decoding: message.frame.content, as: UTF8.self) == text(printed))
        continue
      }
      var writer = RowsPageWriter()
      try page.read(
        of: Examples.package, wrap: { _ in Told() },
        row: { (entity, values, _) throws(Told) in
          writer.row(entity, body: RowCoder.encode(values))
        }, left: { (entity, key) throws(Told) in writer.left(entity, key: key) })
      let again = writer.json(
        partition: page.partition, from: page.from, to: page.to, at: page.at)
      #expect(text(again) == text(printed))
    }
  }

  @Test("The examples of operations are read, and are written with the very same bytes")
  func operations() throws {
    guard case .replay(let replay) = try message(.replay) else { return }
    let printed = [try json("operation create"), try json("operation delete")]
    for bytes in replay.operations + printed {
      let operation = try Operation(bytes, in: Examples.package)
      #expect(text(operation.encoded(for: Examples.booking)) == text(bytes))
    }
    let kinds = try (replay.operations + printed).map { try Operation($0, in: Examples.package) }
    #expect(Set(kinds.map(\.kind)) == Set(OperationKind.allCases))
  }

  @Test("A new object and its child name one stand-in, which is a temporary key of its type")
  func newObjectsInChain() throws {
    let parent = try Operation(try json("operation parent"), in: Examples.package)
    let child = try Operation(try json("operation child"), in: Examples.package)
    #expect(text(parent.encoded(for: Examples.booking)) == text(try json("operation parent")))
    #expect(text(child.encoded(for: Examples.extra)) == text(try json("operation child")))
    #expect(parent.key == nil && parent.chain == child.chain)
    #expect([parent.position, child.position] == [0, 1])
    let standIn = try #require(parent.changed[0])
    #expect(child.changed[0] == standIn)
    #expect(child.key?.values(of: Examples.extra)?.first == standIn)
    guard case .integer(let number) = standIn else {
      Issue.record("the stand-in is no integer: \(standIn)")
      return
    }
    #expect(number < Int64.min / 2)
  }

  @Test(
    "The example of an answer is read, and is written with the very same bytes",
    .reference("sync/P17"))
  func answer() throws {
    let printed = try json("answer")
    let answer = try Answer(json: printed)
    #expect(text(answer.json) == text(printed))
    #expect(answer.logRecords.first?.requestID == answer.id)
  }

  @Test(
    "The example of a content's progress is read and written the same, its headers too",
    .reference("facts/1.5"))
  func content() throws {
    let printed = try json("content")
    let progress = try #require(ContentProgress(json: printed))
    #expect(progress == ContentProgress(offset: 262_144, sizeBytes: 600_001))
    #expect(text(progress.json) == text(printed))
    let section = try #require(document.sections["Contents of big values"])
    for range in ["bytes 0-262143/600001", "bytes */600001"] {
      #expect(section.contains(range))
      #expect(ContentRange(range)?.text == range)
    }
    #expect(ContentRange("bytes 0-262143/600001")?.count == 262_144)
    for bad in ["bytes 5-4/9", "bytes 0-9/9", "bytes -1-3/9", "bytes 0-1/x", "0-1/9", "bytes 1/9"] {
      #expect(ContentRange(bad) == nil)
    }
    for stretch in ["bytes=262144-1310719", "bytes=12-"] {
      #expect(ContentStretch(stretch)?.text == stretch)
    }
    #expect(ContentStretch(nil) == ContentStretch(start: 0))
    for bad in ["bytes=-12", "bytes=5-4", "bytes=a-", "12-13", "bytes=1-2-3"] {
      #expect(ContentStretch(bad) == nil)
    }
    #expect(ContentStretch("bytes=2-3")?.end(of: 9) == 4)
    #expect(
      ContentDigest.text(of: Array("abc".utf8))
        == "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:")
  }

  @Test("The dumps are frames: the first that of the example beside it, the second compressed")
  func dumps() throws {
    let pull = try #require(document.bytes("pull"))
    let message = try message(.pull)
    #expect(message.frame.encoded() == pull)
    let beat = try #require(document.bytes("beat"))
    #expect(beat[5] == 1)
    let frame = try #require(try FrameReader.frames(of: beat).first)
    #expect(try Message(frame) == .beat)
  }

  @Test("Hashes and sum are those of the page and the checkpoint printed above them")
  func hashes() throws {
    guard case .rows(let page) = try message(.rows),
      case .checkpoint(let checkpoint) = try message(.checkpoint)
    else { return }
    var hashes: [String: Int64] = [:]
    var hashed: [String: [UInt8]] = [:]
    try page.read(
      of: Examples.package, wrap: { _ in Told() },
      row: { (entity, values, hash) throws(Told) in
        let key = entity.key(of: values).text
        hashes[key] = hash
        hashed[key] = Array("Booking\0\(key)\0".utf8) + RowCoder.encode(values)
      }, left: { (_, _) throws(Told) in })
    #expect(hashes.count == 2)
    #expect(document.bytes("hashed") == hashed["1042"])
    let rows = document.rows["Hash and sum"] ?? []
    for (key, hash) in hashes {
      let number = UInt64(bitPattern: hash)
      let digest = hexadecimal(SHA256Digest.hash(hashed[key] ?? []))
      #expect(rows.contains(["`\(key)`", "`\(digest)`", "`\(number)`"]))
      #expect(UInt64(digest.prefix(16), radix: 16) == number)
    }
    let sum = hashes.values.reduce(UInt64(0)) { $0 &+ UInt64(bitPattern: $1) }
    #expect(rows.contains(["sum", "", "`\(sum)`"]))
    #expect(checkpoint.partitions.first?.sum == sum)
    #expect(checkpoint.partitions.first?.count == 2)
    #expect(checkpoint.partitions.first?.cursor == page.to)
  }

  @Test("Every member of every example is explained in the section of its message")
  func members() throws {
    for kind in Frame.Kind.allCases {
      let node = try JSONNode.parse(try json("\(kind)"))
      let inner: Set<String> =
        kind == .checkpoint ? ["written"] : kind == .replay ? [] : ["operations"]
      let known = document.names("\(kind)") + document.names("Answers")
      for name in WireDocumentTests.names(in: node, but: inner) where kind != .failure {
        #expect(known.contains(name), "\(kind) has \(name), which no table explains")
      }
    }
    for name in WireDocumentTests.names(in: try JSONNode.parse(try json("answer"))) {
      #expect(document.names("Answers").contains(name), "an answer has \(name)")
    }
  }

  /// Names of members, not those inside a member that is a table by id, nor of attributes.
  private static func names(in node: JSONNode, but tables: Set<String> = []) -> Set<String> {
    var found: Set<String> = []
    for member in node.object ?? [] {
      found.insert(member.key)
      guard !tables.union(["changed", "base"]).contains(member.key) else { continue }
      found.formUnion(names(in: member.value, but: tables))
    }
    for element in node.array ?? [] { found.formUnion(names(in: element, but: tables)) }
    return found
  }

  @Test("The tokens of the example are the members that the text explains")
  func tokens() throws {
    let node = try JSONNode.parse(try json("tokens"))
    let section = document.sections["HTTP"] ?? ""
    for name in ["accessToken", "refreshToken", "user"] {
      #expect(node[name]?.string?.isEmpty == false)
    }
    #expect(node["expiresIn"]?.integer == 900)
    for word in ["user", "password", "device", "refreshToken", "expiresIn", "message", "hint"] {
      #expect(section.contains("`\(word)`"), "\(word)")
    }
  }

  @Test("The table of kinds is that of the sources")
  func kinds() {
    let rows = (document.rows["Frames"] ?? []).filter { $0[1].hasPrefix("`") && Int($0[0]) != nil }
    #expect(
      rows.map { "\($0[0]) \($0[1])" }
        == Frame.Kind.allCases.map { "\($0.rawValue) `\($0)`" })
  }

  /// Every limit of the table, by its name there.
  static let limits: [String: Int] = [
    "frameBytes": WireLimits.frameBytes, "expandedBytes": WireLimits.expandedBytes,
    "rowBytes": WireLimits.rowBytes, "requestBytes": WireLimits.requestBytes,
    "answersConfirmed": WireLimits.answersConfirmed,
    "parameterBytes": WireLimits.parameterBytes, "parameterSets": WireLimits.parameterSets,
    "idBytes": WireLimits.idBytes, "nameBytes": WireLimits.nameBytes,
    "factBytes": WireLimits.factBytes, "messageBytes": WireLimits.messageBytes,
    "settingBytes": WireLimits.settingBytes, "groupsInMessage": WireLimits.groupsInMessage,
    "writesInRequest": WireLimits.writesInRequest,
    "partitionsInMessage": WireLimits.partitionsInMessage,
    "namesInMessage": WireLimits.namesInMessage,
    "answersInMessage": WireLimits.answersInMessage, "rowsRead": WireLimits.rowsRead,
    "corrections": WireLimits.corrections, "correctionBytes": WireLimits.correctionBytes,
    "pageRows": WireLimits.pageRows, "pageBytes": WireLimits.pageBytes,
    "compressFromBytes": WireLimits.compressFromBytes,
    "operationBytes": WireLimits.operationBytes, "replayBytes": WireLimits.replayBytes,
    "operationsInFlight": WireLimits.operationsInFlight, "nesting": WireLimits.nesting,
    "reportRecords": WireLimits.reportRecords, "reportBytes": WireLimits.reportBytes,
    "reportCharacters": WireLimits.reportCharacters,
    "contentPieceBytes": WireLimits.contentPieceBytes,
    "contentPieceLimit": WireLimits.contentPieceLimit,
    "contentStretchBytes": WireLimits.contentStretchBytes,
  ]

  @Test("The table of limits is that of the sources")
  func limits() {
    let known = WireDocumentTests.limits
    let rows = (document.rows["Frames"] ?? []).filter { known[$0[0].filter { $0 != "`" }] != nil }
    #expect(rows.count == known.count)
    for row in rows { #expect(Int(row[1]) == known[row[0].filter { $0 != "`" }], "\(row)") }
  }

  @Test("Every code of failure and every method of an answer is explained")
  func words() {
    let failures = document.names("failure")
    for code in WireFailure.Code.allCases { #expect(failures.contains(code.rawValue)) }
    let answers = document.names("Answers")
    for method in Answer.Outcome.allCases { #expect(answers.contains(method.rawValue)) }
  }

  @Test("Every method and header field of the reference has its place here")
  func reference() {
    let rows = document.rows["The reference's methods, and ours"] ?? []
    let there = rows.map { $0[0] }.joined(separator: "\n")
    for name in [
      "replay", "replayResult", "replayFailed", "replayFailure", "import", "loginFailed", "id",
      "cid", "ppm", "upa", "pid", "pbi", "mbo", "app", "pkg", "_op", "eisCode", "messageId",
    ] {
      #expect(there.contains("`\(name)`"), "\(name)")
    }
    for words in ["log record", "subscription", "acceptance", "rejection", "push message"] {
      #expect(there.contains(words), "\(words)")
    }
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
