import FerryConnector
import FerryModel
import FerryPostgreSQL

/// The rights that a server needs in a business database, and no more: what `ferry prepare` grants
/// and what ferryd looks for at its start.
struct RequiredRights: Sendable {
  enum Object: Sendable, Hashable {
    case schema(String)
    case table(TableName)
    case sequence(TableName)

    var kind: String {
      switch self {
      case .schema: "SCHEMA"
      case .table: "TABLE"
      case .sequence: "SEQUENCE"
      }
    }

    var quoted: String {
      switch self {
      case .schema(let name): quotedName(name)
      case .table(let name), .sequence(let name): name.quoted
      }
    }
  }

  struct Right: Sendable {
    let object: Object
    /// In SQL's order.
    let privileges: [String]
    /// What cannot be done without it.
    let purpose: String
  }

  let rights: [Right]

  /// For the tables of the package that are there. `captures`: those of triggers' entries too.
  init(
    _ package: Package, _ connection: PostgreSQLConnection, remembersOperations: Bool = true,
    captures: Bool
  ) throws(PostgreSQLError) {
    var needed: [TableName: (privileges: Set<String>, entities: [String])] = [:]
    var sequences: [Right] = []
    for entity in package.served.entities where !entity.isOperation {
      guard let name = TableName(entity.table) else { continue }
      needed[name, default: ([], [])].privileges.formUnion(SQLRights.privileges(entity))
      needed[name]?.entities.append(entity.name)
      guard entity.operations.contains(.create) else { continue }
      for sequence in try RequiredRights.sequences(name, connection) {
        sequences.append(
          Right(
            object: .sequence(sequence), privileges: ["USAGE"],
            purpose: "it numbers new rows of \(entity.name)"))
      }
    }
    for name in SQLRights.parentsThatDecide(package).compactMap({ TableName($0.table) }) {
      needed[name]?.privileges.insert("UPDATE")
    }
    let tables = needed.sorted { $0.key.quoted < $1.key.quoted }.map { name, need in
      Right(
        object: .table(name),
        privileges: ["SELECT", "INSERT", "UPDATE", "DELETE"].filter(need.privileges.contains),
        purpose: "the model has it as \(need.entities.joined(separator: ", "))")
    }
    let schemas = Set(needed.keys.map(\.schema)).sorted().map {
      Right(object: .schema($0), privileges: ["USAGE"], purpose: "it has tables of the model")
    }
    rights =
      schemas + tables + sequences
      + RequiredRights.own(remembersOperations: remembersOperations, captures: captures)
  }

  /// Sequences of which defaults take numbers; those of identities need no right.
  private static func sequences(
    _ name: TableName, _ connection: PostgreSQLConnection
  ) throws(PostgreSQLError) -> [TableName] {
    let rows = try connection.rows(
      """
      SELECT sn.nspname, s.relname FROM pg_catalog.pg_class c
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_catalog.pg_attrdef d ON d.adrelid = c.oid
      JOIN pg_catalog.pg_depend p ON p.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass
        AND p.objid = d.oid AND p.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
      JOIN pg_catalog.pg_class s ON s.oid = p.refobjid AND s.relkind = 'S'
      JOIN pg_catalog.pg_namespace sn ON sn.oid = s.relnamespace
      WHERE n.nspname = $1 AND c.relname = $2 ORDER BY 1, 2
      """, [.text(name.schema), .text(name.name)])
    return rows.texts.map { TableName(schema: $0[0] ?? "", name: $0[1] ?? "") }
  }

  private static func own(remembersOperations: Bool, captures: Bool) -> [Right] {
    func right(_ table: String, _ privileges: [String], _ purpose: String) -> Right {
      Right(
        object: .table(TableName(schema: "ferry", name: table)), privileges: privileges,
        purpose: purpose)
    }
    var rights: [Right] = []
    if remembersOperations || captures {
      rights.append(
        Right(object: .schema("ferry"), privileges: ["USAGE"], purpose: "it has Ferry's tables"))
    }
    if remembersOperations {
      let purpose = "it makes each operation happen once"
      rights += [
        right("applied", ["SELECT", "INSERT", "UPDATE"], purpose),
        right("leader", ["SELECT", "INSERT", "UPDATE"], purpose),
      ]
    }
    if captures {
      let purpose = "triggers record the changes of other programs"
      rights += [
        right("change", ["SELECT", "DELETE"], purpose),
        right("floor", ["SELECT", "UPDATE"], purpose),
        right("mark", ["SELECT", "INSERT", "UPDATE", "DELETE"], purpose),
      ]
    }
    return rights
  }

  func grants(to role: String) -> [String] {
    rights.map {
      "GRANT \($0.privileges.joined(separator: ", ")) ON \($0.object.kind) \($0.object.quoted) "
        + "TO \(quotedName(role))"
    }
  }

  /// Those that the connection's user lacks, with the statement that gives them. What is not there
  /// at all is no right that is missing.
  func missing(
    _ connection: PostgreSQLConnection
  ) throws(PostgreSQLError) -> [(right: Right, privileges: [String], grant: String)] {
    let user = try connection.value("SELECT current_user") ?? ""
    var missing: [(right: Right, privileges: [String], grant: String)] = []
    for right in rights {
      var lacking: [String] = []
      for privilege in right.privileges
      where try !RequiredRights.has(privilege, right.object, connection) {
        lacking.append(privilege)
      }
      guard !lacking.isEmpty else { continue }
      missing.append(
        (
          right, lacking,
          "GRANT \(lacking.joined(separator: ", ")) ON \(right.object.kind) \(right.object.quoted) "
            + "TO \(quotedName(user));"
        ))
    }
    return missing
  }

  private static func has(
    _ privilege: String, _ object: Object, _ connection: PostgreSQLConnection
  ) throws(PostgreSQLError) -> Bool {
    let found: String?
    switch object {
    case .schema(let name):
      found = try connection.value(
        """
        SELECT pg_catalog.has_schema_privilege(n.oid, $2) FROM pg_catalog.pg_namespace n
        WHERE n.nspname = $1
        """, [.text(name), .text(privilege)])
    case .table(let name), .sequence(let name):
      let function =
        switch (object, privilege) {
        case (.sequence, _): "has_sequence_privilege"
        // One column is enough for a row's lock, and others may be closed on purpose.
        case (_, "INSERT"), (_, "UPDATE"), (_, "SELECT"): "has_any_column_privilege"
        default: "has_table_privilege"
        }
      found = try connection.value(
        """
        SELECT pg_catalog.\(function)(c.oid, $3) FROM pg_catalog.pg_class c
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = $1 AND c.relname = $2
        """, [.text(name.schema), .text(name.name), .text(privilege)])
    }
    return found != "f"
  }
}
