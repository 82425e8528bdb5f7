import FerryConnector
import FerryCrypto
import FerryModel

extension ConnectorSuite {
  /// Big values, for connectors that keep such: others pass unseen.
  public static let contents: [ConnectorCase] = [
    contentCase("Contents are written with their row and read in any stretch") { proof in
      let report = longText
      let created = proof.document(.create, ["scan": longScan, "report": report])
      let (outcomes, touched) = proof.perform(created)
      proof.equal(outcomes, [.accepted(key: paper)], "outcome")
      let wanted: [AttributeValue] = [.integer(7), .text("Paper"), longScan.value, report.value]
      proof.equal(touched.map(\.values), [wanted], "the row touched")
      try proof.restart()
      proof.equal(try proof.loaded()["Document"]?.map(\.values), [wanted], "the row loaded")
      for bytes in [longScan, report] {
        let position = bytes == report ? 3 : 2
        let piece = ConnectorContent.pieceBytes
        for (offset, count) in [
          (0, 10), (1, piece), (piece - 3, 7), (bytes.count - 5, 100), (bytes.count, 9),
          (bytes.count + 1_000_000, 9),
        ] {
          proof.equal(
            try proof.stretch(position, offset, count),
            Array(bytes.dropFirst(offset).prefix(count)),
            "\(count) bytes of attribute \(position) from \(offset) on")
        }
      }
    },
    contentCase("What has no content gives none, and neither does a row that is not there") {
      proof in
      _ = proof.perform(proof.document(.create, ["scan": []]))
      proof.equal(try proof.stretch(2, 0, 9), [], "an empty content")
      proof.equal(try proof.stretch(3, 0, 9), nil, "a content that is null")
      let nobody = try proof.connector.content(
        document, key: ObjectKey([.integer(99)]), position: 2, offset: 0, count: 9)
      proof.equal(nobody, nil, "a content of nobody")
    },
    contentCase("A content is replaced by a shorter, a longer and an empty one, and taken away") {
      proof in
      var before = Array("first".utf8)
      _ = proof.perform(proof.document(.create, ["scan": before, "report": before]))
      for next in [Array("2.".utf8), longText, []] {
        let (outcomes, _) = proof.perform(
          proof.document(.update, ["scan": next, "report": next], base: before))
        proof.equal(outcomes, [.accepted(key: paper)], "outcome")
        proof.equal(try proof.row(document, paper)?.suffix(2), [next.value, next.value], "values")
        proof.equal(try proof.stretch(2, 0, next.count + 9), next, "the scan")
        proof.equal(try proof.stretch(3, 0, next.count + 9), next, "the report")
        before = next
      }
      let (outcomes, touched) = proof.perform(
        proof.operation(
          .update, document, paper, ["scan": .null, "report": .null],
          base: ["scan": before.value, "report": before.value]))
      proof.equal(outcomes, [.accepted(key: paper)], "outcome")
      proof.equal(touched.first?.values?.suffix(2), [.null, .null], "values")
      proof.equal(try proof.stretch(3, 0, 9), nil, "the report")
    },
    contentCase("A content that others have replaced is a conflict, told with both references") {
      proof in
      let there = Array("what is there".utf8)
      let based = Array("what it was based on".utf8)
      _ = proof.perform(proof.document(.create, ["report": there]))
      let refusal = proof.refusal(
        of: proof.document(.update, ["report": Array("new".utf8)], base: based), code: 412)
      proof.equal(refusal?.attribute, "report", "attribute")
      proof.equal(refusal?.baseValue, based.value, "base value")
      proof.equal(refusal?.currentValue, there.value, "current value")
      proof.equal(try proof.stretch(3, 0, 99), there, "the report")
    },
    contentCase("A content that ends in the middle leaves the old value and may be sent again") {
      proof in
      let old = Array("old".utf8)
      _ = proof.perform(proof.document(.create, ["scan": old, "report": old]))
      for name in ["scan", "report"] {
        let new = longText
        let torn = proof.document(.update, [name: new], base: old, endsAt: new.count / 2)
        if case .done(let outcomes, _) = proof.connector.perform([torn]) {
          proof.expect(false, "a torn \(name) was answered: \(outcomes)")
        }
        proof.equal(
          try proof.row(document, paper)?.suffix(2), [old.value, old.value], "values of old")
        proof.equal(try proof.stretch(name == "scan" ? 2 : 3, 0, 99), old, "the \(name)")
      }
      let whole = proof.document(.update, ["scan": longScan, "report": longText], base: old)
      proof.equal(proof.perform(whole).outcomes, [.accepted(key: paper)], "outcome of the whole")
      proof.equal(
        try proof.row(document, paper)?.suffix(2), [longScan.value, longText.value], "new values")
    },
    contentCase("A text that is not UTF-8 is refused by its name; bytes may be anything") { proof in
      let old = Array("old".utf8)
      _ = proof.perform(proof.document(.create, ["scan": old, "report": old]))
      var cut = longText
      // The first byte of a character, with the end of the text behind it.
      cut.append(0xC3)
      var wrong = longText
      wrong[ConnectorContent.pieceBytes + 1] = 0xFF
      for bytes in [cut, wrong, [0xED, 0xA0, 0x80], [0xC0, 0xAF]] {
        let refusal = proof.refusal(
          of: proof.document(.update, ["report": bytes], base: old), code: 422)
        proof.equal(refusal?.attribute, "report", "attribute")
        proof.expect(
          refusal?.message.contains("report") == true && refusal?.message.contains("UTF-8") == true,
          "the message says not what is wrong: \(refusal?.message ?? "")")
        proof.equal(try proof.stretch(3, 0, 99), old, "the report")
      }
      let (outcomes, _) = proof.perform(proof.document(.update, ["scan": wrong], base: old))
      proof.equal(outcomes, [.accepted(key: paper)], "outcome of bytes")
      proof.equal(try proof.stretch(2, 0, wrong.count), wrong, "the scan")
    },
    contentCase("A refusal in a group leaves no content of it, where the group is a whole") {
      proof in
      guard proof.stage.isTransactional else { return }
      let (outcomes, _) = proof.perform(
        proof.document(.create, ["scan": longScan, "report": longText]),
        proof.operation(
          .create, booking, nil, ["flightID": .integer(18), "passenger": .text("Cleo")]))
      proof.equal(outcomes.first, .notTried, "the document")
      proof.equal(try proof.row(document, paper), nil, "row")
      proof.equal(try proof.stretch(2, 0, 9), nil, "the scan")
    },
  ]

