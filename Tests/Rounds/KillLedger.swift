import FerryModel

/// What the app asked of its devices in one round and what became of it as the devices tell, to be
/// held against what the business database wrote down.
struct KillLedger {
  /// One change of one object.
  struct Change {
    enum Fate {
      /// It is to be done, if the device said that it is saved.
      case open
      /// The app took it back while it was pending: it may have been done before or not.
      case takenBack
      /// The business said no, with a reason, and the app gave it up.
      case refused
    }

    let kind: OperationKind
    /// What is written; nothing of a delete.
    let attribute: String
    /// A text that no other change has, in this round or another.
    let token: String
    /// The device said so; without a word it may have been saved or not.
    var isToldSaved = false
    var fate: Fate = .open

    /// What this change writes, the later one writes anew or removes with the object.
    func isReplaced(by later: Change) -> Bool {
      later.kind == .delete || kind == .update && later.attribute == attribute
    }
  }

  /// One object on one device.
  final class Object {
    let device: String
    /// Under which the device knows it; a temporary key stays good for finding it.
    let key: ObjectKey
    var finalKey: Int64?
    var changes: [Change] = []
    /// Operations that the app took back while the server may have had them, by kind: of their
    /// answers it is not told.
    var withdrawn: [OperationKind: Int] = [:]
    var isTemporary: Bool { changes.first?.kind == .create }

    init(device: String, key: ObjectKey, finalKey: Int64?) {
      self.device = device
      self.key = key
      self.finalKey = finalKey
    }
  }

  private(set) var objects: [Object] = []
  /// Tokens of creates of which the device did not tell a key, and what others wrote.
  private(set) var others: Set<String> = []

  /// The object to change; a new one when the device has not been asked about it in this round.
  mutating func object(_ device: String, _ key: ObjectKey) -> Object {
    if let known = find(device, key) { return known }
    let number = Int64(key.text).flatMap { $0 < KillLedger.temporary ? $0 : nil }
    let object = Object(device: device, key: key, finalKey: number)
    objects.append(object)
    return object
  }

  func find(_ device: String, _ key: ObjectKey) -> Object? {
    objects.last { object in
      object.device == device
        && (object.key == key || object.finalKey.map { ObjectKey([.integer($0)]) == key } ?? false)
    }
  }

  /// A text that may be found, of which nothing more is known.
  mutating func allow(_ token: String) { others.insert(token) }

  /// The app gives up one pending operation, which says these texts: that alone is not expected any
  /// more, and what it had replaced.
  func giveUp(_ kind: OperationKind, _ texts: Set<String>, of object: Object, as fate: Change.Fate)
  {
    for place in object.changes.indices where object.changes[place].fate == .open {
      let change = object.changes[place]
      let isOfIt = kind == .delete ? change.kind == .delete : texts.contains(change.token)
      if isOfIt { object.changes[place].fate = fate }
    }
  }

  /// Keys that the business database gives are far below the devices' own.
  private static let temporary: Int64 = 1 << 32

  /// Learns the keys that new objects got.
  func learn(_ trail: [AuditTrail.Entry]) {
    for entry in trail where entry.kind == "insert" {
      let object = objects.first { object in
        object.changes.first.map { $0.kind == .create && entry.text == $0.token } ?? false
      }
      object?.finalKey = entry.booking
    }
  }

  /// A delete that was refused shows its object again, and an edit of that is the app's new wish: it
  /// stands in place of the delete. `refused` counts the device's deletes that the server refused, by
  /// the key of their object.
  func edited(on device: String, refused: [Int64: Int]) {
    var left = refused
    for object in objects where object.device == device {
      guard let key = object.finalKey else { continue }
      for (place, change) in object.changes.enumerated()
      where change.kind == .delete && change.fate == .open && left[key, default: 0] > 0
        && object.changes.dropFirst(place + 1).contains(where: { $0.kind == .update })
      {
        object.changes[place].fate = .refused
        left[key, default: 0] -= 1
      }
    }
  }

  /// What was lost, doubled or invented.
  func problems(_ trail: [AuditTrail.Entry]) -> [String] {
    learn(trail)
    let done = Done(trail)
    var problems = done.places.filter { $0.value.count > 1 }.keys.sorted().map {
      "\($0) was done \(done.places[$0]?.count ?? 0) times"
    }
    let known = Set(objects.flatMap(\.changes).map(\.token)).union(others)
    for token in done.places.keys.sorted() where !known.contains(token) {
      problems.append("\(token) was done, and nobody asked for it in this round")
    }
    for object in objects { problems += wrong(object, done) }
    return problems
  }

  /// The trail, by text.
  private struct Done {
    /// Where in the trail each text was written.
    let places: [String: [Int]]
    let deleted: Set<Int64>

    init(_ trail: [AuditTrail.Entry]) {
      var places: [String: [Int]] = [:]
      for (place, entry) in trail.enumerated() where entry.kind != "delete" {
        places[entry.text ?? "nothing", default: []].append(place)
      }
      self.places = places
      deleted = Set(trail.filter { $0.kind == "delete" }.map(\.booking))
    }

    func has(_ change: Change, of object: Object) -> Bool {
      change.kind == .delete
        ? object.finalKey.map(deleted.contains) ?? false : places[change.token] != nil
    }
  }

  private func wrong(_ object: Object, _ done: Done) -> [String] {
    let name =
      "of booking \(object.finalKey.map(String.init) ?? object.key.text), and it was"
    var problems: [String] = []
    var last: [String: Int] = [:]
    for (index, change) in object.changes.enumerated() {
      let isDone = done.has(change, of: object)
      let words = "\(change.kind) \(change.token) \(name)"
      if change.fate == .refused, isDone, change.kind != .delete {
        problems.append("\(object.device) was refused \(words) done")
      }
      if isDone, let place = done.places[change.token]?.first {
        if place < last[change.attribute] ?? 0 {
          problems.append("\(object.device) saved \(words) done before an earlier one")
        }
        last[change.attribute] = place
      }
      guard change.isToldSaved, change.fate == .open, !isDone, !isNeverSent(object, change) else {
        continue
      }
      // A later change of the same object took it in, or went before it could be sent.
      let isReplaced = object.changes.dropFirst(index + 1).contains { later in
        change.isReplaced(by: later)
          && (later.fate != .open || done.has(later, of: object) || isNeverSent(object, later))
      }
      if !isReplaced {
        let all = object.changes.map { "\($0.kind) \($0.token) \($0.fate)" }
        problems.append("\(object.device) saved \(words) lost; \(all.joined(separator: ", "))")
      }
    }
    return problems
  }

  /// A create that was deleted before it was sent: both are gone.
  private func isNeverSent(_ object: Object, _ change: Change) -> Bool {
    change.kind == .delete && object.isTemporary && object.finalKey == nil
  }

  /// Changes that the devices said are saved.
  var saved: Int { objects.flatMap(\.changes).filter(\.isToldSaved).count }
}
