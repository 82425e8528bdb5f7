import FerrySQLite

/// Whose database a file is: asked before the first write, so that a path that was given by mistake
/// costs nobody their database.
struct FileOwner {
  /// What a device's database has in its header: "Frry".
  static let application: Int64 = 0x4672_7279
  /// What each version of a device's database has had.
  private static let tables: Set<String> = ["ferry_setting", "ferry_operation"]

  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  /// Throws `.otherOwner` for a database that is none of a device, and leaves its file as it is. One
  /// that holds nothing yet may become a device's.
  func check() throws {
    // The number that tells a device's is read last: another process may make the database meanwhile.
    let tables = try connection.rows(
      """
      SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')
      AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
      """
    ).compactMap { $0[0].text }
    let version = try connection.value("PRAGMA user_version")?.integer ?? 0
    let application = try connection.value("PRAGMA application_id")?.integer ?? 0
    guard application != FileOwner.application else { return }
    if application == 0 {
      // The first has nothing in it; the second is of an older Ferry, which wrote no number.
      if version == 0, tables.isEmpty { return }
      if version > 0, FileOwner.tables.isSubset(of: tables) { return }
    }
    connection.leavesFoundLog()
    throw FerryError(
      .otherOwner,
      "the file \(connection.path) is a database, but not one of a device: "
        + FileOwner.signs(application, version, tables),
      hint: "Give the path of a device's database, or a new one; nothing was written to this file.")
  }

  /// Throws `.otherOwner` where the file is certainly none of a device, and `.inUse` where another
  /// program keeps it from being read: before it is deleted.
  ///
  /// A device's own that is damaged, or whose key is lost, may be deleted.
  static func checkDeletion(_ path: String) throws(FerryError) {
    guard let kind = try? FileKind.of(path) else { return }
    switch kind {
    case .nothing, .sealed: return
    case .plain:
      do {
        try FileOwner(Connection(path: path, mode: .readWrite)).check()
      } catch let error as FerryError {
        throw notDeleted(error.message)
      } catch let error as SQLiteError where error.isBusy {
        throw FerryError(
          .inUse, "another program has locked the database \(path)",
          hint: "End that program and try again; nothing was deleted.", cause: error)
      } catch {
        // A database that cannot be read does not say that it is another's.
      }
    case .other: throw notDeleted("the file \(path) is no database")
    }
  }

  private static func notDeleted(_ message: String) -> FerryError {
    FerryError(
      .otherOwner, message,
      hint: "Give the path of a device's database; nothing was deleted.")
  }

  private static func signs(_ application: Int64, _ version: Int64, _ tables: [String]) -> String {
    guard !tables.isEmpty else {
      return "its application_id is \(application) and its user_version \(version)"
    }
    let shown = tables.prefix(3).joined(separator: ", ")
    return tables.count > 3
      ? "it holds \(shown) and \(tables.count - 3) more tables" : "it holds \(shown)"
  }
}
