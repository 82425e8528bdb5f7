import Ferry
import FerryCrypto
import FerryInspection
import FerrySQLite
import FerrySQLiteStore
import FerryWorld
import Foundation
import Testing

/// Whoever comes upon a database file, with whatever key, in whatever state it was left.
@Suite("Nothing of a database file is changed before its key and its kind are known")
struct FileMatrixTests {
  typealias Content = FileStates.Content
  typealias Moment = FileStates.Moment
  typealias Damage = FileStates.Damage

  enum Key: CaseIterable {
    case none, wrong, right

    private static let other = DatabaseKey.random()

    var key: DatabaseKey? {
      switch self {
      case .none: nil
      case .wrong: Key.other
      case .right: FileStates.right
      }
    }
  }

  enum Action: String, CaseIterable {
    case open, inspect, why, export, backup, serve, read, delete, seal, unseal, changeKey

    /// Those that need no key, and have none to give.
    var isKeyless: Bool { [.backup, .serve, .read, .delete].contains(self) }
  }

  private static let next = DatabaseKey.random()

  /// What succeeds with a file that is whole; all else must be refused.
  private func succeeds(_ content: Content, _ key: Key) -> Set<Action> {
    switch (content, key) {
    case (.sealed, .right):
      [.open, .inspect, .why, .export, .delete, .seal, .unseal, .changeKey]
    case (.newerSealed, .right): [.inspect, .why, .export, .delete, .seal, .unseal, .changeKey]
    case (.sealed, _), (.newerSealed, _), (.newerSeal, _): [.delete]
    case (.plain, .none): [.open, .inspect, .why, .export, .read, .delete, .seal, .unseal]
    case (.newerPlain, .none): [.inspect, .why, .export, .read, .delete, .seal, .unseal]
    case (.plain, _), (.newerPlain, _): [.read, .delete, .seal, .unseal]
    // It is plain, as was asked.
    case (.other, _): [.read, .unseal]
    case (.text, _): []
    }
  }

  private func run(_ action: Action, _ key: DatabaseKey?, _ folder: URL) async throws {
    let path = folder.appending(path: FileStates.name).path
    switch action {
    case .open:
      let database = try FerryDatabase.open(
        at: path, key: key, package: FileStates.package,
        profile: ConnectionProfile(server: "http://127.0.0.1:9"))
      await database.close()
    case .inspect: _ = try DeviceFile(path: path, key: key).inspection()
    case .why: _ = try DeviceFile(path: path, key: key).why(entity: "Customer", key: "C1")
    case .export:
      _ = try DeviceExport(DeviceFile(path: path, key: key), showsValues: true, written: 0)
    case .backup:
      let copy = folder.appending(path: "copy").path
      defer { try? FileManager.default.removeItem(atPath: copy) }
      _ = try StoreCopy.make(of: folder.path, to: copy) { _, _ in }
    case .serve: _ = try SQLiteFile(folder: folder.path, world: .system())
    case .read: _ = try JournalAdvice.of(path: path)
    case .delete: try FerryDatabase.delete(at: path)
    case .seal: try FerryDatabase.seal(at: path, key: key ?? FileMatrixTests.next)
    case .unseal: try FerryDatabase.unseal(at: path, key: key ?? FileMatrixTests.next)
    case .changeKey:
      try FerryDatabase.changeKey(
        at: path, from: key ?? FileMatrixTests.next, to: FileMatrixTests.next)
    }
  }

