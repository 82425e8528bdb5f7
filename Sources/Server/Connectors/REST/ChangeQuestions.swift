import FerryConnector
import FerryJSON
import FerryModel

/// Asks a service what was changed since a time of its own.
struct ChangeQuestions {
  /// By entity: the highest time that was seen.
  private var since: [String: String] = [:]
  /// By entity: rows of the overlap as they were seen, so that they are reported once.
  private var seen: [String: [ObjectKey: Int]] = [:]

  /// Takes the place in a service's changes that was kept.
  mutating func take(_ cursor: String?) {
    guard since.isEmpty, let cursor, let node = try? JSONNode.parse(Array(cursor.utf8)) else {
      return
    }
    for member in node.object ?? [] { since[member.key] = member.value.string }
  }

  var cursor: String {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, time) in since.sorted(by: { $0.key < $1.key }) { writer.field(name, time) }
    writer.endObject()
    return writer.text
  }

  func knows(_ entity: Entity) -> Bool { since[entity.name] != nil }

  /// Notes the highest time of rows that were read in another way.
  mutating func note(_ node: JSONNode, _ entity: Entity, _ changes: RESTMapping.Changes) {
    guard let time = changes.field.node(in: node)?.plainText else { return }
    if let known = since[entity.name], !ChangeQuestions.isLater(time, than: known) { return }
    since[entity.name] = time
  }

  /// What is asked for: the highest time less the overlap.
  func question(_ entity: Entity, _ changes: RESTMapping.Changes) -> String? {
    guard let time = since[entity.name] else { return nil }
    return ChangeQuestions.earlier(time, by: changes.overlap)
  }

  /// Whether the row is otherwise than when it was last seen here.
  mutating func isNews(_ image: RowImage, _ entity: Entity) -> Bool {
    var hasher = Hasher()
    hasher.combine(image.values)
    hasher.combine(image.rejected?.reason)
    let mark = hasher.finalize()
    defer { seen[entity.name, default: [:]][image.key] = mark }
    return seen[entity.name]?[image.key] != mark
  }

  /// What was not in the answer need not be remembered.
  mutating func keepOnly(_ keys: Set<ObjectKey>, of entity: Entity) {
    seen[entity.name] = seen[entity.name]?.filter { keys.contains($0.key) }
  }

  /// Times of one service in one form; numbers by their size, texts by their letters.
  static func isLater(_ one: String, than other: String) -> Bool {
    if let one = Double(one), let other = Double(other) { return one > other }
    let (left, right) = (ServiceTime.utc(one) ?? one, ServiceTime.utc(other) ?? other)
    if let left = LocalDateTime(left), let right = LocalDateTime(right) { return left > right }
    return one > other
  }

  static func earlier(_ time: String, by seconds: Int64) -> String {
    guard seconds > 0 else { return time }
    if let number = Int64(time) {
      // Milliseconds since 1970 have thirteen digits.
      return String(number - (number > 100_000_000_000 ? seconds * 1_000 : seconds))
    }
    guard let local = ServiceTime.utc(time), let milliseconds = ServiceTime.milliseconds(local),
      let text = ServiceTime.text(milliseconds: milliseconds - seconds * 1_000)
    else { return time }
    return time == local ? text : text + "Z"
  }
}
