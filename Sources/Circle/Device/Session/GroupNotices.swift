import FerryJSON
import FerryWire

/// Whether and how often the server notifies a replication-based database of new data in a
/// synchronization group (the reference's enableSIS, interval and adminLock).
public struct GroupNotices: Sendable, Equatable {
  /// If false, no synchronization of this group begins automatically.
  public var isEnabled: Bool
  /// The minimum time between two notices, in minutes; 0: each change is reported at once.
  public var intervalMinutes: Int
  /// Whether the operator's connection template sets these values, so that the app cannot change
  /// them.
  public internal(set) var isLocked: Bool

  public init(isEnabled: Bool = true, intervalMinutes: Int = 0) {
    self.isEnabled = isEnabled
    self.intervalMinutes = intervalMinutes
    isLocked = false
  }
}

extension GroupNotices {
  /// What counts for a group: the template's word where it is locked, else the app's, else the
  /// template's.
  static func of(_ group: String, _ transaction: Transaction) throws(FerryError) -> GroupNotices {
    let settings = try ApplicationSettings.kept(transaction)
    let name = "synchronization.\(group)"
    var notices = GroupNotices(
      isEnabled: settings.boolean("\(name).enabled") ?? true,
      intervalMinutes: settings.integer("\(name).interval").flatMap { Int(exactly: $0) } ?? 0)
    notices.isLocked = settings.boolean("\(name).locked") ?? false
    guard !notices.isLocked, let own = try chosen(transaction)[group] else { return notices }
    (notices.isEnabled, notices.intervalMinutes) = (own.isEnabled, own.intervalMinutes)
    return notices
  }

  /// What a channel asks for; nil: notices of all groups, at once.
  static func wanted(_ transaction: Transaction) throws(FerryError) -> [String: Int64]? {
    var wanted: [String: Int64] = [:]
    var isOrdinary = true
    for group in transaction.model.groups.map(\.name) {
      let notices = try of(group, transaction)
      if !notices.isEnabled || notices.intervalMinutes > 0 { isOrdinary = false }
      if notices.isEnabled { wanted[group] = Int64(min(notices.intervalMinutes, 525_600)) * 60 }
    }
    return isOrdinary ? nil : wanted
  }

  static func keep(
    _ notices: GroupNotices, of group: String, _ transaction: Transaction
  ) throws(FerryError) {
    var all = try chosen(transaction)
    all[group] = notices
    var writer = JSONWriter()
    writer.beginObject()
    for (group, notices) in all.sorted(by: { $0.key < $1.key }) {
      writer.key(group)
      writer.beginArray()
      writer.boolean(notices.isEnabled)
      writer.integer(notices.intervalMinutes)
      writer.endArray()
    }
    writer.endObject()
    try transaction.set(.notices, writer.text)
  }

  /// What the app has said.
  private static func chosen(
    _ transaction: Transaction
  ) throws(FerryError) -> [String: GroupNotices] {
    guard let text = try transaction.setting(.notices),
      let node = try? JSONNode.parse(Array(text.utf8))
    else { return [:] }
    var chosen: [String: GroupNotices] = [:]
    for member in node.object ?? [] {
      guard let values = member.value.array, values.count == 2, let isEnabled = values[0].boolean,
        let minutes = values[1].integer.flatMap({ Int(exactly: $0) })
      else { continue }
      chosen[member.key] = GroupNotices(isEnabled: isEnabled, intervalMinutes: minutes)
    }
    return chosen
  }
}
