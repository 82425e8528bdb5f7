import FerryModel

/// What is otherwise in a database than a model says, and what it means for devices that have the
/// model already.
package struct ModelDifference: Sendable, Equatable {
  /// One thing that is otherwise, and what it means.
  package struct Change: Sendable, Equatable, CustomStringConvertible {
    /// A table, or `table.column`.
    package let subject: String
    /// A clause without a full stop.
    package let what: String
    /// What follows from it, a sentence.
    package let consequence: String
    package let canGoOn: Bool

    package var description: String { "\(subject): \(what). \(consequence)" }
  }

  package private(set) var changes: [Change] = []

  /// Whether devices of the model can go on as they are.
  package var canGoOn: Bool { changes.allSatisfy(\.canGoOn) }

  /// Reads the schema of the database file first; the file is not changed.
  package static func compare(
    _ package: Package, withSQLite path: String
  ) throws(GeneratorError) -> ModelDifference {
    compare(package, with: try SchemaReader.read(path: path))
  }

  package static func compare(_ package: Package, with schema: DatabaseSchema) -> ModelDifference {
    var difference = ModelDifference()
    let package = package.served
    for entity in package.entities where !entity.isOperation {
      guard let table = schema.table(named: entity.table) else {
        difference.breaks(
          entity.table,
          schema.views.contains(entity.table) ? "is a view now" : "is missing or renamed",
          "\(entity.name) can neither be read nor changed.")
        continue
      }
      difference.compare(
        comment: table.comment, with: entity.documentation, entity.name, table.name)
      difference.compareColumns(entity, table)
      difference.compareKey(entity, table)
    }
    for entity in package.entities {
      for relationship in entity.relationships {
        difference.compare(relationship, of: entity, package, schema)
      }
    }
    for table in schema.tables {
      let isKnown = package.entities.contains { $0.table.lowercased() == table.name.lowercased() }
      if !isKnown {
        difference.allows(
          table.name, "is a table that the model does not have", "Devices do not need it.")
      }
    }
    return difference
  }

  private mutating func breaks(_ subject: String, _ what: String, _ consequence: String) {
    changes.append(Change(subject: subject, what: what, consequence: consequence, canGoOn: false))
  }

  private mutating func allows(_ subject: String, _ what: String, _ consequence: String) {
    changes.append(Change(subject: subject, what: what, consequence: consequence, canGoOn: true))
  }

  private mutating func compareColumns(_ entity: Entity, _ table: DatabaseSchema.Table) {
    for (position, attribute) in entity.attributes.enumerated() {
      let subject = "\(table.name).\(attribute.column)"
      guard let column = table.column(named: attribute.column) else {
        breaks(subject, "is missing or renamed", "The attribute \(attribute.name) has no column.")
        continue
      }
      compare(attribute, of: entity, column, subject)
      compare(
        comment: column.comment, with: attribute.documentation, "\(entity.name).\(attribute.name)",
        subject)
      if !entity.key.contains(position) { compareNull(attribute, column, subject) }
    }
    for column in table.columns {
      let isKnown = entity.attributes.contains {
        $0.column.lowercased() == column.name.lowercased()
      }
      if !isKnown { compareNew(column, entity, "\(table.name).\(column.name)") }
    }
  }

  private mutating func compare(
    _ attribute: Attribute, of entity: Entity, _ column: DatabaseSchema.Column, _ subject: String
  ) {
    if column.isGenerated, !entity.operations.isDisjoint(with: [.create, .update]) {
      breaks(subject, "is a generated column now", "Changes by devices would be refused.")
      return
    }
    let declared = column.declaredType.isEmpty ? "no type" : column.declaredType
    let chosen = ColumnType.choose(for: column)
    let isSame =
      chosen?.type == attribute.type
      && (chosen?.stored == attribute.stored || column.profile.values == 0)
    if !isSame, let isWhole = column.kept?.holds(attribute) {
      if !isWhole {
        allows(
          subject, "is declared \(declared), and the model has it as \(attribute.type.rawValue)",
          "A value that only one of the two can hold is refused, or its row reaches no device.")
      }
    } else if !isSame, !isAuthorsChoice(attribute, chosen, column.profile) {
      let values =
        column.profile.values > 0 ? " and holds \(ColumnType.contents(column.profile))" : ""
      breaks(
        subject, "is declared \(declared)\(values)",
        "The model has it as \(shownType(of: attribute))"
          + "\(attribute.stored.map { ", stored as \($0.rawValue)" } ?? "").")
    }
    if isSame, attribute.type == .string, chosen?.maxLength != attribute.maxLength {
      allows(
        subject,
        "takes \(chosen?.maxLength.map { "\($0) characters" } ?? "any length") now, "
          + "\(attribute.maxLength.map { "\($0) characters" } ?? "any length") in the model",
        "The database refuses longer values during replay.")
    }
    if let chosen, chosen.type == attribute.type || ListedNames.types.contains(attribute.type) {
      var chosen = chosen
      chosen.type = attribute.type
      compareValues(attribute, chosen, column, subject)
    }
    if isSame, attribute.type == .decimal, chosen?.digits != attribute.digits {
      allows(
        subject,
        "takes \(shown(chosen?.digits)) now, \(shown(attribute.digits)) in the model",
        "The database refuses values with more digits during replay.")
    }
  }

  private func shownType(of attribute: Attribute) -> String {
    let element = attribute.element.map { " of \($0)" } ?? ""
    return attribute.type.rawValue + (attribute.type == .list ? element : "")
  }

  /// Nothing is said where the database's list is of another type, as of texts for a date.
  private mutating func compareValues(
    _ attribute: Attribute, _ chosen: ColumnType, _ column: DatabaseSchema.Column, _ subject: String
  ) {
    let now = chosen.values(of: column)
    let missing = now.filter { !attribute.values.contains($0) }
    let other = attribute.values.filter { !now.contains($0) }
    guard !missing.isEmpty || !other.isEmpty else { return }
    if attribute.values.isEmpty {
      allows(
        subject, "takes only \(shown(now)) now, any value in the model",
        "The database refuses other values during replay. With \"values\" the app gets a Swift type."
      )
    } else if now.isEmpty {
      allows(
        subject, "has no plain list of values now, \(shown(attribute.values)) in the model",
        "Devices refuse to save other values.")
    } else {
      let parts = [
        missing.isEmpty ? nil : "also takes \(shown(missing)) now",
        other.isEmpty ? nil : "no longer takes \(shown(other))",
      ]
      let effects = [
        missing.isEmpty ? nil : "Devices refuse to save the new values, and show them.",
        other.isEmpty ? nil : "The database refuses the old values during replay.",
      ]
      allows(
        subject, parts.compactMap(\.self).joined(separator: " and "),
        effects.compactMap(\.self).joined(separator: " "))
    }
  }

  private func shown(_ values: [AttributeValue]) -> String {
    values.map(\.shown).joined(separator: ", ")
  }

  /// A comment that the database has not is no difference: the model's author may say more.
  private mutating func compare(
    comment: String?, with documentation: String?, _ name: String, _ subject: String
  ) {
    guard let comment = DocumentationText.of(comment: comment), comment != documentation else {
      return
    }
    let line = comment.split(whereSeparator: \.isNewline).joined(separator: " ")
    let shown = line.count > 60 ? "\(line.prefix(60))…" : line
    allows(
      subject,
      documentation == nil
        ? "has the comment \"\(shown)\" now" : "has another comment now, \"\(shown)\"",
      "The documentation of \(name) in the model does not have it.")
  }

  private func shown(_ digits: ColumnType.Digits?) -> String {
    digits.map { "\($0.precision) digits, \($0.scale) of them after the point" } ?? "any digits"
  }

  /// The author of a model may know better than the declaration, as long as the values agree.
  private func isAuthorsChoice(
    _ attribute: Attribute, _ chosen: ColumnType?, _ profile: ColumnProfile
  ) -> Bool {
    // The column of a big value has the same type as that of a small one.
    if attribute.type.isBig {
      return chosen?.type == (attribute.type == .bigBinary ? .binary : .string)
    }
    guard let chosen, chosen.reason == nil,
      profile.fits(attribute.type, stored: attribute.stored)
    else { return false }
    // A text column may hold JSON, and an empty one says nothing against it.
    if attribute.type.hasElements { return chosen.type == .string }
    guard profile.values > 0 else { return false }
    let choices: [AttributeType] =
      switch chosen.type {
      case .boolean, .long: [.boolean, .byte, .short, .int, .long, .integer, .dateTime]
      case .decimal, .double: [.decimal, .double, .float]
      case .string: [.date, .time, .dateTime, .integer, .decimal]
      case .date, .time, .dateTime: [.string]
      default: []
      }
    return choices.contains(attribute.type)
  }

  private mutating func compareNull(
    _ attribute: Attribute, _ column: DatabaseSchema.Column, _ subject: String
  ) {
    if column.isNotNull, attribute.isNullable {
      allows(
        subject,
        column.hasDefault
          ? "is NOT NULL with a default, and nullable in the model" : "is NOT NULL now",
        column.hasDefault
          ? "A create without a value gets the default. The database refuses an update to null."
          : "The database refuses null values from devices.")
    } else if !column.isNotNull, !attribute.isNullable {
      if column.profile.nulls > 0 {
        breaks(
          subject, "may be null now, and is in \(column.profile.nulls) rows",
          "Devices cannot take those rows: \(attribute.name) is not nullable in the model.")
      } else {
        breaks(
          subject, "may be null now",
          "Devices could not take such a row: \(attribute.name) is not nullable in the model.")
      }
    }
  }

  private mutating func compareNew(
    _ column: DatabaseSchema.Column, _ entity: Entity, _ subject: String
  ) {
    let isNeeded = column.isNotNull && !column.hasDefault && !column.isGenerated
    if isNeeded, entity.operations.contains(.create) {
      breaks(
        subject, "is a required column that the model does not have",
        "Every create of \(entity.name) would be refused; give it a default.")
    } else {
      allows(subject, "is a column that the model does not have", "Devices do not need it.")
    }
  }

  private mutating func compareKey(_ entity: Entity, _ table: DatabaseSchema.Table) {
    let key = entity.key.map { entity.attributes[$0].column.lowercased() }
    let present = table.primaryKey.map { $0.lowercased() }
    let keys = [present] + table.uniqueKeys.map { $0.map { $0.lowercased() } }
    if !keys.contains(where: { Set($0) == Set(key) }) {
      let shown =
        present.isEmpty ? "no primary key" : "the key (\(table.primaryKey.joined(separator: ", ")))"
      breaks(
        table.name, "has \(shown) now",
        "In the model \(entity.name) has (\(entity.key.map { entity.attributes[$0].column }.joined(separator: ", ")))."
      )
    } else if entity.keyOrigin == .businessSystem, table.rowIDAlias == nil, key == present,
      entity.attributes[entity.key[0]].type == .long, table.triggers.isEmpty
    {
      breaks(
        table.name, "no longer assigns keys to new rows",
        "New objects of \(entity.name) would be refused: devices leave the key to the database.")
    }
  }

  private mutating func compare(
    _ relationship: Relationship, of entity: Entity, _ package: Package, _ schema: DatabaseSchema
  ) {
    guard let target = package.entity(named: relationship.target),
      let table = schema.table(named: target.table)
    else { return }
    let columns = relationship.targetAttributes.compactMap { name in
      target.position(of: name).map { target.attributes[$0].column.lowercased() }
    }
    let keys = ([table.primaryKey] + table.uniqueKeys).map { Set($0.map { $0.lowercased() }) }
    let isGone = columns.contains { table.column(named: $0) == nil }
    if !isGone, !keys.contains(Set(columns)) {
      breaks(
        "\(entity.table).\(relationship.attributes.joined(separator: ", "))",
        "leads to columns of \(target.table) that are no longer unique",
        "\(entity.name).\(relationship.name) could lead to several objects.")
    }
  }
}

extension Attribute {
  fileprivate var digits: ColumnType.Digits? {
    precision.map { ColumnType.Digits(precision: $0, scale: scale ?? 0) }
  }
}
