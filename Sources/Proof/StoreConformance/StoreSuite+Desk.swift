import FerryJSON
import FerryModel
import FerryServer
import FerryWire

extension StoreSuite {
  private static func correction(
    _ letter: String, of operation: OperationID, _ verb: Correction.Verb = .release
  ) -> StoredCorrection {
    var correction = StoredCorrection(
      id: id(letter), operation: operation, owner: ada, verb: verb)
    correction.changed = #"{"text":"\u0000"}"#
    correction.seen = #"{"text":null}"#
    correction.message = "a\u{0}b"
    correction.madeBy = "anna"
    correction.reason = "why"
    correction.made = 5
    return correction
  }

  private static func id(_ letter: String) -> OperationID {
    guard let id = OperationID(String(repeating: letter, count: 32)) else {
      preconditionFailure("\(letter) is no hexadecimal digit")
    }
    return id
  }

  private static func find(
    _ store: any Store, _ change: (inout DeskFilter) -> Void
  ) throws -> [OperationID] {
    var filter = DeskFilter()
    change(&filter)
    return try store.deskOperations(filter, before: nil, count: 10).map(\.id)
  }

  /// Two operations of one device; the first one is refused and confirmed.
  private static func refused(_ proof: StoreProof) throws -> (OperationID, OperationID) {
    let store = proof.store
    let (one, two) = (id("1"), id("2"))
    for (id, key) in [(one, Int64(1)), (two, 2)] {
      let operation = Operation(
        id: id, chain: id, entity: "Item", kind: .update, key: ObjectKey([.integer(key)]),
        changed: [1: .text("new")], base: [1: .null])
      _ = try store.receive([
        NewOperation(
          operation: operation, bytes: operation.encoded(for: item), hash: [1], owner: ada,
          roles: [], claims: [:], mayHaveRun: false)
      ])
    }
    try store.numbered { transaction throws(StoreError) in
      try store.answer(
        [
          Answer(
            id: one, version: transaction.version, outcome: .replayFailed, newKey: nil,
            logRecords: [])
        ], transaction)
    }
    try store.confirm([one], upTo: try store.clock(), user: "ada")
    return (one, two)
  }

  private static func report(
    _ letter: String, _ level: LogRecord.Level, _ component: String
  )
    -> StoredReport
  {
    let record = LogRecord(
      component: component, entityKey: "", code: 500, message: "a\u{0}b", operation: nil,
      requestID: id(letter), timestamp: 1, level: level)
    var writer = JSONWriter()
    writer.logRecord(record)
    return StoredReport(id: record.requestID, level: level, json: writer.text)
  }

  private static let reports = StoreCase(
    "Log records of devices are found by level, component, owner and id, the newest first"
  ) { proof in
    let store = proof.store
    try store.keep(
      [report("1", .info, "Item"), report("2", .error, "Item\""), report("3", .warn, "It")],
      from: ada, perDevice: 10, perUser: 10)
    try store.keep([report("4", .debug, "Item")], from: ben, perDevice: 10, perUser: 10)
    func look(
      before number: Int64? = nil, _ change: (inout DeviceReport.Question) -> Void
    ) throws -> [DeviceReport] {
      var question = DeviceReport.Question()
      change(&question)
      return try store.reports(question, before: number)
    }
    func letters(_ found: [DeviceReport]) -> String {
      found.map { String($0.record.requestID.text.prefix(1)) }.joined()
    }
    proof.expectEqual(letters(try look { _ in }), "4321", "all")
    proof.expectEqual(letters(try look { $0.atLeast = .warn }), "32", "grave ones")
    proof.expectEqual(letters(try look { $0.component = "Item" }), "41", "of one component")
    proof.expectEqual(letters(try look { $0.component = "Item\"" }), "2", "one with a quote")
    proof.expectEqual(letters(try look { $0.user = "ben" }), "4", "of a user")
    proof.expectEqual(letters(try look { $0.device = ben.device.text }), "4", "of a device")
    proof.expectEqual(letters(try look { $0.id = id("2") }), "2", "by its id")
    let page = try look { $0.take = 2 }
    proof.expectEqual(letters(page), "43", "the first page")
    proof.expectEqual(
      letters(try look(before: page.last?.number) { $0.take = 2 }), "21", "the next page")
    proof.expectEqual(page.last?.record.message, "a\u{0}b", "the record is whole")
  }

