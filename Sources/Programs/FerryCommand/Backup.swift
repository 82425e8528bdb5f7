import FerryCrypto
import FerryJSON
import FerrySQLite
import FerrySQLiteStore
import FerryServer
import FerryWorld
import Foundation

/// A backup of a server: a folder with its store, its keys, its deployed packages and its users, and a
/// list of them, which is written last.
struct Backup {
  static let listName = "backup.json"

  let path: String
  let made: Timestamp
  let files: [File]

  /// One of its files, by its path inside the folder.
  struct File {
    let name: String
    let bytes: Int64
    let digest: String
  }

  private static let format: Int64 = 1
  private static let single = [
    "token.key", "refresh.key", "operator.key", "users.json", "templates.json", "audit.jsonl",
  ]

  /// What belongs to a server in this folder, without the store.
  private static func names(in folder: String) -> [String] {
    let manager = FileManager.default
    let packages = (try? manager.contentsOfDirectory(atPath: "\(folder)/packages")) ?? []
    // Each change of the keys has made one more.
    let later = ((try? manager.contentsOfDirectory(atPath: folder)) ?? []).filter { name in
      ["token.key.", "refresh.key."].contains { start in
        name.hasPrefix(start) && Int(name.dropFirst(start.count)) != nil
      }
    }
    return single.filter { manager.fileExists(atPath: "\(folder)/\($0)") } + later.sorted()
      + packages.filter { $0.hasSuffix(".json") }.sorted().map { "packages/\($0)" }
  }

  private init(path: String, made: Timestamp, files: [File]) {
    self.path = path
    self.made = made
    self.files = files
  }

  /// Copies what a server has, which may be running, into a new folder.
  static func make(
    of data: String, at path: String, progress: CopyProgress
  ) throws -> (backup: Backup, store: StoreCopy) {
    try requireNone(path)
    let part = "\(path).part"
    try makeFolder(part)
    do {
      // The small files first: what is deployed meanwhile is in the store and not in the list.
      var files: [File] = []
      for name in names(in: data) {
        if name.hasPrefix("packages/") { try makeFolder("\(part)/packages") }
        files.append(try copy("\(data)/\(name)", to: "\(part)/\(name)", name))
      }
      let file = "\(part)/\(StoreCopy.fileName)"
      let store = try StoreCopy.make(of: data, to: file) { done, total in
        progress.tell(done, of: total)
      }
      files.append(try read(file, StoreCopy.fileName))
      let backup = Backup(path: path, made: SystemClock().now, files: files)
      try backup.writeList(store, to: "\(part)/\(listName)")
      try finish(part, as: path)
      return (backup, store)
    } catch {
      try? FileManager.default.removeItem(atPath: part)
      throw error
    }
  }

  /// Reads the list of a backup, and looks at each byte of its files.
  init(reading path: String) throws {
    let list = "\(path)/\(Backup.listName)"
    guard FileManager.default.fileExists(atPath: path) else {
      throw CommandError("there is no backup \(path)", hint: "Name a folder that exists.")
    }
    guard let bytes = FileManager.default.contents(atPath: list),
      let node = try? JSONNode.parse([UInt8](bytes)), let format = node["format"]?.integer,
      let made = node["made"]?.integer, let entries = node["files"]?.array
    else {
      throw CommandError(
        "the backup \(path) is incomplete: its list \(Backup.listName) is missing or damaged",
        hint: "A backup that was interrupted ends with .part and cannot be restored. Use another.")
    }
    guard format <= Backup.format else {
      throw CommandError(
        "the backup \(path) has format \(format), and this program reads only \(Backup.format)",
        hint: "Use the `ferry` of the server's version that made it.")
    }
    self.path = path
    self.made = Timestamp(milliseconds: made)
    files = try entries.map { entry in
      guard let name = entry["name"]?.string, let count = entry["bytes"]?.integer,
        let digest = entry["sha256"]?.string, Backup.isInside(name)
      else { throw CommandError("the list \(list) is damaged", hint: "Use another backup.") }
      return File(name: name, bytes: count, digest: digest)
    }
    guard files.contains(where: { $0.name == StoreCopy.fileName }) else {
      throw CommandError(
        "the backup \(path) has no file \(StoreCopy.fileName)", hint: "Use another backup.")
    }
  }

  /// No name of a list leads out of the folder.
  private static func isInside(_ name: String) -> Bool {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    return parts.count <= 2 && parts.allSatisfy { !$0.isEmpty && $0 != ".." && $0 != "." }
  }

