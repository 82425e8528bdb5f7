import FerryJSON
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
  private static let single =
    [
      "token.key", "refresh.key", "operator.key", "users.json", "templates.json", "audit.jsonl",
      "audit.jsonl.operator",
    ] + (1...7).map { "audit.jsonl.\($0)" }

  /// What belongs to a server in this folder, without the store.
  private static func names(in folder: String) -> [String] {
    let manager = FileManager.default
    let packages = (try? manager.contentsOfDirectory(atPath: "\(folder)/packages")) ?? []
    // Each change of the keys has made one more.
    let later = (try? manager.contentsOfDirectory(atPath: folder)) ?? []
    return single.filter { manager.fileExists(atPath: "\(folder)/\($0)") }
      + (later.sorted() + packages.sorted().map { "packages/\($0)" }).filter(isOfLaterFile)
  }

  /// Whether a file of this name is in backups: no list leads elsewhere or makes other files.
  private static func isKnown(_ name: String) -> Bool {
    name == StoreCopy.fileName || single.contains(name) || isOfLaterFile(name)
  }

  private static func isOfLaterFile(_ name: String) -> Bool {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    if parts.count == 2 {
      return parts[0] == "packages" && parts[1].hasSuffix(".json") && !parts[1].hasPrefix(".")
    }
    return ["token.key.", "refresh.key."].contains { start in
      name.hasPrefix(start) && Int(name.dropFirst(start.count)) != nil
    }
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
    let source = try OpenFolder(data)
    let target = try PrivateFolder(path)
    // The small files first: what is deployed meanwhile is in the store and not in the list.
    var files: [File] = []
    for name in names(in: data) {
      let file = try source.reading(name)
      defer { close(file) }
      let copied = try target.copy(file, to: name)
      files.append(File(name: name, bytes: copied.bytes, digest: copied.digest))
    }
    // SQLite writes into a file that is there and closed to others.
    close(try target.make(StoreCopy.fileName))
    let store = try StoreCopy.make(of: data, to: "\(target.part)/\(StoreCopy.fileName)") {
      progress.tell($0, of: $1)
    }
    let copied = try target.digest(of: StoreCopy.fileName)
    files.append(File(name: StoreCopy.fileName, bytes: copied.bytes, digest: copied.digest))
    let backup = Backup(path: path, made: SystemClock().now, files: files)
    try target.write(backup.list(store), to: listName)
    try target.finish()
    return (backup, store)
  }

  /// Reads the list of a backup, and looks at each byte of its files.
  init(reading path: String) throws {
    let list = "\(path)/\(Backup.listName)"
    guard FileManager.default.fileExists(atPath: path) else {
      throw CommandError("there is no backup \(path)", hint: "Name a folder that exists.")
    }
    let folder = try OpenFolder(path)
    try folder.requireTrusted("the backup")
    guard let bytes = try? Backup.bytes(of: Backup.listName, in: folder),
      let node = try? JSONNode.parse(bytes), let format = node["format"]?.integer,
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
        let digest = entry["sha256"]?.string
      else { throw CommandError("the list \(list) is damaged", hint: "Use another backup.") }
      guard Backup.isKnown(name) else {
        throw CommandError(
          "the list \(list) names a file \(name), which no backup has",
          hint: "Use another backup: this one was changed.")
      }
      return File(name: name, bytes: count, digest: digest)
    }
    guard files.contains(where: { $0.name == StoreCopy.fileName }) else {
      throw CommandError(
        "the backup \(path) has no file \(StoreCopy.fileName)", hint: "Use another backup.")
    }
  }

  /// The list is small.
  private static func bytes(of name: String, in folder: OpenFolder) throws -> [UInt8] {
    let file = FileHandle(fileDescriptor: try folder.reading(name), closeOnDealloc: true)
    return [UInt8](try file.readToEnd() ?? Data())
  }

  /// Makes a data folder of it; nothing is there where it throws. `check` looks at the store before
  /// the folder has its name.
  func restore(
    to data: String, progress: CopyProgress, check: (StoreCopy) throws -> Void = { _ in }
  ) throws -> StoreCopy {
    let source = try OpenFolder(path)
    try source.requireTrusted("the backup")
    let target = try PrivateFolder(data)
    let all = files.reduce(0) { $0 + $1.bytes }
    var done: Int64 = 0
    for entry in files {
      let file = try source.reading(entry.name)
      defer { close(file) }
      let copied = try target.copy(file, to: entry.name) {
        progress.tell(Int(done + $0), of: Int(all))
      }
      guard copied.bytes == entry.bytes, copied.digest == entry.digest else {
        throw CommandError(
          "the file \(entry.name) of the backup \(path) was changed or damaged: its checksum "
            + "differs",
          hint: "Use another backup.")
      }
      done += entry.bytes
    }
    let store = try StoreCopy("\(target.part)/\(StoreCopy.fileName)", isThorough: true)
    try check(store)
    try target.finish()
    return store
  }

  private func list(_ store: StoreCopy) -> [UInt8] {
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
    return writer.bytes
  }
}