  private static func contentCase(
    _ description: String, _ body: @escaping @Sendable (ConnectorProof) throws -> Void
  ) -> ConnectorCase {
    ConnectorCase(description) { proof in
      if proof.stage.keepsContents { try body(proof) }
    }
  }

  fileprivate static let paper: ObjectKey = ObjectKey([.integer(7)])

  /// Longer than two stretches.
  private static let longScan: [UInt8] = Array(
    (0..<75_000).map { (number: Int) -> [UInt8] in
      (0..<8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }.joined())

  /// Characters of two bytes at odd places: the ends of stretches cut them.
  private static let longText: [UInt8] = Array(
    ("x" + String(repeating: "Ä", count: 300_000)).utf8)
}

extension ConnectorProof {
  /// An operation on the one document; `base` is what both its values were, where that is said.
  fileprivate func document(
    _ kind: OperationKind, _ bytes: [String: [UInt8]], base: [UInt8]? = nil, endsAt end: Int = .max
  ) -> ConnectorOperation {
    var changed: [String: AttributeValue] = bytes.mapValues(\.value)
    if kind == .create { changed["title"] = .text("Paper") }
    var contents: [String: ConnectorContent] = [:]
    for (name, bytes) in bytes {
      contents[name] = ConnectorContent(bytes.reference) { offset, count throws(ConnectorError) in
        Array(bytes.prefix(end).dropFirst(Int(offset)).prefix(count))
      }
    }
    let positions = Dictionary(
      uniqueKeysWithValues: contents.map {
        (ConnectorSuite.document.position(of: $0.key) ?? -1, $0.value)
      })
    return operation(
      kind, ConnectorSuite.document, ConnectorSuite.paper, changed,
      base: base.map { base in bytes.mapValues { _ in base.value } } ?? [:], contents: positions)
  }

  fileprivate func stretch(_ position: Int, _ offset: Int, _ count: Int) throws -> [UInt8]? {
    try connector.content(
      ConnectorSuite.document, key: ConnectorSuite.paper, position: position,
      offset: Int64(offset), count: count)
  }
}

extension [UInt8] {
  fileprivate var reference: BigReference {
    BigReference(sizeBytes: Int64(count), digest: hexadecimal(SHA256Digest.hash(self)))
  }

  /// What a row has for a content of these bytes.
  fileprivate var value: AttributeValue { .text(reference.description) }
}
