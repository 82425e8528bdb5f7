import FerryModel

/// What a database says of itself, before anything is decided.
package struct DatabaseSchema: Sendable, Equatable {
  /// In the order of their names.
  package let tables: [Table]
  package let views: [String]
  /// What the business system has and no table can be.
  package var leftOut: [Note] = []

  /// A table as it was declared.
  package struct Table: Sendable, Equatable {
    package let name: String
    package let columns: [Column]
    /// In the key's order; empty when none is declared.
    package let primaryKey: [String]
    /// The one key column that is SQLite's own row number, which SQLite gives to new rows.
    package let rowIDAlias: String?
    /// Sets of columns that an index keeps unique for all rows.
    package let uniqueKeys: [[String]]
    package let foreignKeys: [ForeignKey]
    package let triggers: [String]
    package let isVirtual: Bool
    package let hasChecks: Bool
    /// What the database itself says of it, for people.
    package var comment: String?
    /// What one of its objects is called; nil where the table's name must do.
    package var objectName: String?
    /// What the business system lets nobody do.
    package var forbidden: Set<OperationKind> = []

    /// SQLite takes names without regard to case, and so does this; where two differ by nothing
    /// else it is the exact one.
    package func column(named name: String) -> Column? {
      columns.first { $0.name == name }
        ?? columns.first { $0.name.lowercased() == name.lowercased() }
    }
  }

  /// A column as it was declared, and what is in it.
  package struct Column: Sendable, Equatable {
    package let name: String
    /// As it was written, perhaps empty.
    package let declaredType: String
    package let isNotNull: Bool
    package let hasDefault: Bool
    package let isGenerated: Bool
    package var profile: ColumnProfile
    /// What another database than SQLite knows of its values; nil where values decide.
    package var known: KnownType?
    /// Which other types the model's author may choose; nil where values decide.
    package var kept: KeptTypes?
    /// What the author of a model should know of the column's type.
    package var remark: Remark?
    /// What the database itself says of it, for people.
    package var comment: String?
    /// The values that a plain check or an enumeration allows, in its order; empty where there is none.
    package var values: [AttributeValue] = []
  }

  /// Something to know of a column that is in the model.
  package struct Remark: Sendable, Equatable {
    /// A clause without a full stop.
    package let what: String
    /// A sentence.
    package let cure: String

    package init(_ what: String, cure: String) {
      self.what = what
      self.cure = cure
    }
  }

  /// Columns that hold the key of a row elsewhere.
  package struct ForeignKey: Sendable, Equatable {
    package let columns: [String]
    package let target: String
    /// The target's primary key where the declaration names none.
    package let targetColumns: [String]
  }

  /// SQLite takes names without regard to case, and so does this; where two differ by nothing else
  /// it is the exact one.
  package func table(named name: String) -> Table? {
    tables.first { $0.name == name }
      ?? tables.first { $0.name.lowercased() == name.lowercased() }
  }
}
