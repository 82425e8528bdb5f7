import FerryModel
import FerrySQLite
import Synchronization

/// Notices when another process has brought the file to another model, or to the tables of another
/// Ferry, while it is open here: what is written by the older one could not be read by the newer.
///
/// It may be used from every thread.
final class ModelGuard: Sendable {
  private let model: Package
  /// SQLite's number of the schema under which the file was last found to be of this model.
  private let known = Mutex<Int64?>(nil)

  init(_ model: Package) { self.model = model }

  /// Inside a transaction; throws `.incompatibleModel`.
  func check(_ connection: Connection) throws(FerryError) {
    let (number, isOfThis) = try found(connection)
    guard isOfThis else { throw refusal(connection) }
    known.withLock { $0 = number }
  }

  private func found(_ connection: Connection) throws(FerryError) -> (Int64, isOfThis: Bool) {
    do {
      let number = try connection.schemaNumber()
      if known.withLock({ $0 == number }) { return (number, true) }
      let version = try connection.value("PRAGMA user_version")?.integer
      let text = try Settings.get(.model, connection)
      return (
        number,
        version == Schema.version
          && text == ModelWriter.text(of: model, schema: nil, documented: false)
      )
    } catch {
      throw Store.failure(error, path: connection.path)
    }
  }

  private func refusal(_ connection: Connection) -> FerryError {
    let package = (try? Settings.get(.package, connection)) ?? "another model"
    return FerryError(
      .incompatibleModel,
      "another process migrated the database \(connection.path) to \(package) while it was "
        + "open here with \(model.id)",
      hint:
        "Close it; an app or an extension of that model can open it. Nothing was read or "
        + "saved now; earlier data was not changed.")
  }
}
