import FerryJSON
import FerryModel
import FerryServer
import FerryWire

/// A device as small as the suite needs it: it follows one partition.
struct StoreFollower {
  let partition: Int64
  var cursor: Cursor = .start
  var rows: [String: String] = [:]

  init(_ partition: Int64) { self.partition = partition }

  /// Takes pages until the end of one snapshot. `turn` runs between two pages.
  mutating func follow(
    _ store: any Store, _ limits: ServiceLimits, turn: () throws -> Void = {}
  ) throws {
    for _ in 0..<1_000 {
      let (partition, cursor) = (partition, cursor)
      let (page, isAtEnd) = try store.snapshot { view throws(StoreError) in
        let page = try view.page(partition, from: cursor, upTo: .max, limits)
        return (page, page.to == .end(of: view.clock))
      }
      try take(page)
      if isAtEnd { return }
      try turn()
    }
    throw StoreError(.other, "the pages of a partition do not end")
  }

  private mutating func take(_ page: Page) throws {
    guard let frame = try FrameReader.frames(of: page.bytes).first,
      case .rows(let content) = try Message(frame)
    else {
      throw StoreError(.other, "a page is no frame of rows")
    }
    guard content.from == cursor, content.partition == partition else {
      throw StoreError(.other, "a page begins at \(content.from), not at \(cursor)")
    }
    var found = rows
    try content.read(
      of: StoreSuite.package, wrap: { (error: JSONError) -> any Error in error },
      row: { entity, values, _ in
        found[entity.key(of: values).text] = String(
          decoding: RowCoder.encode(values), as: UTF8.self)
      }, left: { _, key in found[key.text] = nil })
    rows = found
    cursor = page.to
  }
}

extension StoreSuite {
  static let pages: [StoreCase] = [
    StoreCase("Pages deliver every row in its present form, whatever is written between two") {
      proof in
      for seed in 1...3 as ClosedRange<UInt64> { try history(proof, seed) }
    },
    StoreCase("Sums of 64 bits go round, and counts follow") { proof in
      let partition = try proof.put(1...40, in: place("A"))
      var sum: UInt64 = 0
      for key in 1...40 as ClosedRange<Int64> {
        sum &+= UInt64(bitPattern: try proof.store.row(name(key))?.hash ?? 0)
      }
      let state = try proof.store.snapshot { view throws(StoreError) in
        try view.partition(partition)
      }
      proof.expectEqual(state?.sum, sum, "the sum")
      proof.expectEqual(state?.count, 40, "the count")
    },
    StoreCase("A reader of its own shows what is committed, and nothing of an open transaction") {
      proof in
      let partition = try proof.put(1...5, in: place("A"))
      let reader = try proof.store.readerMaker()
      func look() throws -> (clock: Int64, count: Int64?, rows: Int) {
        try reader.snapshot { view throws(StoreError) in
          let page = try view.page(partition, from: .start, upTo: .max, .standard)
          return (view.clock, try view.partition(partition)?.count, page.rows)
        }
      }
      let store = proof.store
      let clock = try store.clock()
      proof.expect(try look() == (clock, 5, 5), "the reader is not at the end")
      var changes = CacheChanges()
      try proof.change(6, "new", to: .known(partition), &changes)
      let decided = changes
      try store.numbered { transaction throws(StoreError) in
        _ = try store.apply(decided, transaction)
        let seen = Result { try look() }
        proof.expect((try? seen.get().count) == 5, "a reader sees what is not committed")
      }
      proof.expect(try look() == (clock + 1, 6, 6), "the reader does not see what is committed")
    },
    StoreCase("Children and parents are found by the names they have now") { proof in
      var changes = CacheChanges()
      changes.places = [place("A")]
      for key in 1...3 as ClosedRange<Int64> {
        let name = RowName(1, ObjectKey([.integer(key)]))
        changes.order.append(name)
        changes.rows[name] = CacheChanges.Row(
          name: name, id: nil, parentKey: ObjectKey([.integer(7)]), partition: .new(0),
          body: Array("[\(key),7]".utf8), hash: key, isDeleted: false, isChanged: true)
        changes.alternates.append(
          CacheChanges.Alternate(
            row: name, attributes: "item", before: nil, after: ObjectKey([.integer(7)])))
      }
      changes.totals[.new(0)] = CacheChanges.Total(sum: 6, count: 3)
      try proof.apply(changes)
      let store = proof.store
      let called = ParentName(1, ObjectKey([.integer(7)]))
      let meant = ParentName(1, attributes: "item", ObjectKey([.integer(7)]))
      proof.expectEqual(try store.children(called).map(\.key.text), ["1", "2", "3"], "children")
      proof.expectEqual(try store.parents(meant).map(\.key.text), ["1", "2", "3"], "parents")
      let partition = try store.partition(at: place("A")).map(CacheChanges.Partition.known)
      var later = CacheChanges()
      let name = RowName(1, ObjectKey([.integer(2)]))
      later.order = [name]
      later.rows[name] = CacheChanges.Row(
        name: name, id: try store.row(name)?.id, parentKey: ObjectKey([.integer(9)]),
        partition: partition, body: Array("[2,9]".utf8), hash: 2, isDeleted: false,
        isChanged: true)
      // It was called otherwise in between.
      later.alternates = [
        CacheChanges.Alternate(
          row: name, attributes: "item", before: ObjectKey([.integer(7)]),
          after: ObjectKey([.integer(8)])),
        CacheChanges.Alternate(
          row: name, attributes: "item", before: ObjectKey([.integer(8)]),
          after: ObjectKey([.integer(9)])),
      ]
      try proof.apply(later)
      proof.expectEqual(try store.children(called).map(\.key.text), ["1", "3"], "children after")
      for (value, keys) in [7: ["1", "3"], 8: [], 9: ["2"]] as [Int64: [String]] {
        let meant = ParentName(1, attributes: "item", ObjectKey([.integer(value)]))
        proof.expectEqual(try store.parents(meant).map(\.key.text), keys, "parents \(value)")
      }
    },
  ]

