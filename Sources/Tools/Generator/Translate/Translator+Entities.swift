import FerryModel

extension Translator {
  mutating func makeEntities() throws(GeneratorError) {
    notes += schema.leftOut
    for view in schema.views {
      notes.append(
        Note(
          .leftOut, view, "is a view, which has no rows of its own",
          cure:
            "Use its tables and join them in the app, or replace it by a table that triggers update."
        ))
    }
    let names = try entityNames()
    for table in schema.tables {
      if let draft = entity(table, name: names[table.name] ?? table.name) { drafts.append(draft) }
    }
  }

  /// What was asked for comes first; then a table whose name is an identifier already keeps it,
  /// whatever the others want.
  private func entityNames() throws(GeneratorError) -> [String: String] {
    var taken: Set<String> = []
    var names: [String: String] = [:]
    for request in options.entities {
      let table = schema.table(named: request.table)
      guard let table else {
        throw GeneratorError(
          "\"\(request.table)\" is not a table of the database",
          hint: NearestWord.cure(request.table, among: schema.tables.map(\.name)))
      }
      guard names[table.name] == nil, taken.insert(request.name.lowercased()).inserted else {
        throw GeneratorError(
          "\(request.name)=\(request.table) repeats an earlier option",
          hint: "Give each table one name, and each name to one table.")
      }
      names[table.name] = request.name
    }
    let wanted = schema.tables.enumerated().filter { names[$0.element.name] == nil }
      .map { index, table in
        (
          table.name,
          Naming.typeName(table.objectName ?? table.name, fallback: "Table\(index + 1)")
        )
      }
    for (table, name) in wanted.filter({ $0.0 == $0.1 }) + wanted.filter({ $0.0 != $0.1 }) {
      names[table] = Naming.free(name, taken: &taken, clash: ReservedName.clashOfType)
    }
    return names
  }

  private mutating func entity(_ table: DatabaseSchema.Table, name: String) -> EntityDraft? {
    guard isUsable(table) else { return nil }
    var members: Set<String> = []
    var attributes: [Attribute] = []
    var operations = Set(OperationKind.allCases)
    for (index, column) in table.columns.enumerated() {
      let isKey = table.primaryKey.contains(column.name)
      let subject = "\(table.name).\(column.name)"
      let isSecret = keepsSecret(column, isKey: isKey, subject)
      guard !isSecret, let type = type(of: column, subject) else {
        if isKey {
          notes.append(
            Note(
              .leftOut, table.name, "its key column \(column.name) was left out",
              cure: "Correct that column: without a key, rows cannot be identified."))
          return nil
        }
        if column.isNotNull, !column.hasDefault, !column.isGenerated { operations.remove(.create) }
        continue
      }
      let member = Naming.memberName(column.name, fallback: "column\(index + 1)")
      attributes.append(
        Attribute(
          name: Naming.free(member, taken: &members, clash: ReservedName.clashOfMember),
          column: column.name, type: type.type, isNullable: !isKey && !column.isNotNull,
          maxLength: type.maxLength, stored: type.stored, precision: type.digits?.precision,
          scale: type.digits?.scale, values: values(of: column, type, in: table),
          documentation: DocumentationText.of(comment: column.comment)))
      if !isKey { remark(on: column, type.type, subject) }
    }
    if !operations.contains(.create) {
      notes.append(
        Note(
          .restricted, table.name, "a column that every new row must have was left out",
          cure: "Devices cannot create its objects until that column is in the model."))
    }
    tellForbidden(table, &operations)
    let key = table.primaryKey.compactMap { column in attributes.firstIndex { $0.column == column }
    }
    let keyType = key.first.map { attributes[$0].type }
    var draft = EntityDraft(
      table: table, name: name, attributes: attributes, key: key,
      keyOrigin: table.rowIDAlias != nil && keyType == .long ? .businessSystem : .app,
      operations: operations, members: members)
    draft.unique = unique(table, draft)
    tellKeys(table)
    return draft
  }

  private mutating func tellForbidden(
    _ table: DatabaseSchema.Table, _ operations: inout Set<OperationKind>
  ) {
    guard !table.forbidden.isEmpty else { return }
    operations.subtract(table.forbidden)
    let names = OperationKind.allCases.filter(table.forbidden.contains).map(\.rawValue)
    notes.append(
      Note(
        .restricted, table.name, "the business system takes no \(names.joined(separator: ", "))",
        cure: "Open it there, and make the model again."))
  }

  /// What is in the model as it is declared, and still surprises.
  private mutating func remark(
    on column: DatabaseSchema.Column, _ type: AttributeType, _ subject: String
  ) {
    if column.isNotNull, column.hasDefault {
      notes.append(
        Note(
          .told, subject, "is NOT NULL and has a default in the database",
          cure: "The app must give each new object a value. With \"nullable\": true in the model, "
            + "a create without a value gets the default."))
    }
    if type == .binary {
      notes.append(
        Note(
          .told, subject, "holds bytes, which are loaded with each row",
          cure: "For photos and documents write \"type\": \"bigBinary\" into the model."))
    }
    if let remark = column.remark {
      notes.append(Note(.told, subject, remark.what, cure: remark.cure))
    }
  }

