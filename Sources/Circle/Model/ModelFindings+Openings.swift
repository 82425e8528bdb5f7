extension ModelFindings {
  /// Warns once where the model limits nobody: every user gets everything.
  mutating func warnOfOpenModel(_ draft: ModelDraft) {
    let shared = draft.entities.filter { !$0.isClientOnly && $0.performs == nil }
    guard !shared.isEmpty, shared.allSatisfy(\.isForEveryone) else { return }
    warning(
      draft.place, "every user gets all rows: no entity has a \"partition\" or \"roles\"",
      cure: "Give them to the entities that not everyone may read.")
  }

  /// Warns where everyone gets objects that belong to objects which not everyone gets.
  mutating func warnOfOpenReads(_ entity: DraftEntity, in draft: ModelDraft) {
    guard entity.isForEveryone, !entity.isClientOnly, entity.performs == nil else { return }
    for relationship in entity.relationships {
      guard let name = relationship.name?.content,
        let target = relationship.target.flatMap({ draft.entity(named: $0.content) }),
        target.hasLimitingPartition
      else { continue }
      let mayBeNull = relationship.attributes.contains {
        entity.attribute(named: $0.content)?.isNullable == true
      }
      return warning(
        entity.place,
        "every user gets all objects of \(entity.shownName), and by \(entity.shownName).\(name) they "
          + "belong to \(target.shownName), which has a partition",
        cure: mayBeNull
          ? "Give it a \"partition\" with columns, or \"roles\"; \"through\" would leave out the "
            + "objects without a \(target.shownName)."
          : "If they are not for everyone, give it \"partition\": { \"through\": \"\(name)\" }.")
    }
  }

  /// Warns where nothing limits who may write: no partition rule tells whose the objects are.
  mutating func warnOfOpenWrites(_ entity: DraftEntity) {
    guard entity.partition == nil, !entity.isClientOnly else { return }
    let named = Set(entity.roles.map(\.permission))
    guard !named.contains(.read), !named.contains(.perform) else { return }
    if entity.performs != nil {
      warning(
        entity.place, "every user may perform \(entity.shownName), with any values",
        cure: "Check that its statements test the user's rights; a \"partition\" limits its values."
      )
      return
    }
    let verbs = OperationKind.allCases.filter(entity.operations.contains).map(\.rawValue)
      .filter { verb in !named.contains { $0.rawValue == verb } }
    guard let last = verbs.last else { return }
    let first = verbs.dropLast().joined(separator: ", ")
    warning(
      entity.place,
      "every user may \(first.isEmpty ? last : "\(first) and \(last)") every \(entity.shownName)",
      cure:
        "Give it a \"partition\" or \"roles\", or write \"operations\": [] where devices only read it."
    )
  }

  /// Warns where a change may write over what others wrote.
  mutating func warnOfBlindWrites(_ entity: DraftEntity) {
    guard let place = entity.blindWrites else { return }
    guard !entity.operations.isDisjoint(with: [.update, .delete]) else {
      return warning(
        place, "\(entity.shownName) has no update and no delete: \"blindWrites\" does nothing",
        cure: "Remove \"blindWrites\".")
    }
    warning(
      place,
      "a client may change \(entity.shownName) without saying what it saw, and write over what "
        + "others wrote",
      cure: "Remove \"blindWrites\" if all clients are made with Ferry.")
  }

  /// Warns where a user may refer to objects of others, and says where that switch does nothing.
  mutating func warnOfAnyTargets(_ entity: DraftEntity, in draft: ModelDraft) {
    for relationship in entity.relationships {
      guard let place = relationship.anyTarget, let name = relationship.name?.content,
        let target = relationship.target.flatMap({ draft.entity(named: $0.content) })
      else { continue }
      if case .through(let rule) = entity.partition, rule.content == name {
        warning(
          place,
          "\(entity.shownName).\(name) decides the partition: \"anyTarget\" does nothing",
          cure: "Remove \"anyTarget\".")
      } else if target.isWholeForEveryone {
        warning(
          place,
          "every user has all objects that \(entity.shownName).\(name) leads to: \"anyTarget\" "
            + "does nothing",
          cure: "Remove \"anyTarget\".")
      } else {
        warning(
          place,
          "every user may refer to any \(target.shownName) by \(entity.shownName).\(name), and "
            + "learns whether it exists",
          cure: "Remove \"anyTarget\" if users should refer only to objects that they get.")
      }
    }
  }
}

extension DraftEntity {
  /// Whether neither a partition rule nor roles say who gets its objects.
  var isForEveryone: Bool {
    partition == nil && !roles.contains { $0.permission == .read }
  }

  /// The same, and no window of days leaves some of its objects out.
  var isWholeForEveryone: Bool { isForEveryone && window == nil }

  /// Whether some users cannot get some of its objects, whatever they ask for.
  fileprivate var hasLimitingPartition: Bool {
    switch partition {
    case nil: false
    case .through: true
    case .columns(_, let columns):
      columns.contains { column in
        switch column.source {
        case .open, .parameter(_, within: nil), nil: false
        default: true
        }
      }
    }
  }
}
