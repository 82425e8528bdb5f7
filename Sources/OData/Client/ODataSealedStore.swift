public import FerryPersistence
import FerryWorld

/// Keeps the entries of a download cache for good, in a store of the device kit, which is sealed
/// unless it was opened in plain mode.
///
/// ```swift
/// let store = try Persistence(folder: folder + "/downloads", key: key)
/// options.cache = ODataDownloadCache(store: ODataSealedStore(store))
/// ```
///
/// Addresses, headers and bodies are sealed, and the names of files do not show them. Other data of
/// the app may be in the same store. Works on a thread of its own.
public actor ODataSealedStore: ODataDownloadStore {
  private let store: Persistence
  private let executor = ThreadExecutor(name: "ferry-downloads")
  private let prefix: String

  /// `name` tells the caches of one store apart.
  public init(_ store: Persistence, name: String = "downloads") {
    self.store = store
    prefix = "\(name)/"
  }

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// The bytes under a name; nil also where they are damaged, so that they are loaded again.
  public func load(_ name: String) -> [UInt8]? { try? store.loadData(prefix + name) }

  /// Keeps the bytes. A full disk keeps nothing under the name, so that the next load is from the
  /// service.
  public func save(_ bytes: [UInt8], _ name: String) {
    do throws(PersistenceError) { try store.storeData(bytes, id: prefix + name) } catch {
      remove(name)
    }
  }

  /// Removes the bytes. Where the disk refuses even that, an older entry may be found again.
  public func remove(_ name: String) { _ = try? store.removeData(prefix + name) }
}
