import FerryWorld

/// Vaults as files of one folder; several processes may use it at the same time.
public struct FolderVaultStorage: VaultStorage {
  private let folder: String
  private let files: any FileAccess
  private let lockWait: Duration

  /// `lockWait` is how long a call waits for another call on the same vault before it throws
  /// `.busy`. The longest call is the derivation of a key.
  public init(
    folder: String, files: any FileAccess = SystemFiles(), lockWait: Duration = .seconds(30)
  ) {
    self.folder = folder
    self.files = files
    self.lockWait = lockWait
  }

  public func read(_ key: String) throws(DataVaultError) -> [UInt8]? {
    do throws(FileError) {
      return try files.read(path(key), atMost: Limits.fileBytes)
    } catch {
      throw problem(.cannotRead, error)
    }
  }

  public func replace(_ key: String, with bytes: [UInt8]) throws(DataVaultError) {
    do throws(FileError) {
      try files.replace(path(key), with: bytes)
    } catch {
      throw problem(.cannotWrite, error)
    }
  }

  public func remove(_ key: String) throws(DataVaultError) -> Bool {
    do throws(FileError) {
      try files.remove(path(key) + ".new")
      return try files.remove(path(key))
    } catch {
      throw problem(.cannotWrite, error)
    }
  }

  public func prepare() throws(DataVaultError) {
    do throws(FileError) {
      try files.createFolder(folder)
    } catch {
      throw problem(.cannotWrite, error)
    }
  }

  public func exclusively<Result>(
    _ key: String, _ body: () throws(DataVaultError) -> Result
  ) throws(DataVaultError) -> Result {
    let lock: any FileLock
    do throws(FileError) {
      lock = try files.lock("\(folder)/\(key).lock", within: lockWait)
    } catch {
      switch error.cause {
      case .missing: throw DataVaultError(.doesNotExist, "there is no folder \(folder)")
      case .busy: throw DataVaultError(.busy, "another process works on this vault in \(folder)")
      default: throw problem(.cannotWrite, error)
      }
    }
    defer { lock.release() }
    return try body()
  }

  private func path(_ key: String) -> String { "\(folder)/\(key).vault" }

  private func problem(_ reason: DataVaultError.Reason, _ error: FileError) -> DataVaultError {
    DataVaultError(reason, "\(error)")
  }
}
