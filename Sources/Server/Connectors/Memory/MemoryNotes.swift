import FerryConnector
import FerryModel

/// What a business system in memory does wrong on purpose, so that a simulation can find it.
public enum MemoryFlaw: Sendable, Hashable, CaseIterable {
  /// Changes are noted from the end of the first comparison on, not from its beginning.
  case notesAfterComparison
  /// If a row gets another key, only the new one is noted.
  case oldKeyUnnoted
  /// Operations count as not performed while a transaction of them is still running.
  case recallTooEarly
  /// Whoever performed for a store before may go on when another one does.
  case leaderUnchecked
  /// Whoever follows the notes does not see that they were set back behind its place.
  case markIgnored
}

/// The notes of a business system in memory: which commits there were. A cursor is a place in them.
struct MemoryNotes {
  /// Numbers of commits.
  private(set) var commits: [Int] = []
  /// Raised at each reading that finds something, and set back with the notes.
  private(set) var mark = 0
  /// From when on the reader follows the notes: another one each time it begins. Set back with them.
  private var epoch = 0
  /// Never set back, so that no two beginnings have one epoch.
  private var epochs = 0

  struct Cursor {
    let epoch: Int
    let mark: Int
    let place: Int

    init(epoch: Int, mark: Int, place: Int) {
      (self.epoch, self.mark, self.place) = (epoch, mark, place)
    }

    init?(_ text: String?) {
      let parts = text?.split(separator: "|").compactMap { Int($0) } ?? []
      guard parts.count == 3 else { return nil }
      self.init(epoch: parts[0], mark: parts[1], place: parts[2])
    }

    var text: String { "\(epoch)|\(mark)|\(place)" }
  }

  mutating func add(_ commit: Int) { commits.append(commit) }

  var end: Cursor { Cursor(epoch: epoch, mark: mark, place: commits.count) }

  /// A reader begins to follow the notes.
  mutating func begin() -> Cursor {
    epochs += 1
    epoch = epochs
    return end
  }

  private func fits(_ cursor: Cursor) -> Bool {
    cursor.epoch == epoch && cursor.mark <= mark && cursor.place <= commits.count
  }

  /// The commits after the cursor; nil where the notes were set back behind it.
  mutating func take(_ cursor: inout Cursor, ignoringMark: Bool) -> [Int]? {
    guard fits(cursor) || ignoringMark else { return nil }
    let taken = Array(commits.dropFirst(cursor.place))
    if !taken.isEmpty { mark += 1 }
    cursor = end
    return taken
  }

  mutating func setBack(to cursor: Cursor) {
    commits.removeSubrange(min(cursor.place, commits.count)...)
    mark = cursor.mark
    epoch = cursor.epoch
  }
}

/// A state of a business system in memory to which it can be set back.
public struct MemoryBackup: Sendable {
  fileprivate let tables: [String: [ObjectKey: [AttributeValue]]]
  fileprivate let notes: MemoryNotes.Cursor?

  /// Whether the mark of this cursor was made later, so that it does not fit the backup.
  public func isBehind(_ cursor: String) -> Bool {
    guard let notes, let cursor = MemoryNotes.Cursor(cursor) else { return false }
    return cursor.epoch != notes.epoch || cursor.mark > notes.mark
  }
}

/// Notes of changes, transactions that end later, and backups.
extension MemoryBusiness {
  /// Whether a connector gives hints at changed rows and a cursor.
  public var notesChanges: Bool { state.withLock { $0.notes != nil } }

  /// From here on changes count; what was before is to be compared.
  func beginNotes() -> String? { state.withLock { $0.notes?.begin().text } }

  /// Hints at what others have changed since the cursor; nil where that cannot be said.
  func changes(since cursor: String?, without own: Set<Int>) -> BusinessChanges? {
    state.withLock { state in
      guard var cursor = MemoryNotes.Cursor(cursor),
        let commits = state.notes?.take(&cursor, ignoringMark: flaws.contains(.markIgnored))
      else { return nil }
      var keys: [String: Set<ObjectKey>] = [:]
      for number in commits where !own.contains(number) {
        let effects = state.history[number - 1].parts.flatMap(\.effects)
        for effect in effects where isNoted(effect, beside: effects) {
          keys[effect.entity, default: []].insert(effect.key)
        }
      }
      let hints = keys.sorted { $0.key < $1.key }.map { entity, keys in
        ChangeHint.objects(entity: entity, keys: keys.sorted { $0.text < $1.text })
      }
      return BusinessChanges(cursor: cursor.text, hints: hints)
    }
  }

  private func isNoted(_ effect: MemoryEffect, beside others: [MemoryEffect]) -> Bool {
    guard flaws.contains(.oldKeyUnnoted), effect.after == nil else { return true }
    return !others.contains { $0.entity == effect.entity && $0.before == nil }
  }

  func keepForLater(_ group: [ConnectorOperation]) { state.withLock { $0.late.append(group) } }

  /// Whether a transaction with one of these operations has not ended.
  func isRunning(_ operations: [OperationID]) -> Bool {
    let ids = Set(operations)
    return state.withLock { $0.late.contains { $0.contains { ids.contains($0.id) } } }
  }

  /// The operations of transactions that have not ended, and whose line broke.
  public var late: [OperationID] { state.withLock { $0.late.joined().map(\.id) } }

  /// From here on the last one to call this performs for the store; gives its term. nil while a
  /// transaction that was begun before has not ended.
  func takeOver(_ store: String) -> Int? {
    state.withLock { state in
      guard state.late.isEmpty else { return nil }
      state.terms[store, default: 0] += 1
      return state.terms[store]
    }
  }

  func term(of store: String) -> Int? { state.withLock { $0.terms[store] } }

  /// Performs the groups of `MemoryFault.commitsLater`. Gives how many there were.
  @discardableResult
  public func performLate() -> Int {
    state.withLock { state in
      defer { endLate(&state) { _ in true } }
      return state.late.count
    }
  }

  func endLate(_ state: inout State, where isMeant: ([ConnectorOperation]) -> Bool) {
    let ended = state.late.filter(isMeant)
    state.late.removeAll(where: isMeant)
    for group in ended { _ = perform(group, &state) }
  }

  /// The rows as they are now, and how far changes were noted.
  public func backup() -> MemoryBackup {
    state.withLock { MemoryBackup(tables: $0.tables, notes: $0.notes?.end) }
  }

  /// Gives each row the values of the backup, in one commit, and removes the notes that were made
  /// since. What was performed stays known.
  public func setBack(to backup: MemoryBackup) {
    state.withLock { state in
      let entities = Set(backup.tables.keys).union(state.tables.keys).sorted()
      _ = change(&state) { transaction in
        for entity in entities {
          let (old, new) = (transaction.rows(of: entity), backup.tables[entity] ?? [:])
          let keys = Set(old.keys).union(new.keys).sorted { $0.text < $1.text }
          for key in keys where old[key] != new[key] { transaction.write(entity, key, new[key]) }
        }
      }
      if let notes = backup.notes { state.notes?.setBack(to: notes) }
    }
  }
}