  private mutating func isUsable(_ table: DatabaseSchema.Table) -> Bool {
    if table.isVirtual {
      notes.append(
        Note(
          .leftOut, table.name, "is a virtual table",
          cure: "Use the table that it is made from."))
      return false
    }
    if table.primaryKey.isEmpty {
      notes.append(
        Note(
          .leftOut, table.name, "has no primary key",
          cure: "Give it a primary key, so that its rows can be identified."))
      return false
    }
    for name in table.primaryKey {
      guard let column = table.column(named: name) else { continue }
      if column.profile.nulls > 0, table.rowIDAlias == nil {
        notes.append(
          Note(
            .leftOut, table.name,
            "its key column \(name) is null in \(column.profile.nulls) rows",
            cure: "Fill or delete those rows and declare the column NOT NULL."))
        return false
      }
      if !column.isNotNull, table.rowIDAlias == nil {
        notes.append(
          Note(
            .told, table.name, "its key column \(name) may be null, although no row is null",
            cure: "Declare it NOT NULL: a row with null would reach no device."))
      }
    }
    return true
  }

  private mutating func type(of column: DatabaseSchema.Column, _ subject: String) -> ColumnType? {
    if column.isGenerated {
      notes.append(
        Note(
          .leftOut, subject, "is a generated column and cannot be written",
          cure: "Compute it in the app, or make it a plain column kept by a trigger."))
      return nil
    }
    let declared = column.declaredType.isEmpty ? "without a type" : column.declaredType
    guard let type = ColumnType.choose(for: column) else {
      if case .some(.none(let reason, let cure)) = column.known {
        notes.append(Note(.leftOut, subject, reason, cure: cure))
        return nil
      }
      notes.append(
        Note(
          .leftOut, subject,
          "is declared \(declared) and holds \(ColumnType.contents(column.profile)), which no type "
            + "can hold together", cure: "Keep texts and blobs in two columns."))
      return nil
    }
    if let reason = type.reason {
      notes.append(
        Note(
          .changed, subject, "is declared \(declared) but \(reason)",
          cure:
            "It is \(shown(type)) in the model; to use the declared type, correct the values and make the model again."
        ))
    }
    return type
  }

  /// None where the app does not make the values: a key that the database gives, or a reference to one.
  private func values(
    of column: DatabaseSchema.Column, _ type: ColumnType, in table: DatabaseSchema.Table
  ) -> [AttributeValue] {
    let isGiven =
      table.rowIDAlias == column.name
      || table.foreignKeys.contains { key in
        key.columns.contains(column.name) && schema.table(named: key.target)?.rowIDAlias != nil
      }
    return isGiven ? [] : type.values(of: column)
  }

  private func shown(_ type: ColumnType) -> String {
    let article = type.type == .integer || type.type == .int ? "an" : "a"
    let stored = type.stored.map { ", stored as \($0.rawValue)" } ?? ""
    let limit = type.type == .string && type.maxLength == nil ? " without maxLength" : ""
    return "\(article) \(type.type.rawValue)\(stored)\(limit)"
  }

  private func unique(_ table: DatabaseSchema.Table, _ draft: EntityDraft) -> [[Int]] {
    var unique: [[Int]] = []
    for columns in table.uniqueKeys {
      let positions = columns.compactMap(draft.position(ofColumn:))
      if positions.count == columns.count, Set(positions) != Set(draft.key),
        !unique.contains(positions)
      {
        unique.append(positions)
      }
    }
    return unique
  }

  /// Temporary keys of objects that wait for the business system's are the lowest quarter of the
  /// 64-bit numbers, and texts that begin with a tilde.
  private mutating func tellKeys(_ table: DatabaseSchema.Table) {
    for name in table.primaryKey {
      guard let profile = table.column(named: name)?.profile else { continue }
      if profile.integers > 0, profile.smallest < Int64.min / 2 {
        notes.append(
          Note(
            .told, table.name, "its key \(name) has values as low as \(profile.smallest)",
            cure:
              "Give those rows other keys: numbers below \(Int64.min / 2) are temporary keys of "
              + "new objects."
          ))
      } else if profile.integers > 0, profile.smallest < 0 {
        notes.append(
          Note(
            .told, table.name, "its key \(name) has negative values, down to \(profile.smallest)",
            cure: "Keep them above \(Int64.min / 2), where temporary keys of new objects begin."))
      }
      if profile.tildes > 0 {
        notes.append(
          Note(
            .told, table.name, "its key \(name) begins with ~ in \(profile.tildes) rows",
            cure: "Give those rows other keys: temporary keys of new objects begin with ~."))
      }
    }
  }
}
