import FerryCrypto
import FerryWorld

/// The confirmation that a call needs which deletes everything.
public enum ConfirmDeletion: Sendable {
  /// All stored data may be deleted.
  case deletesAllStoredData
}

/// The confirmation that a call needs which moves everything.
public enum ConfirmMove: Sendable {
  /// All stored data may be moved.
  case movesAllStoredData
}

/// Calls that concern all that is stored.
extension Persistence {
  /// Removes all data; folder, mode and key stay. If the process is killed meanwhile, the next
  /// opening finishes the removal.
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

  /// Switches secure mode on or off, or sets another key, and removes all stored data.
  ///
  /// The caller must confirm it. `.keyMissing` for secure mode without a key; then nothing is
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

  /// Moves all stored data to another folder, which must be empty or not exist. This object then
  /// uses the new folder. The caller must confirm it.
  ///
  /// On the same disk the move is one step. To another disk the data is copied; the old folder
  /// stays valid until the copy is complete. `.invalidArgument` when the folder is in use.
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
