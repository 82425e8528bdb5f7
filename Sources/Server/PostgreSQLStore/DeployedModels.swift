import FerryPostgreSQL
import FerryServer

/// The models that were deployed while servers ran, in the store that the servers share. For one
/// thread.
package final class DeployedModels {
  private let address: PostgreSQLAddress
  private let line: Line

  package init(_ address: PostgreSQLAddress) {
    self.address = address
    line = Line(address, application: "ferryd deploys")
  }

  /// In the order of their names; none where the store has not been made yet.
  package func read() throws(ServerError) -> [DeployedModel] {
    try guarded { () throws(StoreError) in
      guard try line.rows("SELECT pg_catalog.to_regclass('ferry_store.deployed')").text(0, 0) != nil
      else { return [] }
      let rows = try line.rows(
        "SELECT package, model, database, mapping FROM ferry_store.deployed ORDER BY package")
      return (0..<rows.count).map { row in
        DeployedModel(
          package: rows.exact(row, 0) ?? "", model: Array((rows.exact(row, 1) ?? "").utf8),
          database: rows.exact(row, 2) ?? "", mapping: rows.exact(row, 3).map { Array($0.utf8) })
      }
    }
  }

  package func keep(_ model: DeployedModel) throws(ServerError) {
    try guarded { () throws(StoreError) in try DeployedModels.keep(model, line) }
  }

  static func keep(_ model: DeployedModel, _ line: Line) throws(StoreError) {
    _ = try line.rows(
      """
      INSERT INTO ferry_store.deployed (package, model, database, mapping) VALUES ($1, $2, $3, $4)
      ON CONFLICT (package) DO UPDATE SET model = excluded.model, database = excluded.database,
        mapping = excluded.mapping
      """,
      [
        .exact(model.package), .exact(String(decoding: model.model, as: UTF8.self)),
        .exact(model.database),
        model.mapping.map { .exact(String(decoding: $0, as: UTF8.self)) } ?? .null,
      ])
  }

  package func remove(_ package: String) throws(ServerError) {
    try guarded { () throws(StoreError) in
      _ = try line.rows("DELETE FROM ferry_store.deployed WHERE package = $1", [.exact(package)])
    }
  }

  private func guarded<Value>(
    _ body: () throws(StoreError) -> Value
  ) throws(ServerError) -> Value {
    do throws(StoreError) { return try body() } catch {
      throw ServerError(error, store: address.text)
    }
  }
}
