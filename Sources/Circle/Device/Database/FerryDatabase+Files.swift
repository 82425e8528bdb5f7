/// The life of a database's file. What other processes have open is not known here.
extension FerryDatabase {
  /// Whether there is a database at `path` (the reference's `databaseExists`).
  public static func exists(at path: String) -> Bool { DatabaseFiles.exists(path) }

  /// Deletes the database at `path` with all its files and pending changes (the reference's
  /// `deleteDatabase`). Does nothing if there is none.
  ///
  /// Errors: `inUse` while this process has it open or reads from it; `otherOwner` if the file is
  /// another program's database, or no database; `store` if the system cannot delete a file.
  public static func delete(at path: String) throws(FerryError) { try DatabaseFiles.delete(path) }

  /// The path of one user's database, for a device with several users: each user has a file, a
  /// login and pending work of their own.
  ///
  /// The same user always gets the same path, and two users never get the same one, for names of
  /// any length and with any characters. A file that an older Ferry created with its long name
  /// keeps it.
  public static func path(of user: String, package: String, in folder: String) -> String {
    let whole = "\(folder)/\(DatabaseFiles.wholeName(package, user))"
    return DatabaseFiles.exists(whole)
      ? whole : "\(folder)/\(DatabaseFiles.name(package, user))"
  }

  /// Deletes every object on the device, all pending changes, all log records and the change log
  /// (the reference's `cleanAllData`). Login and subscription stay: the next synchronization
  /// downloads everything again.
  ///
  /// With `keepClientOnly` the objects of client-only entities stay, and so do the values of
  /// client-only attributes. Such a value returns with its object, found by the business key, when
  /// that is downloaded again. Values of an object that the business system never had are deleted.
  ///
  /// Submitted changes may still be performed; the app gets no answer to them any more.
  public func cleanAllData(keepClientOnly: Bool = false) throws(FerryError) {
    try store.cleanAllData(keepsClientOnly: keepClientOnly)
    try Contents(store).sweep()
    store.bell.ring()
  }

  /// Returns the space of deleted rows to the system. It takes longer for a larger database, and
  /// needs as much free space again; nothing can be saved meanwhile.
  public func vacuum() throws(FerryError) { try store.vacuum() }
}
