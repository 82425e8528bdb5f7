import FerryConnector
import FerryModel
import FerryServer

extension StoreSuite {
  private static func staged(_ key: Int64, _ text: String, _ moment: Int64) -> StagedRow {
    StagedRow(name(key), body: Array("[\(key),\"\(text)\"]".utf8), moment: moment)
  }

  static let loads: [StoreCase] = [
    StoreCase("Of rows that a load brings twice the last one is kept; what is applied goes") {
      proof in
      let store = proof.store
      try store.emptyStage()
      try store.stage([staged(1, "old", 1), staged(2, "b", 2), staged(1, "new", 3)])
      try store.stage([staged(2, "c", 4), staged(3, "d", 5)])
      let rows = try store.nextStaged(limit: 2)
      proof.expectEqual(rows.map(\.name.key.text), ["1", "2"], "the first rows")
      proof.expectEqual(
        rows.map { String(decoding: $0.body, as: UTF8.self) }, ["[1,\"new\"]", "[2,\"c\"]"],
        "the last form of rows")
      proof.expectEqual(rows.map(\.moment), [3, 4], "their moments")
      try store.numbered { _ throws(StoreError) in try store.dropStaged(rows.map(\.name)) }
      proof.expectEqual(try store.nextStaged(limit: 9).map(\.name.key.text), ["3"], "what is left")
      try store.emptyStage()
      proof.expectEqual(try store.nextStaged(limit: 9).count, 0, "an empty stage")
    },
    StoreCase("The first load makes partitions ready, with one number; the next ones do not") {
      proof in
      let store = proof.store
      let partition = try proof.put(1...2, in: place("A"))
      proof.expectEqual(try store.isLoaded(), false, "before the first load")
      let before = try state(store, partition)
      proof.expectEqual(before?.isLoaded, false, "a partition before the first load")
      try store.stage(rejected: [
        RejectedRow(entity: "Item", key: "9", attribute: "text", reason: "too \"long\"")
      ])
      let fresh = try store.numbered { transaction throws(StoreError) in
        try store.closeLoad(transaction)
      }
      proof.expectEqual(fresh, [partition], "the partitions that were not loaded before")
      proof.expectEqual(try store.isLoaded(), true, "after the first load")
      let after = try state(store, partition)
      proof.expectEqual(after?.isLoaded, true, "a partition after the first load")
      proof.expectEqual(after?.version, try store.clock(), "its number")
      proof.expectEqual(
        try store.explain("Item", "9").rejectedReason, "text: too \"long\"", "a rejected row")
      let clock = try store.clock()
      let none = try store.numbered { transaction throws(StoreError) in
        try store.closeLoad(transaction)
      }
      proof.expectEqual(none, [], "the partitions after a second load")
      proof.expectEqual(try store.clock(), clock, "the clock after a second load")
      proof.expectEqual(try store.explain("Item", "9").rejectedReason, nil, "rejected before")
    },
    StoreCase("A row that is left out is noted once, counted, and forgotten when it fits") {
      proof in
      let store = proof.store
      func row(_ key: String, _ reason: String) -> RejectedRow {
        RejectedRow(entity: "Item", key: key, attribute: "text", reason: reason)
      }
      func note(_ rows: [RejectedRow], _ fitting: [String] = []) throws {
        try store.numbered { _ throws(StoreError) in
          try store.note(
            rejected: rows,
            fitting: fitting.map { ObjectName(entity: "Item", key: ObjectKey(text: $0)) })
        }
      }
      proof.expectEqual(try store.rejectedRows(), RejectedRows(), "rows left out at first")
      try note([row("1", "first"), row("\"a \\\"b\\\"\"", "second")])
      try note([row("1", "third")], ["2"])
      proof.expectEqual(try store.rejectedRows().count, 2, "rows left out")
      proof.expectEqual(try store.explain("Item", "1").rejectedReason, "text: third", "the reason")
      try note([], ["\"a \\\"b\\\"\""])
      proof.expectEqual(
        try store.rejectedRows(), RejectedRows(count: 1, example: row("1", "third")), "the rest")
      try note([], ["1"])
      proof.expectEqual(try store.rejectedRows(), RejectedRows(), "rows left out in the end")
      proof.expectEqual(try store.explain("Item", "1").rejectedReason, nil, "no reason any more")
    },
    StoreCase("Rows that a load did not see are found by partition") { proof in
      let store = proof.store
      let (a, b) = (try proof.put(1...3, in: place("A")), try proof.put(4...5, in: place("B")))
      var ids: [Int64: Int64] = [:]
      for key in 1...5 as ClosedRange<Int64> { ids[key] = try store.row(name(key))?.id }
      let seen: Set<Int64> = Set([2, 4, 5].compactMap { ids[$0] })
      let absent = try store.absentRows(of: nil) { seen.contains($0) }
      proof.expectEqual(absent.map(\.partition), [a], "partitions with absent rows")
      proof.expectEqual(absent.first?.rows, [1, 3].compactMap { ids[$0] }, "absent rows")
      proof.expectEqual(absent.first?.live, 3, "rows of the partition")
      proof.expectEqual(
        try store.absentRows(of: [0]) { _ in false }.map(\.partition), [a, b], "all absent")
      proof.expectEqual(
        try store.absentRows(of: [1]) { _ in false }.map(\.partition), [], "of another entity")
      proof.expectEqual(try store.name(ofRow: ids[3] ?? 0)?.name, name(3), "the name of a row")
    },
    StoreCase("Rows of a first load enter their partitions; a name that is taken stays as it is") {
      proof in
      let store = proof.store
      proof.expectEqual(try store.hasRow(of: 0), false, "rows before")
      let partition = try proof.put(5...5, in: place("A"))
      let before = try state(store, partition)
      func new(_ key: Int64, _ partition: Int64?, _ text: String) -> NewRow {
        let body = Array("[\(key),\"\(text)\"]".utf8)
        return NewRow(
          name: name(key), parentKey: nil, partition: partition, body: body, hash: hash(body),
          alternates: [NewRow.Alternate(attributes: "1", key: ObjectKey([.text(text)]))])
      }
      let rows = [
        new(1, partition, "a"), new(5, partition, "taken"), new(2, nil, "nobody's"),
        new(1, partition, "twice"), new(3, partition, "c"),
      ]
      let (numbers, version) = try store.numbered { transaction throws(StoreError) in
        (try store.insert(rows, transaction), transaction.version)
      }
      proof.expectEqual(
        numbers.map { $0 != nil }, [true, false, true, false, true], "what was written")
      proof.expectEqual(try store.row(name(1))?.id, numbers[0], "the number of a row")
      proof.expectEqual(
        try store.rows([name(2), name(1), name(77), name(1)]).mapValues(\.id),
        [name(1): numbers[0], name(2): try store.row(name(2))?.id].compactMapValues { $0 },
        "the numbers of many")
      proof.expectEqual(try store.row(name(1))?.body, rows[0].body, "of two rows the first")
      proof.expectEqual(try store.row(name(1))?.version, version, "the version of a row")
      proof.expectEqual(try store.row(name(2))?.partition, nil, "a row that is nobody's")
      proof.expect(try store.row(name(5))?.body != rows[1].body, "a row whose name was taken")
      let after = try state(store, partition)
      proof.expectEqual(after?.count, 3, "rows of the partition")
      proof.expectEqual(after?.version, version, "its version")
      let sum =
        (before?.sum ?? 0) &+ UInt64(bitPattern: rows[0].hash)
        &+ UInt64(bitPattern: rows[4].hash)
      proof.expectEqual(after?.sum, sum, "its sum")
      let found = try store.parents(ParentName(0, attributes: "1", ObjectKey([.text("c")])))
      proof.expectEqual(found.map(\.id), [numbers[4] ?? 0], "what children find")
      let none = try store.parents(ParentName(0, attributes: "1", ObjectKey([.text("twice")])))
      proof.expectEqual(none.count, 0, "what children find of a row that was not written")
      proof.expectEqual(try store.hasRow(of: 0), true, "rows after")
      proof.expectEqual(try store.hasRow(of: 1), false, "rows of another entity")
      let clock = try store.clock()
      _ = try store.numbered { transaction throws(StoreError) in
        try store.insert([rows[0]], transaction)
      }
      proof.expectEqual(try store.clock(), clock, "the clock where every name was taken")
    },
    StoreCase("The business system's cursor is kept") { proof in
      proof.expectEqual(try proof.store.sourceCursor(), nil, "before the first")
      try proof.store.keep(sourceCursor: "10:20:")
      try proof.store.keep(sourceCursor: "11:22:14,15")
      try proof.reopen()
      proof.expectEqual(try proof.store.sourceCursor(), "11:22:14,15", "after a start")
    },
  ]

