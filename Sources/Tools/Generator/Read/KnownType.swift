import FerryModel

/// The type of a column in a database that keeps its types, as a model has it.
package enum KnownType: Sendable, Equatable {
  /// Limits are those of the column; nil where it sets none.
  case type(AttributeType, maxLength: Int?, precision: Int?, scale: Int?)
  /// No attribute can have it. `reason` is a clause without a full stop, `cure` a sentence.
  case none(reason: String, cure: String)
}

/// Which types of a model a column can have, in a database that keeps its types.
package struct KeptTypes: Sendable, Equatable {
  /// The column and the type have the same values, or the type has more.
  package var wholly: Set<AttributeType>
  /// Only some values are of the column and of the type.
  package var partly: Set<AttributeType>
  /// Of an array: what a list may be of; empty for other columns.
  package var elements: Set<AttributeType>

  package init(
    wholly: Set<AttributeType>, partly: Set<AttributeType>, elements: Set<AttributeType> = []
  ) {
    self.wholly = wholly
    self.partly = partly
    self.elements = elements
  }

  /// Nil where the column can have none of the attribute's values.
  func holds(_ attribute: Attribute) -> Bool? {
    if attribute.type == .list, !elements.isEmpty {
      let element = attribute.element.flatMap(AttributeType.init(rawValue:)) ?? .complex
      return elements.contains(element) ? true : nil
    }
    if wholly.contains(attribute.type) { return true }
    return partly.contains(attribute.type) ? false : nil
  }
}

extension DatabaseSchema {
  /// Tables and views in the order in which they are to be shown.
  package init(inOrder tables: [Table], views: [String]) {
    self.init(tables: tables, views: views)
  }
}

extension DatabaseSchema.Table {
  /// A table of another database than SQLite. `countedKey` is the one key column to which the
  /// database gives values; nil where there is none.
  package init(
    named name: String, columns: [DatabaseSchema.Column], primaryKey: [String],
    countedKey: String?, uniqueKeys: [[String]], foreignKeys: [DatabaseSchema.ForeignKey],
    triggers: [String], hasChecks: Bool, comment: String? = nil
  ) {
    self.init(
      name: name, columns: columns, primaryKey: primaryKey, rowIDAlias: countedKey,
      uniqueKeys: uniqueKeys, foreignKeys: foreignKeys, triggers: triggers, isVirtual: false,
      hasChecks: hasChecks, comment: comment)
  }
}

extension DatabaseSchema.Column {
  /// A column of another database than SQLite.
  package init(
    named name: String, declaredType: String, isNotNull: Bool, hasDefault: Bool,
    isGenerated: Bool, known: KnownType, kept: KeptTypes? = nil,
    remark: DatabaseSchema.Remark? = nil,
    comment: String? = nil, values: [AttributeValue] = []
  ) {
    self.init(
      name: name, declaredType: declaredType, isNotNull: isNotNull, hasDefault: hasDefault,
      isGenerated: isGenerated, profile: ColumnProfile(), known: known, kept: kept,
      remark: remark, comment: comment, values: values)
  }
}

extension DatabaseSchema.ForeignKey {
  /// From columns of one table to a key of another, in the same order.
  package init(from columns: [String], to target: String, _ targetColumns: [String]) {
    self.init(columns: columns, target: target, targetColumns: targetColumns)
  }
}
