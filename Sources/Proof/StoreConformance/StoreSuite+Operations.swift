import FerryModel
import FerryServer
import FerryWire

extension StoreSuite {
  static let operations: [StoreCase] = [
    StoreCase("An operation goes from stored by claimed and answered to confirmed") { proof in
      let (store, id, other) = (proof.store, proof.newID(), proof.newID())
      let received = try store.receive([proof.operation(id), proof.operation(other)])
      proof.expectEqual(received.map(\.operation.id), [id, other], "what was received")
      proof.expect(received[0].sequence < received[1].sequence, "the order of arrival")
      proof.expectEqual(
        try store.known([other, proof.newID(), id]).map { $0?.state },
        [.stored, nil, .stored], "states, in the order of the question")
      proof.expectEqual(try store.state(of: id, user: "ben"), nil, "another user's")
      try store.claim([([id], try mark(store))])
      proof.expectEqual(try store.state(of: id, user: "ada"), .claimed, "after the claim")
      try store.release([id], mayHaveRun: true)
      proof.expect(try store.operation(id).mayHaveRun, "it may have run, and nobody knows")
      try store.claim([([id], try mark(store))])
      let version = try proof.answer([id])
      proof.expectEqual(version, try store.clock(), "the number of the answer")
      proof.expectEqual(try proof.answers(upTo: version - 1), [], "answers before their number")
      proof.expectEqual(try proof.answers(upTo: version), [id], "answers")
      proof.expectEqual(try store.ended(id)?.version, version, "what ended")
      proof.expectEqual(try store.ended(other) == nil, true, "what has not ended")
      try store.confirm([id], upTo: version - 1, user: "ada")
      proof.expectEqual(try store.state(of: id, user: "ada"), .answered, "confirmed too early")
      try store.confirm([id], upTo: version, user: "ben")
      proof.expectEqual(try store.state(of: id, user: "ada"), .answered, "confirmed by another")
      try store.confirm([id, other], upTo: version, user: "ada")
      proof.expectEqual(try store.state(of: id, user: "ada"), .confirmed, "after the confirm")
      proof.expectEqual(try store.state(of: other, user: "ada"), .stored, "what was not answered")
      proof.expectEqual(
        try store.known([id])[0]?.hasPayload, false, "the payload of a confirmed one")
      proof.expectEqual(try proof.answers(open: [id]), [], "answers after the confirm")
      let again = proof.answer(id, version)
      try store.answerAgain(id, again.json)
      proof.expectEqual(try proof.answers(), [id], "an answer that is given again")
    },
    StoreCase("Of an answer that was confirmed, what was written otherwise than sent stays") {
      proof in
      let (store, ids) = (proof.store, (0..<3).map { _ in proof.newID() })
      _ = try store.receive(ids.map { proof.operation($0) })
      let texts = ["Łódź\u{0}", #""written":{"#]
      let answers = try store.numbered { transaction throws(StoreError) in
        var answers = ids.map { proof.answer($0, transaction.version) }
        answers[0].written = ["ship": .text(texts[0])]
        answers[1] = Answer(
          id: ids[1], version: transaction.version, outcome: .replayResult,
          newKey: ObjectKey([.text(texts[1])]), logRecords: [])
        try store.answer(answers, transaction)
        return answers
      }
      try store.confirm(ids, upTo: answers[0].version, user: "ada")
      proof.expectEqual(
        try ids.map { try store.state(of: $0, user: "ada") },
        [.confirmed, .confirmed, .confirmed], "states")
      proof.expectEqual(
        try ids.map { try store.ended($0)?.answer }, [answers[0].json, nil, nil],
        "what is left of the answers")
      proof.expectEqual(
        try store.known(ids).map { $0?.hasPayload }, [false, false, false], "their payloads")
      proof.expectEqual(try proof.answers(), [], "answers after the confirm")
    },
    StoreCase("Another version of the package finds operations of the one before, and takes them") {
      proof in
      let ids = (0..<3).map { _ in proof.newID() }
      _ = try proof.store.receive(ids.map { proof.operation($0) })
      try proof.store.claim([([ids[1]], try mark(proof.store))])
      try proof.answer([ids[2]])
      proof.expectEqual(
        try proof.store.known(ids).map { $0?.isElsewhere }, [false, false, false], "its own")
      try proof.reopen(
        as: Package(
          name: package.name, version: "2.0", entities: package.entities, groups: package.groups))
      let store = proof.store
      proof.expectEqual(
        try store.known(ids).map { $0?.isElsewhere }, [true, true, true], "those of the other")
      proof.expectEqual(try store.elsewhere(ids, user: "ben").count, 0, "another user's")
      let found = try store.elsewhere(ids, user: "ada")
      proof.expectEqual(found.map(\.id), ids, "what is elsewhere")
      proof.expectEqual(Set(found.map(\.package)), [package.id], "whose they are")
      proof.expectEqual(found.map(\.state), [.stored, .claimed, .answered], "states")
      proof.expectEqual(found.prefix(2).map(\.mayHaveRun), [false, true], "what may have run")
      proof.expectEqual(found.last?.answer?.id, ids[2], "the answer")
      proof.expectEqual(found.map { $0.payload == nil }, [false, false, false], "payloads")
      let group = package.entities[0].group
      try store.numbered { _ throws(StoreError) in
        try store.takeOver(Array(ids.prefix(2)), groups: [group, group], isWaiting: true)
        try store.takeOver([ids[2]], groups: [group], isWaiting: false)
      }
      proof.expectEqual(
        try store.known(ids).map { $0?.isElsewhere }, [false, false, false], "its own by now")
      proof.expectEqual(
        try store.operations(Array(ids.prefix(2))).map(\.mayHaveRun), [false, true], "taken over")
      proof.expectEqual(
        try ids.map { id throws(StoreError) in try store.state(of: id, user: "ada") },
        [.stored, .stored, .answered], "states afterwards")
      try proof.answer([ids[2]])
      proof.expectEqual(try proof.answers(), [ids[2]], "answers for the device")
    },
    StoreCase("Answers reach the device that asks for them, in the order of their numbers") {
      proof in
      let (store, ids) = (proof.store, (0..<3).map { _ in proof.newID() })
      _ = try store.receive(ids.map { proof.operation($0) })
      try proof.answer([ids[2]])
      try proof.answer([ids[0]], .replayFailed)
      proof.expectEqual(try proof.answers(), [ids[2], ids[0]], "the order")
      proof.expectEqual(try proof.answers(to: ben, open: ids), [], "another user's answers")
      let restored = Owner(device: "restored", user: "ada")
      proof.expectEqual(try proof.answers(to: restored), [], "another device's answers")
      proof.expectEqual(
        try proof.answers(to: restored, open: [ids[0]]), [ids[0]], "answers that are asked for")
    },
    StoreCase("Of an unknown outcome the payload stays until somebody decides") { proof in
      let (store, id) = (proof.store, proof.newID())
      _ = try store.receive([proof.operation(id)])
      let version = try proof.answer([id], .unknown)
      try store.confirm([id], upTo: version, user: "ada")
      proof.expectEqual(try store.unknownOperations(), [id], "unknown operations")
      proof.expectEqual(try store.known([id])[0]?.hasPayload, true, "the payload")
      proof.expectEqual(try store.operation(id).operation.changed, [1: .text("new")], "the values")
      let found = UnknownOutcome(operation: id, reason: "lost", candidates: "[1]")
      proof.expectEqual(try store.unknownOutcomes().map(\.operation), [id], "without a word")
      try store.note([UnknownOutcome(operation: id, reason: "first", candidates: "[]"), found])
      proof.expectEqual(try store.unknownOutcomes(), [found], "what is known of it")
      try proof.answer([id])
      proof.expectEqual(try proof.answers(), [id], "the answer after the decision")
      proof.expectEqual(try store.unknownOutcomes(), [], "after the decision")
    },
    StoreCase("What a crash leaves is taken up in the order of arrival; claims are given back") {
      proof in
      let ids = (0..<4).map { _ in proof.newID() }
      _ = try proof.store.receive(ids.map { proof.operation($0) })
      try proof.store.claim([([ids[1], ids[2]], try mark(proof.store))])
      try proof.answer([ids[2]], .unknown)
      // An operator has decided that it is performed again.
      try proof.store.claim([([ids[2]], try mark(proof.store))])
      try proof.answer([ids[3]])
      try proof.reopen()
      let waiting = try proof.store.takeUp()
      proof.expectEqual(waiting.map(\.0.operation.id), [ids[0], ids[1]], "what waits")
      proof.expectEqual(waiting.map(\.wasClaimed), [false, true], "what was claimed")
      proof.expectEqual(waiting[0].0.roles, ["clerk"], "roles")
      proof.expectEqual(waiting[0].0.claims, ["depot": ["A"]], "claims")
      proof.expect(try proof.store.operation(ids[1]).mayHaveRun, "a claimed one may have run")
      proof.expectEqual(
        try proof.store.state(of: ids[2], user: "ada"), .answered, "the decision that was begun")
    },
    StoreCase(
      "When an operation was handed out first is known as long as it may have been performed"
    ) {
      proof in
      let ids = [proof.newID(), proof.newID()]
      _ = try proof.store.receive(ids.map { proof.operation($0) })
      proof.expectEqual(try proof.store.operation(ids[0]).sentAt, nil, "before the first claim")
      try proof.store.claim([(ids, try mark(proof.store))])
      let first = try proof.store.operation(ids[0]).sentAt
      proof.expect(first != nil, "the time of the first claim")
      try proof.store.release([ids[0]], mayHaveRun: true)
      try proof.store.release([ids[1]], mayHaveRun: false)
      proof.expectEqual(try proof.store.operation(ids[1]).sentAt, nil, "it was not performed")
      try proof.store.claim([(ids, try mark(proof.store))])
      proof.expectEqual(try proof.store.operation(ids[0]).sentAt, first, "behind a second claim")
      try proof.reopen()
      let waiting = try proof.store.takeUp()
      proof.expectEqual(waiting.first?.0.sentAt, first, "behind a restart")
      proof.expectEqual(waiting.map(\.wasClaimed), [true, true], "what was claimed")
    },
    StoreCase("A chain is finished when all of it is answered") { proof in
      let (store, ids) = (proof.store, (0..<3).map { _ in proof.newID() })
      _ = try store.receive([
        proof.operation(ids[0], chain: ids[0], count: 2),
        proof.operation(ids[1], chain: ids[0], position: 1, count: 2), proof.operation(ids[2]),
      ])
      proof.expectEqual(
        try store.members(of: [ids[2], ids[0], proof.newID()], ada)
          .mapValues { $0.map(\.position).sorted() },
        [ids[0]: [0, 1], ids[2]: [0]], "members of chains")
      proof.expectEqual(try store.members(of: [ids[0]], ben).count, 0, "another owner's chain")
      proof.expectEqual(
        try store.operations([ids[2], ids[0], ids[1]]).map(\.operation.id),
        [ids[2], ids[0], ids[1]], "operations in the order of the question")
      try proof.answer([ids[0]])
      proof.expectEqual(try store.finishedChains(of: ada), [], "half a chain")
      try proof.answer([ids[1], ids[2]])
      proof.expectEqual(try store.finishedChains(of: ada), [ids[0], ids[2]], "finished chains")
    },
  ]

  static func mark(_ store: any Store) throws -> Mark {
    Mark(version: try store.clock(), moment: 1)
  }
}
