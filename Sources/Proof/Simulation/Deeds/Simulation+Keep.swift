#if canImport(Glibc)
  import Glibc
#endif

/// The disks of a run live in its memory; here they are written out, to be looked into.
extension Simulation {
  /// Writes what stands on each disk now, also what was not synced. Gives what to tell of it.
  func keepDisks(in folder: String) -> String {
    var disks = [("server", server.disk)]
    disks += devices.map { ("device-\($0.number)", $0.disk) }
    for (name, disk) in disks {
      for (path, bytes) in disk.files {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        guard makeFolders("\(folder)/\(name)"), write(bytes, to: "\(folder)/\(name)/\(file)") else {
          return
            "not kept: \(folder)/\(name)/\(file) cannot be written: \(String(cString: strerror(errno)))"
        }
      }
    }
    return folder
  }

  private func makeFolders(_ path: String) -> Bool {
    var made = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
      made += "/\(part)"
      if mkdir(made, 0o755) != 0, errno != EEXIST { return false }
    }
    return true
  }

  private func write(_ bytes: [UInt8], to path: String) -> Bool {
    guard let file = fopen(path, "w") else { return false }
    let count = bytes.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
    return fclose(file) == 0 && count == bytes.count
  }
}
