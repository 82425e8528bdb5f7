import FerryCrypto
import FerryWorld

/// What a caller says to a call that deletes everything.
public enum ConfirmDeletion: Sendable {
  /// All that is stored may go.
  case deletesAllStoredData
}

/// What a caller says to a call that moves everything.
public enum ConfirmMove: Sendable {
  /// All that is stored may be moved.
  case movesAllStoredData
}

/// Calls that concern all that is stored.
extension Persistence {
  /// Removes everything; folder, mode and key stay. A kill on the way is made good by the next
  /// opening.
  public func clear() throws(PersistenceError) {
    let place = now
    try exclusively(place.folder) { () throws(PersistenceError) in
      try checkUnchanged(place)
      var manifest = try place.keys.manifest()
      manifest.state = .wiping
      try Persistence.write(manifest, place.folder, files)
      try Persistence.wipe(manifest, place.folder, files)
    }
  }

  /// Switches secure mode on or off, or takes another key, and removes everything that is stored.
  ///
  /// The caller confirms it by name. `.keyMissing` for secure mode without key; then nothing is
  /// removed. Other processes that have the store open get `.changedElsewhere`.
  public func changeSecureMode(
    to isSecure: Bool, key: [UInt8]?, confirming: ConfirmDeletion
  ) throws(PersistenceError) {
    let key = try Persistence.checked(key, isSecure: isSecure)
    let place = now
    let keys = try StoreKeys(id: randomBytes(Manifest.idBytes), key: key)
    try exclusively(place.folder) { () throws(PersistenceError) in
      try checkUnchanged(place)
      var manifest = try keys.manifest()
      manifest.state = .wiping
      try Persistence.write(manifest, place.folder, files)
      become(Place(folder: place.folder, keys: keys))
      try Persistence.wipe(manifest, place.folder, files)
    }
  }

  /// Removes all data of a store whose manifest says so, then says that it is done.
  static func wipe(
    _ manifest: Manifest, _ folder: String, _ files: any FileAccess
  ) throws(PersistenceError) {
    try removeData(folder, files)
    var manifest = manifest
    manifest.state = .normal
    try write(manifest, folder, files)
  }

  private static func removeData(
    _ folder: String, _ files: any FileAccess
  ) throws(PersistenceError) {
    let names = try reading { () throws(FileError) in try files.names(in: folder) } ?? []
    for name in names where name.hasSuffix(".data") {
      try writing { () throws(FileError) in try files.remove("\(folder)/\(name)") }
    }
  }

  /// Moves everything that is stored to another folder, which must be empty or not there, and goes
  /// on there. The caller confirms it by name.
  ///
  /// On the same disk it is one step. To another disk the data is copied; the old folder counts
  /// until the copy is whole. `.invalidArgument` when the folder is in use.
  public func changeFolder(
    to folder: String, confirming: ConfirmMove
  ) throws(PersistenceError) {
    let place = now
    if folder == place.folder { return }
    try exclusively(place.folder) { () throws(PersistenceError) in
      try checkUnchanged(place)
      var names = try reading { () throws(FileError) in try files.names(in: folder) }
      if names == [Manifest.fileName + ".new"] {
        // An earlier move was ended at its first step.
        try writing { () throws(FileError) in
          try files.remove("\(folder)/\(Manifest.fileName).new")
        }
        names = []
      }
      // A copy that was not finished, or whose old data was not removed, is made anew.
      let there = names == nil ? nil : try Persistence.manifest(folder, files)
      let isArriving = there?.id == place.keys.id
      guard isArriving || names?.isEmpty != false else {
        throw PersistenceError(.invalidArgument, "the folder \(folder) is not empty")
      }
      if !isArriving, try rename(place.folder, folder) {
        become(Place(folder: folder, keys: place.keys))
        return
      }
      try copy(place, to: folder)
      become(Place(folder: folder, keys: place.keys))
      try Persistence.removeData(place.folder, files)
    }
  }

  /// False when the two are on different disks.
  private func rename(_ folder: String, _ target: String) throws(PersistenceError) -> Bool {
    do throws(FileError) {
      try files.removeFolder(target)
      if let slash = target.utf8.lastIndex(of: UInt8(ascii: "/")), slash != target.startIndex {
        try files.createFolder(String(target[..<slash]))
      }
      try files.move(folder, to: target)
      return true
    } catch {
      // EXDEV on Linux and on Apple's systems.
      if error.cause == .system(18) { return false }
      throw PersistenceError(error, writing: true)
    }
  }

  private func copy(_ place: Place, to folder: String) throws(PersistenceError) {
    try writing { () throws(FileError) in try files.createFolder(folder) }
    var manifest = try place.keys.manifest()
    manifest.state = .arriving
    try Persistence.write(manifest, folder, files)
    try Persistence.removeData(folder, files)
    let names = try reading { () throws(FileError) in try files.names(in: place.folder) } ?? []
    for name in names where name.hasSuffix(".data") {
      try copyFile("\(place.folder)/\(name)", "\(folder)/\(name)")
    }
    // From here on the new folder counts.
    manifest.state = .normal
    try Persistence.write(manifest, folder, files)
    manifest.state = .moved
    try Persistence.write(manifest, place.folder, files)
  }

  private func copyFile(_ source: String, _ target: String) throws(PersistenceError) {
    guard let reader = try reading({ () throws(FileError) in try files.open(source) }) else {
      return
    }
    let writer = try writing { () throws(FileError) in try files.create(target) }
    while true {
      let bytes = try reading { () throws(FileError) in try reader.read(BlockForm.blockBytes) }
      if bytes.isEmpty { break }
      try writing { () throws(FileError) in try writer.write(bytes) }
    }
    try writing { () throws(FileError) in try writer.finish() }
  }
}