  /// Makes a data folder of it; nothing is there where it throws.
  func restore(to data: String, progress: CopyProgress) throws -> StoreCopy {
    try Backup.requireNone(data)
    let part = "\(data).part"
    try Backup.makeFolder(part)
    do {
      let all = files.reduce(0) { $0 + $1.bytes }
      var done: Int64 = 0
      for file in files {
        if file.name.hasPrefix("packages/") { try Backup.makeFolder("\(part)/packages") }
        let copied = try Backup.copy(
          "\(path)/\(file.name)", to: "\(part)/\(file.name)", file.name
        ) { progress.tell(Int(done + $0), of: Int(all)) }
        guard copied.bytes == file.bytes, copied.digest == file.digest else {
          throw CommandError(
            "the file \(file.name) of the backup \(path) was changed or damaged: its checksum "
              + "differs",
            hint: "Use another backup.")
        }
        done += file.bytes
      }
      let store = try StoreCopy("\(part)/\(StoreCopy.fileName)", isThorough: true)
      try Backup.finish(part, as: data)
      return store
    } catch {
      try? FileManager.default.removeItem(atPath: part)
      throw error
    }
  }

  private func writeList(_ store: StoreCopy, to file: String) throws {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("format", Backup.format)
    writer.field("made", made.milliseconds)
    writer.field("server", store.server)
    writer.field("storeVersion", store.version)
    writer.key("packages")
    writer.array(store.packages) { $0.string($1.name) }
    writer.key("files")
    writer.array(files) { writer, file in
      writer.beginObject()
      writer.field("name", file.name)
      writer.field("bytes", file.bytes)
      writer.field("sha256", file.digest)
      writer.endObject()
    }
    writer.endObject()
    let list = try PlainFile.writing(file)
    try list.write(writer.bytes)
    try list.close()
  }
}

/// Files and folders of backups.
extension Backup {
  private static func requireNone(_ path: String) throws {
    let names = try? FileManager.default.contentsOfDirectory(atPath: path)
    guard !FileManager.default.fileExists(atPath: path) || names?.isEmpty == true else {
      throw CommandError(
        "\(path) already exists and was not changed", hint: "Name a folder that does not exist.")
    }
  }

  private static func makeFolder(_ path: String) throws {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CommandError(
        "the folder \(path) cannot be made",
        hint: "Name a folder inside a folder that you may write to.")
    }
  }

  private static let pieceBytes = 1 << 20

  private static func copy(
    _ source: String, to target: String, _ name: String, progress: (Int64) -> Void = { _ in }
  ) throws -> File {
    let reader = try PlainFile.reading(source)
    let writer = try PlainFile.writing(target)
    let hasher = SHA256Hasher()
    var count: Int64 = 0
    while case let piece = try reader.read(upTo: pieceBytes), !piece.isEmpty {
      piece.withUnsafeBytes { hasher.update($0) }
      try writer.write(piece)
      count += Int64(piece.count)
      progress(count)
    }
    try writer.close()
    return File(name: name, bytes: count, digest: hexadecimal(hasher.finish()))
  }

  private static func read(_ path: String, _ name: String) throws -> File {
    let reader = try PlainFile.reading(path)
    let hasher = SHA256Hasher()
    var count: Int64 = 0
    while case let piece = try reader.read(upTo: pieceBytes), !piece.isEmpty {
      piece.withUnsafeBytes { hasher.update($0) }
      count += Int64(piece.count)
    }
    return File(name: name, bytes: count, digest: hexadecimal(hasher.finish()))
  }

  /// Everything is on the disk before the folder has its name.
  private static func finish(_ part: String, as path: String) throws {
    let names = try FileManager.default.subpathsOfDirectory(atPath: part)
    for name in names.map({ "\(part)/\($0)" }) + [part] { try synchronize(name) }
    // An empty folder may be there.
    rmdir(path)
    try PlainFile.move(part, to: path)
    let parent = URL(filePath: path).deletingLastPathComponent().path
    try synchronize(parent)
  }

  private static func synchronize(_ path: String) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandError(
        "\(path) cannot be read: \(String(cString: strerror(errno)))",
        hint: "Check that you may read it.")
    }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else {
      throw CommandError(
        "\(path) cannot be written: \(String(cString: strerror(errno)))",
        hint: "Check the disk and its free space.")
    }
  }
}
