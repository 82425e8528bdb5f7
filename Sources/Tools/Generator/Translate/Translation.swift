import FerryModel

/// A model that came from a database, and what its author should know of it.
package struct Translation: Sendable, Equatable {
  package let package: Package
  /// What was left out first, then what was changed, then the rest; each in the order of the tables.
  package let notes: [Note]

  package func notes(_ kind: Note.Kind) -> [Note] { notes.filter { $0.kind == kind } }
}

/// What the author asks for beyond what the database says.
package struct TranslationOptions: Sendable {
  /// An identifier; made one if it is not.
  package var name: String
  package var version: String
  package var partitions: [PartitionRequest]
  package var groups: [GroupRequest]
  package var entities: [EntityRequest]
  /// Which tables without a partition rule everyone may write. None if not given: devices read them.
  package var writable: Chosen
  /// Which columns with names of secrets devices get, each as `Table.Column`. None if not given.
  package var kept: Chosen

  package init(
    name: String, version: String = "1.0", partitions: [PartitionRequest] = [],
    groups: [GroupRequest] = [], entities: [EntityRequest] = [], writable: Chosen = .these([]),
    kept: Chosen = .these([])
  ) {
    self.name = name
    self.version = version
    self.partitions = partitions
    self.groups = groups
    self.entities = entities
    self.writable = writable
    self.kept = kept
  }

  /// What the author opens by name.
  package enum Chosen: Sendable, Equatable {
    case all
    /// Compared without regard to case, as SQLite does with names.
    case these([String])

    /// `Table,Table`, each option's value; `all` alone means all.
    package init(_ texts: [String]) {
      let names = texts.flatMap { $0.split(separator: ",").map(String.init) }
      self = names == ["all"] ? .all : .these(names)
    }

    func has(_ name: String) -> Bool {
      switch self {
      case .all: true
      case .these(let names): names.contains { $0.lowercased() == name.lowercased() }
      }
    }
  }
}

/// `Booking=Bookings`: the entity's name, where the table's does not read well in Swift.
package struct EntityRequest: Sendable, Equatable {
  package let name: String
  package let table: String

  package init(_ text: String) throws(GeneratorError) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, ReservedName.isIdentifier(String(parts[0])), !parts[1].isEmpty else {
      throw GeneratorError(
        "\"\(text)\" is not an entity name",
        hint: "Write Name=Table; the name begins with a letter, then letters and digits.")
    }
    name = String(parts[0])
    table = String(parts[1])
    if let clash = ReservedName.clashOfType(name) {
      throw GeneratorError("\(name) is \(clash)", hint: "Give the entity another name.")
    }
  }
}

/// `Orders=EmployeeID:claim:employee,Region:open`.
package struct PartitionRequest: Sendable, Equatable {
  /// A table or an entity.
  package let entity: String
  /// Each a column or an attribute.
  package let columns: [(name: String, source: PartitionSource)]

  package init(_ text: String) throws(GeneratorError) {
    let wrong = GeneratorError(
      "\"\(text)\" is not a partition rule",
      hint: "Write Entity=Column:claim:<name>, or Entity=Column:open; several columns with commas.")
    guard let equals = text.firstIndex(of: "=") else { throw wrong }
    entity = String(text[..<equals])
    var columns: [(name: String, source: PartitionSource)] = []
    for part in text[text.index(after: equals)...].split(
      separator: ",", omittingEmptySubsequences: false)
    {
      guard let colon = part.firstIndex(of: ":"), colon > part.startIndex,
        let source = PartitionSource(String(part[part.index(after: colon)...]))
      else { throw wrong }
      columns.append((String(part[..<colon]), source))
    }
    self.columns = columns
    guard !entity.isEmpty else { throw wrong }
  }

  package static func == (left: PartitionRequest, right: PartitionRequest) -> Bool {
    left.entity == right.entity && left.columns.map(\.name) == right.columns.map(\.name)
      && left.columns.map(\.source) == right.columns.map(\.source)
  }
}

/// `stock=Products,Suppliers`.
package struct GroupRequest: Sendable, Equatable {
  package let name: String
  /// Each a table or an entity.
  package let entities: [String]

  package init(_ text: String) throws(GeneratorError) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, ReservedName.isIdentifier(String(parts[0])), !parts[1].isEmpty else {
      throw GeneratorError(
        "\"\(text)\" is not a group",
        hint: "Write name=Entity,Entity; the name begins with a letter, then letters and digits.")
    }
    name = String(parts[0])
    entities = parts[1].split(separator: ",").map(String.init)
  }
}
