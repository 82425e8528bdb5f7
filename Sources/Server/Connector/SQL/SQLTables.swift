import FerryModel

/// The tables of a package as they were when they were last read, with the fingerprint of the
/// catalogue from then. A table that is missing, or lacks a column, is an error for its entity alone.
public struct SQLTables<Table, Fingerprint: Equatable> {
  private let package: Package
  private var tables: [String: Table] = [:]
  private var failures: [String: ConnectorError] = [:]
  /// By the name, or number, that the database itself uses for the table.
  public private(set) var byName: [String: [Table]] = [:]
  private var fingerprint: Fingerprint?

  public init(_ package: Package) { self.package = package }

  /// Whether they were read when the catalogue had another fingerprint.
  public func isOlder(than now: Fingerprint) -> Bool { now != fingerprint }

  /// Reads all tables anew unless the catalogue has the fingerprint of the last time. `read` gives the
  /// table of an entity and the database's name for it; nil where there is none.
  public mutating func refresh(
    _ now: Fingerprint, _ read: (Entity) throws(ConnectorError) -> (name: String, table: Table)?
  ) {
    guard now != fingerprint else { return }
    self.read(read)
    fingerprint = now
  }

  /// The same in any case.
  public mutating func read(
    _ read: (Entity) throws(ConnectorError) -> (name: String, table: Table)?
  ) {
    (tables, failures, byName, fingerprint) = ([:], [:], [:], nil)
    for entity in package.entities where !entity.isOperation {
      do throws(ConnectorError) {
        guard let (name, table) = try read(entity) else {
          throw ConnectorError(
            "The business database has no table \(entity.table), which \(entity.name) needs",
            hint: ConnectorError.modelDiffers, isTransient: false)
        }
        tables[entity.name] = table
        byName[name, default: []].append(table)
      } catch {
        failures[entity.name] = error
      }
    }
  }

  /// Throws what stood in the way when the tables were read.
  public func table(of entity: Entity) throws(ConnectorError) -> Table {
    if let table = tables[entity.name] { return table }
    throw failures[entity.name]
      ?? ConnectorError(
        "\(entity.name) is not an entity of \(package.id)",
        hint: "Give the connector and the server the same model.", isTransient: false)
  }

  /// The same; nil where it could not be read.
  public func known(_ entity: Entity) -> Table? { tables[entity.name] }
}

extension ConnectorError {
  /// The cure where the database is not what the model says.
  public static let modelDiffers =
    "Run `ferry diff` to see what changed, then deploy a model that fits."

  /// A column that the entity needs is not in its table.
  public static func noColumn(
    _ column: String, inTable table: String, for entity: Entity
  ) -> ConnectorError {
    ConnectorError(
      "Table \(table) has no column \(column), which \(entity.name) needs",
      hint: modelDiffers, isTransient: false)
  }
}