  /// Runs the action on the files; nil where it succeeded, else its error. What is there afterwards
  /// is given to `body`.
  private func attempt(
    _ action: Action, _ key: Key, on files: [String: Data],
    _ body: ((any Error)?, URL, [String: Data]) throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID())")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    try write(files, to: folder)
    var failure: (any Error)?
    do { try await run(action, key.key, folder) } catch { failure = error }
    try body(failure, folder, try FileStates.read(folder))
  }

  private func write(_ files: [String: Data], to folder: URL) throws {
    for name in try FileStates.read(folder).keys {
      try FileManager.default.removeItem(at: folder.appending(path: name))
    }
    for (name, data) in files { try data.write(to: folder.appending(path: name)) }
  }

  /// What must stay. SQLite's index of the log holds nothing of its own; while a database is read,
  /// an empty log may be beside it.
  private func kept(_ files: [String: Data]) -> [String: Data] {
    files.filter { !$0.key.hasSuffix("-shm") && !$0.value.isEmpty }
  }

  private func holdsEverything(_ folder: URL, _ key: DatabaseKey?) throws -> Bool {
    let path = folder.appending(path: FileStates.name).path
    let sealing = try key.map { try Sealing(path: path, key: $0) }
    let connection = try Connection(path: path, sealing: sealing)
    guard try connection.value("PRAGMA integrity_check") == .text("ok"),
      try connection.value("SELECT count(*) FROM Customer") == .integer(FileStates.rows)
    else { return false }
    let hasOperations = try connection.value(
      "SELECT 1 FROM sqlite_schema WHERE name = 'ferry_operation'")
    return try hasOperations == nil
      || connection.value("SELECT count(*) FROM ferry_operation") == .integer(FileStates.rows)
  }

  private func opensWhole(_ folder: URL, _ content: Content, _ place: String) throws {
    switch content {
    case .text: return
    // Nobody of this version can say what is in it.
    case .newerSeal: return
    case .sealed, .newerSealed:
      #expect(try holdsEverything(folder, FileStates.right), "\(place)")
    case .plain, .newerPlain, .other: #expect(try holdsEverything(folder, nil), "\(place)")
    }
  }

  @Test(
    "a refusal leaves each byte, and the right key finds everything afterwards",
    arguments: Content.allCases, Moment.allCases)
  func whole(content: Content, moment: Moment) async throws {
    let files = try FileStates.files(content, moment)
    for action in Action.allCases {
      for key in Key.allCases where !action.isKeyless || key == .none {
        let place = "\(action) \(key) of \(content), \(moment)"
        try await attempt(action, key, on: files) { failure, folder, after in
          let isAllowed = succeeds(content, key).contains(action)
          #expect((failure == nil) == isAllowed, "\(place): \(failure as Any)")
          if failure == nil, action == .delete {
            #expect(after.isEmpty, "\(place)")
            return
          }
          if failure != nil {
            #expect(kept(after) == kept(files), "\(place)")
            // SQLite has not seen the file at all.
            if content.isSealed && (key != .right || action.isKeyless) || content == .text {
              #expect(after == files, "\(place)")
            }
            return try opensWhole(folder, content, place)
          }
          let keys = [FileStates.right, FileMatrixTests.next, key.key, nil]
          #expect(keys.contains { (try? holdsEverything(folder, $0)) == true }, "\(place)")
        }
      }
    }
  }

  @Test(
    "and so does a refusal of half a file, which is whole again once the rest is put back",
    arguments: [Content.sealed, .plain], [Moment.killed, .inCheckpoint])
  func half(content: Content, moment: Moment) async throws {
    let files = try FileStates.files(content, moment)
    for damage in Damage.allCases where damage != .none {
      let cut = damage.done(to: files)
      // A first page is all that a plain database has outside its log at first.
      if cut == files { continue }
      for action in Action.allCases where action != .delete {
        for key in [Key.none, .right] where !action.isKeyless || key == .none {
          let place = "\(action) \(key) of \(content), \(moment), \(damage)"
          try await attempt(action, key, on: cut) { failure, folder, after in
            let hasNoPage = damage == .mainGone || damage == .mainHeader && content == .sealed
            if hasNoPage { #expect(failure != nil, "\(place)") }
            guard failure != nil else { return }
            #expect(kept(after) == kept(cut), "\(place): \(failure as Any)")
            try write(files, to: folder)
            try opensWhole(folder, content, place)
          }
        }
      }
    }
  }
}
