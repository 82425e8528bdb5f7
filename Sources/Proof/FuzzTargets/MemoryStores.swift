import FerryPreferences
import FerryVault
import FerryWorld
import Synchronization

/// One vault in memory.
final class MemoryVault: VaultStorage {
  private let bytes: Mutex<[UInt8]?>

  init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes) }

  func read(_ key: String) throws(DataVaultError) -> [UInt8]? { bytes.withLock { $0 } }
  func replace(_ key: String, with new: [UInt8]) throws(DataVaultError) {
    bytes.withLock { $0 = new }
  }
  func remove(_ key: String) throws(DataVaultError) -> Bool {
    bytes.withLock { bytes in
      defer { bytes = nil }
      return bytes != nil
    }
  }
  func prepare() throws(DataVaultError) {}
  func exclusively<Result>(
    _ key: String, _ body: () throws(DataVaultError) -> Result
  ) throws(DataVaultError) -> Result { try body() }
}

/// Preferences that are read from given bytes and never written.
struct GivenPreferences: PreferenceStore {
  private let bytes: [UInt8]
  init(_ bytes: [UInt8]) { self.bytes = bytes }
  func read() throws(PreferencesError) -> [UInt8]? { bytes }
  func replace(_ bytes: [UInt8]) throws(PreferencesError) {}
}

/// Files in memory, for one thread.
final class MemoryFiles: FileAccess {
  private let files = Mutex<[String: [UInt8]]>([:])

  var paths: [String] { files.withLock { Array($0.keys) } }
  func set(_ path: String, _ bytes: [UInt8]) { files.withLock { $0[path] = bytes } }

  func read(_ path: String, atMost limitBytes: Int) throws(FileError) -> [UInt8]? {
    guard let bytes = files.withLock({ $0[path] }) else { return nil }
    guard bytes.count <= limitBytes else { throw FileError(.tooLarge, path: path) }
    return bytes
  }

  func create(_ path: String) throws(FileError) -> any FileWriter {
    set(path, [])
    return MemoryWriter(self, path)
  }

  func open(_ path: String) throws(FileError) -> (any FileReader)? {
    files.withLock { $0[path] }.map { MemoryReader($0) }
  }

  func move(_ path: String, to target: String) throws(FileError) {
    let isMoved = files.withLock { files in
      guard let bytes = files.removeValue(forKey: path) else { return false }
      files[target] = bytes
      return true
    }
    guard isMoved else { throw FileError(.missing, path: path) }
  }

  func remove(_ path: String) throws(FileError) -> Bool {
    files.withLock { $0.removeValue(forKey: path) } != nil
  }

  func names(in folder: String) throws(FileError) -> [String]? {
    paths.filter { $0.hasPrefix(folder + "/") }.map { String($0.dropFirst(folder.count + 1)) }
  }

  func createFolder(_ path: String) throws(FileError) {}
  func removeFolder(_ path: String) throws(FileError) -> Bool { false }
  func lock(_ path: String, within: Duration) throws(FileError) -> any FileLock { MemoryLock() }

  fileprivate func append(_ bytes: UnsafeRawBufferPointer, to path: String) {
    let bytes = Array(bytes)
    files.withLock { $0[path, default: []] += bytes }
  }
}

private final class MemoryLock: FileLock {
  func release() {}
}

private final class MemoryWriter: FileWriter {
  private let files: MemoryFiles
  private let path: String

  init(_ files: MemoryFiles, _ path: String) {
    self.files = files
    self.path = path
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) { files.append(bytes, to: path) }
  func finish() throws(FileError) {}
}

private final class MemoryReader: FileReader {
  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var sizeBytes: Int { bytes.count }
  func read(into memory: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
    let count = min(memory.count, bytes.count - place)
    memory.copyBytes(from: bytes[place..<place + count])
    place += count
    return count
  }
}