  /// Random changes to rows of two partitions, while devices with small pages follow.
  private static func history(_ proof: StoreProof, _ seed: UInt64) throws {
    var chance = SuiteChance(seed)
    let store = proof.store
    let places = [place("A\(seed)"), place("B\(seed)")]
    let first = Int64(seed) * 1_000
    let numbers = [
      try proof.put(first...first, in: places[0]),
      try proof.put(first + 1...first + 1, in: places[1]),
    ]
    // Where each row is, and its text.
    var model: [Int64: (partition: Int64, text: String)] = [
      first: (numbers[0], "row \(first)"), first + 1: (numbers[1], "row \(first + 1)"),
    ]
    func turn() throws {
      var changes = CacheChanges()
      for _ in 0..<chance.next(1..<6) {
        let key = first + Int64(chance.next(0..<12))
        guard changes.rows[name(key)] == nil else { continue }
        let before = model[key].map { CacheChanges.Partition.known($0.partition) }
        if before != nil, chance.next(0..<4) == 0 {
          try proof.change(key, nil, from: before, to: nil, &changes)
          model[key] = nil
        } else {
          let to = numbers[chance.next(0..<2)]
          let text = "text \(chance.next(0..<1_000_000))"
          try proof.change(key, text, from: before, to: .known(to), &changes)
          model[key] = (to, text)
        }
      }
      if !changes.isEmpty { try proof.apply(changes) }
    }
    var limits = ServiceLimits.standard
    limits.pageRows = 3
    var followers = numbers.map { StoreFollower($0) }
    for _ in 0..<12 {
      for index in followers.indices where chance.next(0..<3) > 0 {
        var left = 3
        try followers[index].follow(store, limits) {
          left -= 1
          if left > 0 { try turn() }
        }
      }
      try turn()
    }
    followers.append(StoreFollower(numbers[0]))
    for index in followers.indices {
      try followers[index].follow(store, limits)
      let partition = followers[index].partition
      let own = model.filter { $0.value.partition == partition }
      let wanted = Dictionary(
        uniqueKeysWithValues: own.map { ("\($0.key)", "[\($0.key),\"\($0.value.text)\"]") })
      proof.expectEqual(followers[index].rows, wanted, "seed \(seed), device \(index)")
      let state = try store.snapshot { view throws(StoreError) in try view.partition(partition) }
      proof.expectEqual(state?.count, Int64(own.count), "seed \(seed), the count")
      let sum = wanted.values.reduce(UInt64(0)) { sum, body in
        sum &+ UInt64(bitPattern: hash(Array(body.utf8)))
      }
      proof.expectEqual(state?.sum, sum, "seed \(seed), the sum")
    }
  }
}

/// SplitMix64: the same numbers for the same seed.
struct SuiteChance {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next(_ range: Range<Int>) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return range.lowerBound + Int((mixed ^ (mixed >> 31)) % UInt64(range.count))
  }
}
