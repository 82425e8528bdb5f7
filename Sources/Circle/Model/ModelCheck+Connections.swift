/// An entity may name the connection to the business system that has its rows. Nothing is performed as
/// one, or judged, over two of them.
extension ModelCheck {
  mutating func checkConnection(_ entity: DraftEntity) {
    if let name = entity.connection, !ReservedName.isIdentifier(name.content) {
      findings.error(
        name.place, "the connection name \"\(name.content)\" is not an identifier",
        cure: "Use letters, digits and underscores, a letter first.")
    }
    guard !entity.isClientOnly else { return }
    for relationship in entity.relationships {
      guard let target = relationship.target.flatMap({ draft.entity(named: $0.content) }),
        !target.isClientOnly, target.connection?.content != entity.connection?.content
      else { continue }
      check(relationship, from: entity, to: target)
    }
  }

  private mutating func check(
    _ relationship: DraftRelationship, from entity: DraftEntity, to target: DraftEntity
  ) {
    let name = relationship.name?.content ?? "?"
    let problem =
      "\(entity.shownName).\(name) leads from \(entity.shownConnection) to "
      + "\(target.shownConnection)"
    let isPartition =
      if case .through(let through) = entity.partition { through.content == name } else { false }
    if relationship.isComposite {
      findings.error(
        relationship.place, "\(problem), and its objects are changed as one",
        cure: "Leave out \"composite\", or give both entities one \"connection\".")
    } else if isPartition {
      findings.error(
        relationship.place, "\(problem), and it decides who gets \(entity.shownName)",
        cure: "Give the partition of \(entity.shownName) columns of its own, or give both entities "
          + "one \"connection\".")
    } else if !target.isWholeForEveryone, relationship.anyTarget == nil {
      findings.error(
        relationship.place,
        "\(problem), where nobody can check that a user refers to a \(target.shownName) of their own",
        cure:
          "Write \"anyTarget\": true if users may refer to any of them, or give both entities one "
          + "\"connection\".")
    }
  }
}

extension DraftEntity {
  fileprivate var shownConnection: String {
    connection.map { "the connection \"\($0.content)\"" } ?? "the default connection"
  }
}