  static let desk: [StoreCase] = [
    reports,
    StoreCase("A refused operation stays whole for an operator until its days are over") { proof in
      let store = proof.store
      let (one, two) = try refused(proof)
      proof.expectEqual(try find(store) { _ in }, [two, one], "the newest first")
      proof.expectEqual(try find(store) { $0.isOpen = true }, [one], "what waits for an operator")
      proof.expectEqual(try find(store) { $0.state = .waiting }, [two], "what waits")
      proof.expectEqual(try find(store) { $0.state = .refused }, [one], "what was refused")
      proof.expectEqual(try find(store) { $0.user = "ben" }, [], "another user's")
      proof.expectEqual(try find(store) { $0.key = "2" }, [two], "those of an object")
      let known = try store.deskOperations(DeskFilter(), before: nil, count: 10).last
      proof.expect(known?.payload != nil && known?.answer != nil, "it is whole")
      let page = try store.deskOperations(DeskFilter(), before: known?.sequence, count: 10)
      proof.expectEqual(page.count, 0, "behind the last")
      proof.expectEqual(
        try store.deskCounts(), DeskCounts(waiting: 1, refused: 1), "how many there are")
      var device = RegisteredDevice(user: "ada", device: "phone")
      device.lastSeen = 9
      try store.keep(device)
      device = RegisteredDevice(user: "ben", device: "phone")
      (device.lastSeen, device.state) = (20, .locked)
      try store.keep(device)
      proof.expectEqual(
        try store.deviceCounts(since: 10), DeviceCounts(all: 2, recent: 1, ended: 1), "devices")
      try store.numbered { _ throws(StoreError) in
        try store.emptyRefused(afterDays: 30, before: 0)
      }
      proof.expectEqual(try find(store) { $0.isOpen = true }, [one], "its days are not over")
      for _ in 0..<3 {
        proof.stage.advance(days: 1)
        try store.countDay()
      }
      try store.numbered { _ throws(StoreError) in
        try store.emptyRefused(afterDays: 1, before: 0)
      }
      proof.expectEqual(try find(store) { $0.isOpen = true }, [], "its days are over")
      let emptied = try store.deskOperations(DeskFilter(), before: nil, count: 10).last
      proof.expect(emptied?.payload == nil && emptied?.answer == nil, "it is emptied")
      proof.expectEqual(try store.known([one])[0]?.outcome, .replayFailed, "it is remembered")
    },
    StoreCase("What an operator discarded stays whole for its own days, and can be restored") {
      proof in
      let store = proof.store
      let (one, _) = try refused(proof)
      func end(_ letter: String, _ verb: Correction.Verb, at moment: Int64) throws {
        var made = correction(letter, of: one, verb)
        made.made = moment - 1
        proof.expectEqual(try store.add(made), true, "\(verb) is written down")
        _ = try store.end(made.id, of: ada, as: .taken, detail: "", became: nil, at: moment)
      }
      try end("a", .discard, at: 20)
      proof.expectEqual(try find(store) { $0.isOpen = true }, [], "nobody has to look at it")
      proof.expectEqual(try find(store) { $0.isDiscarded = true }, [one], "it was discarded")
      for _ in 0..<3 {
        proof.stage.advance(days: 1)
        try store.countDay()
      }
      try store.numbered { _ throws(StoreError) in
        try store.emptyRefused(afterDays: 1, before: 20)
      }
      proof.expectEqual(try find(store) { $0.isDiscarded = true }, [one], "it is kept")
      try end("b", .restore, at: 30)
      proof.expectEqual(try find(store) { $0.isDiscarded = true }, [], "it was restored")
      proof.expectEqual(try find(store) { $0.isOpen = true }, [one], "it waits for an operator")
      try end("c", .discard, at: 40)
      proof.expectEqual(try find(store) { $0.isOpen = true }, [], "it was discarded again")
      proof.expectEqual(try find(store) { $0.isDiscarded = true }, [one], "and is kept again")
      try store.numbered { _ throws(StoreError) in
        try store.emptyRefused(afterDays: 1, before: 41)
      }
      proof.expectEqual(try find(store) { $0.isDiscarded = true }, [], "its days are over")
      let emptied = try store.deskOperations(DeskFilter(), before: nil, count: 10).last
      proof.expect(emptied?.payload == nil, "it is emptied")
    },
    StoreCase("One correction of an operation is open at a time, and it ends once") { proof in
      let store = proof.store
      let (one, _) = try refused(proof)
      let first = correction("a", of: one)
      proof.expectEqual(try store.add(first), true, "the first")
      proof.expectEqual(try store.add(correction("b", of: one)), false, "a second one")
      proof.expectEqual(try store.corrections(of: [one]), [first], "as it was made")
      proof.expectEqual(try store.openCorrections(of: ada, count: 10), [first], "those of a device")
      proof.expectEqual(try store.openCorrections(of: ben, count: 10), [], "of another device")
      func end(_ owner: Owner) throws(StoreError) -> StoredCorrection? {
        try store.end(
          first.id, of: owner, as: .taken, detail: "d\u{0}", became: id("c"), at: 9)
      }
      proof.expect(try end(ben) == nil, "another device ends nothing")
      let ended = try end(ada)
      proof.expectEqual(ended?.state, .taken, "its end")
      proof.expectEqual(ended?.became, id("c"), "what it became")
      proof.expectEqual(ended?.detail, "d\u{0}", "what the device said")
      proof.expect(try end(ada) == nil, "it ends once")
      proof.expectEqual(try store.openCorrections(of: ada, count: 10), [], "none is open")
      proof.expectEqual(try find(store) { $0.isOpen = true }, [], "an operator has done with it")
      let second = correction("b", of: one, .discard)
      proof.expectEqual(try store.add(second), true, "another one after its end")
      try store.numbered { _ throws(StoreError) in
        try store.emptyRefused(afterDays: 1_000, before: 10)
      }
      proof.expectEqual(try store.corrections(of: [one]), [second], "an old one is forgotten")
    },
  ]
}
