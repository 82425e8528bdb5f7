import FerryModel
import FerryServer

extension StoreSuite {
  static let numbers: [StoreCase] = [
    StoreCase("Each numbered transaction that writes has the next number; others have none") {
      proof in
      let start = try proof.store.clock()
      try proof.put(1...2, in: place("A"))
      proof.expectEqual(try proof.store.clock(), start + 1, "the clock after one transaction")
      try proof.store.numbered { _ throws(StoreError) in }
      proof.expectEqual(try proof.store.clock(), start + 1, "the clock after nothing was written")
      try proof.put(3...3, in: place("A"))
      let seen = try proof.store.snapshot { view throws(StoreError) in view.clock }
      proof.expectEqual(seen, start + 2, "the clock of a snapshot")
    },
    StoreCase("A numbered transaction that fails leaves nothing, and its number to the next") {
      proof in
      try proof.put(1...1, in: place("A"))
      let before = try proof.store.dump()
      var changes = CacheChanges()
      let number = try proof.store.partition(at: place("A")).map(CacheChanges.Partition.known)
      try proof.change(1, "other", from: number, to: number, &changes)
      let (store, lost) = (proof.store, changes)
      do {
        try store.numbered { transaction throws(StoreError) in
          _ = try store.apply(lost, transaction)
          throw StoreError(.other, "planned")
        }
        proof.expect(false, "the error of the body was swallowed")
      } catch let error as StoreError {
        proof.expectEqual(error.message, "planned", "the error")
      }
      proof.expectEqual(try store.dump(), before, "the store after it failed")
      try proof.apply(lost)
      let row = try store.row(name(1))
      proof.expectEqual(row?.version, try store.clock(), "the version of the row")
    },
    StoreCase("A transaction is all or nothing") { proof in
      let (store, ids) = (proof.store, [proof.newID(), proof.newID()])
      do {
        try store.transaction { () throws(StoreError) in
          _ = try store.receive([proof.operation(ids[0])])
          try store.transaction { () throws(StoreError) in
            _ = try store.receive([proof.operation(ids[1])])
          }
          throw StoreError(.other, "planned")
        }
      } catch is StoreError {}
      proof.expect(try store.known(ids).allSatisfy { $0 == nil }, "half a transaction was kept")
    },
    StoreCase("A snapshot is one state, whatever is written meanwhile") { proof in
      let partition = try proof.put(1...3, in: place("A"))
      let store = proof.store
      try store.snapshot { view throws(StoreError) in
        do { try proof.put(4...9, in: place("A")) } catch {
          throw StoreError(.other, "a snapshot blocks the writer: \(error)")
        }
        let state = try view.partition(partition)
        proof.expectEqual(state?.count, 3, "the count in the snapshot")
        let page = try view.page(partition, from: .start, upTo: .max, .standard)
        proof.expectEqual(page.rows, 3, "the rows of a page of the snapshot")
        proof.expectEqual(page.to, .end(of: view.clock), "the end of the page")
      }
    },
    StoreCase("A start opens an era, and begins partitions with numbers that nobody knows") {
      proof in
      let first = try proof.put(1...1, in: place("A"))
      let (era, clock) = (proof.store.era, try proof.store.clock())
      try proof.reopen()
      proof.expect(proof.store.era != era, "the start opened no era")
      let eras = try proof.store.snapshot { view throws(StoreError) in try view.eras() }
      proof.expectEqual(eras.eras.map(\.id), [era, proof.store.era], "the eras")
      proof.expectEqual(eras.eras.last?.firstVersion, clock + 1, "the era's first number")
      proof.expectEqual(try proof.store.clock(), clock + 1, "the clock")
      let second = try proof.put(2...2, in: place("B"))
      proof.expect(second > first + 1, "the numbers of partitions go on without a gap")
      proof.expectEqual(try proof.store.partition(at: place("A")), first, "the known partition")
    },
  ]
}
