import FerryModel

/// What the app asked of its devices in one round and what it was told, to be held against what
/// the business database wrote down.
struct KillLedger {
  /// One change of one object.
  struct Change {
    let kind: OperationKind
    /// A text that no other change has; a delete has none.
    let token: String
    /// The device said so; without a word it may have been saved or not.
    var isToldSaved = false
  }

  /// One object on one device.
  final class Object {
    let device: String
    /// Under which the device knows it; a temporary key stays good for finding it.
    let key: Key
    var finalKey: Int64?
    var changes: [Change] = []
    /// The app took back what was pending, or tried to.
    var isCancelled = false
    /// A refusal was told, with its reason.
    var isRefused = false
    var isTemporary: Bool { changes.first?.kind == .create }

    init(device: String, key: Key, finalKey: Int64?) {
      self.device = device
      self.key = key
      self.finalKey = finalKey
    }
  }

  private(set) var objects: [Object] = []
  /// Tokens of creates of which the device did not tell a key.
  private(set) var untold: [String] = []

  /// The object to change; a new one when the device has not been asked about it in this round.
  mutating func object(_ device: String, _ key: Key) -> Object {
    if let known = find(device, key) { return known }
    let number = Int64(key.text).flatMap { $0 < KillLedger.temporary ? $0 : nil }
    let object = Object(device: device, key: key, finalKey: number)
    objects.append(object)
    return object
  }

  func find(_ device: String, _ key: Key) -> Object? {
    objects.last { object in
      object.device == device
        && (object.key == key || object.finalKey.map { Key([.integer($0)]) == key } ?? false)
    }
  }

  mutating func forgot(_ token: String) { untold.append(token) }

  /// Keys that the business database gives are far below the devices' own.
  private static let temporary: Int64 = 1 << 32

  /// Learns the keys that new objects got.
  func learn(_ trail: [AuditTrail.Entry]) {
    for entry in trail where entry.kind == "insert" {
      let object = objects.first { object in
        object.changes.first.map { $0.kind == .create && entry.texts.contains($0.token) } ?? false
      }
      object?.finalKey = entry.booking
    }
  }

  /// What was lost, doubled or invented.
  func problems(_ trail: [AuditTrail.Entry]) -> [String] {
    learn(trail)
    var counts: [String: Int] = [:]
    for text in trail.flatMap(\.texts) { counts[text, default: 0] += 1 }
    let deleted = Set(trail.filter { $0.kind == "delete" }.map(\.booking))
    var problems = counts.filter { $0.value > 1 }.map { "\($0.key) was done \($0.value) times" }
    let known = Set(objects.flatMap(\.changes).map(\.token) + untold)
    for token in counts.keys where token.hasPrefix("R") && !known.contains(token) {
      problems.append("\(token) was done, and nobody asked for it in this round")
    }
    for object in objects { problems += lost(object, counts, deleted) }
    return problems
  }

  private func lost(
    _ object: Object, _ counts: [String: Int], _ deleted: Set<Int64>
  ) -> [String] {
    func isDone(_ change: Change) -> Bool {
      change.kind == .delete
        ? object.finalKey.map(deleted.contains) ?? false : counts[change.token] != nil
    }
    guard !object.isRefused, !object.isCancelled else { return [] }
    if object.isTemporary, object.finalKey == nil {
      // A create that was deleted before it was sent: both are gone.
      let isTakenBack = object.changes.contains { $0.kind == .delete }
      let isSaved = object.changes.contains { $0.kind == .create && $0.isToldSaved }
      return isSaved && !isTakenBack
        ? ["\(object.device) saved \(object.changes[0].token), and it was lost"] : []
    }
    return object.changes.enumerated().compactMap { index, change in
      guard change.isToldSaved, !isDone(change) else { return nil }
      // A later change of the same object took it in, or went before it could be sent.
      let later = object.changes.dropFirst(index + 1)
      if later.contains(where: isDone) { return nil }
      return "\(object.device) saved \(change.kind) \(change.token) of booking "
        + "\(object.finalKey.map(String.init) ?? object.key.text), and it was lost"
    }
  }

  /// Changes that the devices said are saved.
  var saved: Int { objects.flatMap(\.changes).filter(\.isToldSaved).count }
}
