import FerryModel

/// The objects that operations in work may be changing at this moment.
struct Claims {
  private var objects: [ObjectName: Int64] = [:]
  /// By entity, then by task: when the creates were claimed.
  private var creates: [String: [Int64: Int64]] = [:]
  /// Those of them whose keys the business system gives.
  private var keyless: Set<Int64> = []

  /// Before every moment: creates that may have run before they were claimed.
  static let always: Int64 = 0

  var isEmpty: Bool { objects.isEmpty && creates.isEmpty }

  mutating func claim(
    _ names: [ObjectName], creates entities: [String], isKeyless: Bool, task: Int64, moment: Int64
  ) {
    if isKeyless { keyless.insert(task) }
    for name in names { objects[name] = task }
    for entity in entities { creates[entity, default: [:]][task] = moment }
  }

  mutating func release(task: Int64) {
    objects = objects.filter { $0.value != task }
    keyless.remove(task)
    for entity in creates.keys {
      creates[entity]?[task] = nil
      if creates[entity]?.isEmpty ?? false { creates[entity] = nil }
    }
  }

  /// What one task holds is another's from now on, claimed when it was claimed.
  mutating func pass(from task: Int64, to other: Int64) {
    objects = objects.mapValues { $0 == task ? other : $0 }
    if keyless.remove(task) != nil { keyless.insert(other) }
    for entity in creates.keys {
      if let moment = creates[entity]?.removeValue(forKey: task) {
        creates[entity]?[other] = moment
      }
    }
  }

  func holds(_ name: ObjectName) -> Bool { objects[name] != nil }

  /// Whether a row that nobody knew when it was read at `moment` may be the work of a create that
  /// was claimed by then and is not answered. Later creates do not count, so that nobody starves.
  func mayHaveCreated(_ entity: String, readAt moment: Int64) -> Bool {
    creates[entity]?.values.contains { $0 <= moment } ?? false
  }

  /// The same for creates alone whose keys nobody knows before they are answered.
  func mayHaveMade(_ entity: String, readAt moment: Int64) -> Bool {
    creates[entity]?.contains { keyless.contains($0.key) && $0.value <= moment } ?? false
  }
}
