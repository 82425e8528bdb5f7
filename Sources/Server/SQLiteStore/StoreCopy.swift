import FerryModel
import FerrySQLite
import FerryServer

/// Copies of a server's store, made while the server runs.
///
/// A copy is a store: a server that starts on it opens a new era, by which devices find out what it
/// does not know.
package struct StoreCopy: Sendable {
  /// The id of the server.
  package let server: String
  /// Of the tables.
  package let version: Int64
  /// Which packages it has, and the digest of what devices get of each.
  package let packages: [Package]

  /// A package in the store.
  package struct Package: Sendable, Equatable {
    package let name: String
    package let shape: String

    package init(name: String, shape: String) {
      self.name = name
      self.shape = shape
    }
  }

  package static let fileName: String = "server.sqlite"

  /// Copies the store of a folder, which a server may be using, into a new file.
  ///
  /// Each page of the copy is looked at: a damaged store has no copy. `progress`: how many pages are
  /// copied, of how many. Errors: `badRequest` where there is no store, `damagedStore` where it is
  /// broken, and what either disk answers.
  package static func make(
    of folder: String, to path: String, progress: (_ done: Int, _ total: Int) -> Void
  ) throws(ServerError) -> StoreCopy {
    try MoveMark.requireNone(in: folder)
    let file = "\(folder)/\(fileName)"
    do {
      let source = try Connection(path: file, mode: .readOnly)
      try source.copy(to: path, progress: progress)
    } catch  where error.isCannotOpen {
      throw .noStore(
        in: folder,
        hint: "Name the data folder of a server. A store in PostgreSQL is copied with pg_dump.")
    } catch {
      throw ServerError(StoreError(error), store: error.subject == path ? path : file)
    }
    do throws(ServerError) { return try StoreCopy(path, isThorough: true) } catch {
      guard error.code == .damagedStore else { throw error }
      // The copy is as its source; the source is what somebody has to look after.
      throw ServerError(
        .damagedStore,
        error.message.replacing(path, with: file) + "; no backup was made",
        hint: "Keep the last good backup: `ferry restore` makes a data folder of it. Check the "
          + "disk.")
    }
  }

  /// Reads what a copy says of itself. `isThorough`: whether each page of it is looked at.
  ///
  /// Errors: `newerStore`, and `damagedStore` where it is none, or is broken.
  package init(_ path: String, isThorough: Bool) throws(ServerError) {
    do {
      let connection = try Connection(path: path, mode: .readOnly)
      let version = try connection.value("PRAGMA user_version")?.integer ?? 0
      guard version <= Schema.version else {
        throw ServerError(
          .newerStore,
          "the store \(path) has version \(version); this program supports up to "
            + "\(Schema.version)",
          hint: "Use the `ferry` of the server's version that made the backup.")
      }
      guard try connection.value("PRAGMA application_id")?.integer == Schema.applicationID,
        let server = try connection.value("SELECT id FROM server")?.text
      else {
        throw ServerError(
          .damagedStore, "\(path) is not a store of a server", hint: "Use another backup.")
      }
      if isThorough, let fault = try connection.value("PRAGMA quick_check(1)")?.text, fault != "ok"
      {
        throw ServerError(
          .damagedStore, "the store \(path) is broken: \(StoreCopy.line(fault))",
          hint: "Use another backup.")
      }
      self.server = server
      self.version = version
      packages = try connection.rows("SELECT name, shape FROM package ORDER BY name").map { row in
        Package(name: row[0].text ?? "", shape: row[1].text ?? "")
      }
    } catch let error as ServerError {
      throw error
    } catch let error as SQLiteError {
      throw ServerError(StoreError(error), store: path)
    } catch {
      throw ServerError(.store, "\(error)", hint: "Use another backup.")
    }
  }

  /// What SQLite says of a fault, without its heading and in one line.
  static func line(_ fault: String) -> String {
    fault.split(separator: "\n").filter { !$0.hasPrefix("***") }.joined(separator: "; ")
  }

  /// Throws `badRequest` where the store does not have what devices of this model need.
  package func check(_ model: FerryModel.Package) throws(ServerError) {
    guard let known = packages.first(where: { $0.name == model.id }) else {
      throw ServerError(
        .badRequest,
        "the backup does not have the package \(model.id); it has "
          + packages.map(\.name).joined(separator: ", "),
        hint: "Name its model, or another backup.")
    }
    guard known.shape == model.shape else {
      throw ServerError(
        .changedModel,
        "the model \(model.id) changes the data that devices get since the backup was made",
        hint: "Name the model of that time, or give this one a higher version.")
    }
  }
}

extension ServerError {
  static func noStore(
    in folder: String, hint: String = "Name the data folder of a server."
  ) -> ServerError {
    ServerError(.badRequest, "there is no store in the folder \(folder)", hint: hint)
  }
}
