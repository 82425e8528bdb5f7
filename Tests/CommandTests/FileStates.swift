import Ferry
import FerryCrypto
import FerryModel
import FerrySQLite
import FerryWorld
import Foundation

@testable import Ferry

/// Database files in the states in which somebody may come upon them, as bytes.
enum FileStates {
  /// What the file is.
  enum Content: String, CaseIterable, Sendable {
    case sealed, plain
    /// Sealed in a form of a later version.
    case newerSeal
    /// With tables of a later version.
    case newerSealed, newerPlain
    /// Another application's database, and a text.
    case other, text

    var isSealed: Bool { [.sealed, .newerSeal, .newerSealed].contains(self) }
  }

  /// When its process ended.
  enum Moment: String, CaseIterable, Sendable {
    case clean
    /// Before the first checkpoint: nearly everything is in the log.
    case killed
    /// When a checkpoint had written half of the pages.
    case inCheckpoint
  }

  /// What has become of it since.
  enum Damage: String, CaseIterable, Sendable {
    case none, mainHalf, mainHeader, mainGone, logHalf

    func done(to files: [String: Data]) -> [String: Data] {
      var files = files
      let main = files[name] ?? Data()
      let log = files[name + "-wal"] ?? Data()
      switch self {
      case .none: break
      case .mainHalf: files[name] = main.prefix(main.count / 2)
      case .mainHeader: files[name] = main.prefix(4_096)
      case .mainGone: files[name] = Data()
      case .logHalf: files[name + "-wal"] = log.prefix(log.count / 2)
      }
      return files
    }
  }

  static let name = "server.sqlite"
  static let rows: Int64 = 60
  static let right = DatabaseKey.random()

  private struct Place: Hashable {
    let content: Content
    let moment: Moment
  }

  /// Made once.
  private static let all: Result<[Place: [String: Data]], any Error> = Result {
    var all: [Place: [String: Data]] = [:]
    for content in Content.allCases {
      for moment in Moment.allCases {
        all[Place(content: content, moment: moment)] = try make(content, moment)
      }
    }
    return all
  }

  static func files(_ content: Content, _ moment: Moment) throws -> [String: Data] {
    try all.get()[Place(content: content, moment: moment)] ?? [:]
  }

  static func inFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID())")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }

  /// The file and everything that is beside it under its name.
  static func read(_ folder: URL) throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return try Dictionary(
      uniqueKeysWithValues: names.filter { $0.hasPrefix(name) }.map {
        ($0, try Data(contentsOf: folder.appending(path: $0)))
      })
  }

  private static func make(_ content: Content, _ moment: Moment) throws -> [String: Data] {
    try inFolder { folder in
      let path = folder.appending(path: name).path
      switch content {
      case .text: return text(moment)
      case .other:
        let connection = try Connection(path: path)
        try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE Customer (code, name)")
        for row in 1...rows {
          try connection.run(
            "INSERT INTO Customer VALUES (?, ?)", .integer(row), .text(long(row)))
        }
        if moment == .clean {
          try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
          return ["\(name)": try Data(contentsOf: URL(filePath: path))]
        }
        return try left(moment, folder) {
          try connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        }
      case .sealed, .plain, .newerSeal, .newerSealed, .newerPlain:
        var files = try device(content, moment, folder)
        if content == .newerSeal { files[name] = inLaterForm(files[name] ?? Data()) }
        return files
      }
    }
  }

  private static func text(_ moment: Moment) -> [String: Data] {
    let text = Data(String(repeating: "Dear diary, today nothing was written.\n", count: 200).utf8)
    return moment == .clean
      ? [name: text] : [name: text, name + "-wal": Data(text.reversed()), name + "-shm": text]
  }

  private static func device(
    _ content: Content, _ moment: Moment, _ folder: URL
  ) throws -> [String: Data] {
    let store = try Store(
      path: folder.appending(path: name).path, model: package, world: .system(),
      durability: .application, key: content.isSealed ? right : nil)
    for row in 1...rows {
      var record = ObjectRecord(customer, store: store)
      record.set(0, "C\(row)")
      record.set(1, long(row))
      _ = try PendingStore.save(try record.change(.create), in: store)
    }
    let run = { (sql: String) in
      try store.write { connection throws(FerryError) in
        try store.sql { () throws(SQLiteError) in try connection.execute(sql) }
      }
    }
    if content == .newerSealed || content == .newerPlain { try run("PRAGMA user_version = 99") }
    if moment == .clean {
      store.close()
      return try read(folder)
    }
    defer { store.close() }
    return try left(moment, folder) {
      try store.writer.withConnection(closed: Store.closed("")) { connection throws(FerryError) in
        try store.sql { () throws(SQLiteError) in
          try connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        }
      }
    }
  }

  /// What a kill leaves, copied while the database is open.
  private static func left(
    _ moment: Moment, _ folder: URL, checkpoint: () throws -> Void
  ) throws -> [String: Data] {
    var files = try read(folder)
    guard moment == .inCheckpoint else { return files }
    try checkpoint()
    let after = try read(folder)[name] ?? Data()
    let before = files[name] ?? Data()
    // The pages are written in their order.
    let half = after.count / 2 / 4_096 * 4_096
    files[name] = after.prefix(max(half, before.count))
    return files
  }

  /// The header with another number of the form, as a later version would write it.
  private static func inLaterForm(_ file: Data) -> Data {
    var header = Array(file.prefix(4_064))
    header.replaceSubrange(16..<20, with: [0, 0, 0, 2])
    return Data(header + SHA256Digest.hash(header)) + file.dropFirst(4_096)
  }

  private static func long(_ row: Int64) -> String { String(repeating: "name \(row) ", count: 30) }

  static let customer = Entity(
    name: "Customer", table: "customers",
    attributes: [
      Attribute(name: "code", column: "code", type: .string, isNullable: false, maxLength: 40),
      Attribute(name: "name", column: "name", type: .string, isNullable: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: [.create, .update, .delete],
    partition: nil, group: "default")
  static let package = Package(
    name: "Trade", version: "1.0", entities: [customer],
    groups: [SynchronizationGroup(name: "default")])
}