  static func state(_ store: any Store, _ partition: Int64) throws -> PartitionState? {
    try store.snapshot { view throws(StoreError) in try view.partition(partition) }
  }

  static let upkeep: [StoreCase] = [
    StoreCase("Purged leaves raise the floor; rows that nobody remembers go with them") { proof in
      let store = proof.store
      let partition = try proof.put(1...4, in: place("A"))
      var changes = CacheChanges()
      for key in 1...2 as ClosedRange<Int64> {
        try proof.change(key, nil, from: .known(partition), to: nil, &changes)
      }
      let gone = try proof.apply(changes)
      try proof.put(5...5, in: place("A"))
      proof.expectEqual(try store.leftPartitions().map(\.left), [2], "what has left")
      proof.expectEqual(try store.leftPartitions().map(\.rows), [3], "what is there")
      proof.expectEqual(try store.leave(of: partition, after: 1), gone, "the second leave")
      proof.expectEqual(try store.leave(of: partition, after: 2), nil, "a third leave")
      let purged = try store.numbered { transaction throws(StoreError) in
        let none = try store.purgeLeaves(of: partition, upTo: gone - 1, transaction)
        proof.expectEqual(none, 0, "leaves before")
        proof.expectEqual(transaction.hasWritten, false, "nothing was purged")
        let leaves = try store.purgeLeaves(of: partition, upTo: gone, transaction)
        return (leaves, try store.purgeRows(upTo: transaction.version))
      }
      proof.expectEqual(purged.0, 2, "purged leaves")
      proof.expectEqual(purged.1, 2, "purged rows")
      proof.expectEqual(try state(store, partition)?.floor, gone, "the floor")
      proof.expectEqual(try store.leftPartitions().count, 0, "what has left after")
      proof.expect(try store.row(name(1)) == nil, "a row that nobody remembers")
      proof.expect(try store.row(name(3)) != nil, "a row that is there")
    },
    StoreCase("Days count as they pass, one at a time, and versions are known by their day") {
      proof in
      let store = proof.store
      try store.countDay()
      let first = try store.clock()
      proof.stage.advance(days: 1)
      try proof.put(1...1, in: place("A"))
      try store.countDay()
      proof.stage.advance(days: 300)
      try proof.put(2...2, in: place("A"))
      try store.countDay()
      try store.countDay()
      proof.expectEqual(try store.version(daysAgo: 2), first, "two days ago")
      proof.expectEqual(try store.version(daysAgo: 1), first + 1, "a day ago")
      proof.expectEqual(try store.version(daysAgo: 3), 0, "before the first day")
    },
    StoreCase("What nobody asks for is found; removed it is unknown") { proof in
      let (store, owner) = (proof.store, "ada")
      let place = place("empty")
      let number = try store.numbered { transaction throws(StoreError) in
        try store.makePartition(place, for: owner, transaction)
      }
      let full = try proof.put(1...1, in: StoreSuite.place("A"))
      proof.expectEqual(try store.places(group: "all", rule: "claim:depot").count, 2, "places")
      proof.expectEqual(try store.place(of: number), place, "the place of a number")
      proof.expectEqual(
        try store.emptyPartitions(askedBy: owner),
        [EmptyPartition(number: number, bytes: place.values.text.utf8.count)],
        "empty ones of a user, with the bytes of their places")
      proof.expectEqual(try store.emptyPartitions(askedBy: "ben"), [], "empty ones of another")
      for _ in 0..<3 {
        proof.stage.advance(days: 1)
        try store.countDay()
      }
      proof.expectEqual(try store.emptyPartitions(unaskedForDays: 2), [number], "not asked for")
      try store.asked([number, full])
      proof.expectEqual(try store.emptyPartitions(unaskedForDays: 2), [], "asked for again")
      try store.numbered { transaction throws(StoreError) in
        try store.removePartitions([number], transaction)
      }
      proof.expect(try store.partition(at: place) == nil, "a removed partition has a number")
      proof.expect(try state(store, number) == nil, "a removed partition has a state")
    },
    StoreCase("Old answers that a kind of devices has not confirmed are found") { proof in
      let (store, ids) = (proof.store, (0..<4).map { _ in proof.newID() })
      let program = Owner(device: "odata:ada", user: "ada")
      _ = try store.receive(
        [proof.operation(ids[0])] + ids[1...].map { proof.operation($0, owner: program) })
      try proof.answer([ids[0]])
      let version = try proof.answer([ids[1]])
      try proof.answer([ids[2]], .unknown)
      for _ in 0..<3 {
        proof.stage.advance(days: 1)
        try store.countDay()
      }
      let found = try [2, 3].map { days throws(StoreError) in
        try store.unconfirmedAnswers(ofDevices: "odata:", afterDays: days, count: 10)
      }
      proof.expectEqual(
        found, [[OldAnswer(id: ids[1], version: version, user: "ada")], []], "old answers")
      try store.confirm([ids[1]], upTo: version, user: "ada")
      proof.expectEqual(
        try store.unconfirmedAnswers(ofDevices: "odata:", afterDays: 2, count: 10), [],
        "what was confirmed")
    },
    StoreCase("Operations are forgotten when they were confirmed so many days ago") { proof in
      let (store, ids) = (proof.store, (0..<3).map { _ in proof.newID() })
      _ = try store.receive(ids.map { proof.operation($0) })
      try proof.answer([ids[0]])
      let version = try proof.answer([ids[1]], .unknown)
      try store.confirm(ids, upTo: version, user: "ada")
      for _ in 0..<3 {
        proof.stage.advance(days: 1)
        try store.countDay()
      }
      proof.expectEqual(try store.forgetOperations(afterDays: 3), 0, "too early")
      proof.expectEqual(try store.forgetOperations(afterDays: 2), 1, "what was forgotten")
      proof.expectEqual(
        try store.known(ids).map { $0 != nil }, [false, true, true], "what is remembered")
    },
    StoreCase("The days of windows are kept with their transaction, and there after a crash") {
      proof in
      let store = proof.store
      func border(_ entity: String, _ days: ClosedRange<Int64>) -> WindowBorder {
        WindowBorder(entity: entity, attribute: "text", position: 1, days: days)
      }
      func keep(_ borders: [WindowBorder], fails: Bool = false) throws {
        do throws(StoreError) {
          try store.numbered { transaction throws(StoreError) in
            try store.keep(borders, transaction)
            if fails { throw StoreError(.other, "on purpose") }
          }
        } catch { if !fails { throw error } }
      }
      proof.expectEqual(try store.borders(), [], "borders at first")
      try keep([border("Part", -3...4), border("Item", 5...6)])
      try keep([border("Item", 7...8)])
      try keep([border("Item", 9...10), border("Part", 0...0)], fails: true)
      let wanted = [border("Item", 7...8), border("Part", -3...4)]
      proof.expectEqual(try store.borders(), wanted, "borders")
      try proof.reopen()
      proof.expectEqual(try proof.store.borders(), wanted, "borders after a crash")
      try proof.reopen(
        as: Package(
          name: "suite", version: "2.0", entities: [item], groups: StoreSuite.package.groups))
      proof.expectEqual(try proof.store.borders(), [], "borders of another version")
    },
  ]
}
