import FerryWorld
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// The resource bundles of an application: the ZIP and JAR files of a folder. The folder is read again
/// after a file was added, replaced or removed.
final class BundleShelf: Sendable {
  let folder: String
  private let log: any Log
  private let state = Mutex(State())

  private struct State {
    var bundles: [String: BundleFile] = [:]
    /// The files of the folder with their states, in order.
    var seen: [String]?
  }

  init(folder: String, log: any Log) {
    self.folder = folder
    self.log = log
  }

  /// By `name:version`. A file that is no bundle is left out, and the log says why.
  ///
  /// Any thread. Reads the names of the folder, and of new files the directory.
  func bundle(_ id: String) -> BundleFile? {
    state.withLock { state in
      let files = BundleShelf.files(folder)
      let seen = files.map { "\($0.path) \($0.etag)" }
      if seen != state.seen {
        state.bundles = BundleShelf.read(files.map(\.path)) { [log] fault in
          log.warn("a bundle is left out", ("reason", fault.message), ("cure", fault.hint))
        }
        state.seen = seen
      }
      return state.bundles[id]
    }
  }

  /// By `name:version`; of two files with one name and version the first by file name.
  static func read(
    _ paths: [String], _ fault: (ApplicationsError) -> Void
  ) -> [String: BundleFile] {
    var bundles: [String: BundleFile] = [:]
    for path in paths {
      do throws(ApplicationsError) {
        let bundle = try BundleFile(path: path)
        if let other = bundles[bundle.id] {
          throw ApplicationsError(
            "\(path) and \(other.path) are both the bundle \(bundle.id)",
            hint: "Give one of them another version, or remove it.")
        }
        bundles[bundle.id] = bundle
      } catch { fault(error) }
    }
    return bundles
  }

  /// The plain files of a folder that end with .zip or .jar, by name.
  static func files(_ folder: String) -> [(path: String, etag: String)] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      let isBundle = name.hasSuffix(".zip") || name.hasSuffix(".jar")
      if isBundle, !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted().compactMap { name in
      OpenFile(path: "\(folder)/\(name)").map { ($0.path, $0.etag) }
    }
  }
}
