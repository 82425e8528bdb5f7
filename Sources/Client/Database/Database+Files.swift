/// The life of a database's file. What other processes have open is not known here.
extension Database {
  /// Whether there is a database at `path` (the reference's `databaseExists`, facts/1.6).
  public static func exists(at path: String) -> Bool { DatabaseFiles.exists(path) }

  /// Deletes the database at `path` with all that belongs to it, pending changes included (the
  /// reference's `deleteDatabase`, facts/1.6). Nothing happens where there is none.
  ///
  /// `inUse` while this process has it open, or something still reads from it; `store` where the
  /// system does not let it go.
  public static func delete(at path: String) throws(FerryError) { try DatabaseFiles.delete(path) }

  /// Where the database of one of several users of a device lies: each has a file, a login and
  /// pending work of their own.
  ///
  /// The same user gives the same path, and two users never do, however long a name is and whatever
  /// is in it. A file that has its long name already, from an older Ferry, keeps it.
  public static func path(of user: String, package: String, in folder: String) -> String {
    let whole = "\(folder)/\(DatabaseFiles.wholeName(package, user))"
    return DatabaseFiles.exists(whole)
      ? whole : "\(folder)/\(DatabaseFiles.name(package, user))"
  }

  /// Deletes every object on the device, what is pending, every log record and what the change log
  /// has noted (the reference's `cleanAllData`, facts/1.4). Login and subscription stay: the next
  /// synchronization brings everything anew.
  ///
  /// With `keepClientOnly` the objects of client-only entities stay, and so do the values of
  /// client-only attributes: each comes back with its object, found by its business key, when that
  /// is downloaded again. An object that the business system never had keeps nothing.
  ///
  /// What was submitted may be performed all the same; nothing tells the app of it any more.
  public func cleanAllData(keepClientOnly: Bool = false) throws(FerryError) {
    try store.cleanAllData(keepsClientOnly: keepClientOnly)
    try store.sweepContents()
    store.bell.ring()
  }

  /// Gives the space of deleted rows back to the system (facts/1.6). Takes time with the size of
  /// the database, and as much free space again; nothing can be saved meanwhile.
  public func vacuum() throws(FerryError) { try store.vacuum() }
}
