import FerryModel

/// What a database says of itself, before anything is decided.
public struct DatabaseSchema: Sendable, Equatable {
  /// In the order of their names.
  public let tables: [Table]
  public let views: [String]
  /// What the business system has and no table can be.
  public var leftOut: [Note] = []

  /// A table as it was declared.
  public struct Table: Sendable, Equatable {
    public let name: String
    public let columns: [Column]
    /// In the key's order; empty when none is declared.
    public let primaryKey: [String]
    /// The one key column that is SQLite's own row number, which SQLite gives to new rows.
    public let rowIDAlias: String?
    /// Sets of columns that an index keeps unique for all rows.
    public let uniqueKeys: [[String]]
    public let foreignKeys: [ForeignKey]
    public let triggers: [String]
    public let isVirtual: Bool
    public let hasChecks: Bool
    /// What the database itself says of it, for people.
    public var comment: String?
    /// What one of its objects is called; nil where the table's name must do.
    public var objectName: String?
    /// What the business system lets nobody do.
    public var forbidden: Set<OperationKind> = []

    /// SQLite takes names without regard to case, and so does this; where two differ by nothing
    /// else it is the exact one.
    public func column(named name: String) -> Column? {
      columns.first { $0.name == name }
        ?? columns.first { $0.name.lowercased() == name.lowercased() }
    }
  }

  /// A column as it was declared, and what is in it.
  public struct Column: Sendable, Equatable {
    public let name: String
    /// As it was written, perhaps empty.
    public let declaredType: String
    public let isNotNull: Bool
    public let hasDefault: Bool
    public let isGenerated: Bool
    public var profile: ColumnProfile
    /// What another database than SQLite knows of its values; nil where values decide.
    public var known: KnownType?
    /// Which other types the model's author may choose; nil where values decide.
    public var kept: KeptTypes?
    /// What the author of a model should know of the column's type.
    public var remark: Remark?
    /// What the database itself says of it, for people.
    public var comment: String?
    /// The values that a plain check or an enumeration allows, in its order; empty where there is none.
    public var values: [AttributeValue] = []
  }

  /// Something to know of a column that is in the model.
  public struct Remark: Sendable, Equatable {
    /// A clause without a full stop.
    public let what: String
    /// A sentence.
    public let cure: String

    public init(_ what: String, cure: String) {
      self.what = what
      self.cure = cure
    }
  }

  /// Columns that hold the key of a row elsewhere.
  public struct ForeignKey: Sendable, Equatable {
    public let columns: [String]
    public let target: String
    /// The target's primary key where the declaration names none.
    public let targetColumns: [String]
  }

  /// SQLite takes names without regard to case, and so does this; where two differ by nothing else
  /// it is the exact one.
  public func table(named name: String) -> Table? {
    tables.first { $0.name == name }
      ?? tables.first { $0.name.lowercased() == name.lowercased() }
  }
}
