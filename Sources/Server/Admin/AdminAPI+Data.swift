import FerryJSON
import FerryModel
import FerryServer
import FerryWorld
import Synchronization

/// Packages, what they could not take, and what the audit log says.
extension AdminAPI {
  /// The same answer for all screens for a while: the server is asked once.
  func overview() async throws(AdminError) -> AdminAnswer {
    let now = world.clock.moment
    if let known = latest.answer(now) { return known }
    let answer = try await freshOverview()
    latest.keep(answer, now)
    return answer
  }

  private func freshOverview() async throws(AdminError) -> AdminAnswer {
    let desk = try desk()
    let counts = try await asking { () async throws(ServerError) in try await desk.counts() }
    let devices = try await asking { () async throws(ServerError) in
      try await desk.deviceCounts()
    }
    return AdminAnswer { writer in
      writer.field("time", world.clock.now.milliseconds)
      writer.field("version", version)
      writer.key("packages")
      desk.writeHealth(to: &writer)
      writer.key("operations")
      writer.array(counts) { writer, one in
        writer.beginObject()
        writer.field("package", one.package)
        writer.field("waiting", one.counts.waiting)
        writer.field("refused", one.counts.refused)
        writer.field("unknown", one.counts.unknown)
        writer.field("accepted", one.accepted)
        writer.endObject()
      }
      writer.field("devices", devices.all)
      writer.field("activeToday", devices.recent)
      writer.field("lockedOrWiped", devices.ended)
    }
  }

  func packages() throws(AdminError) -> AdminAnswer {
    let desk = try desk()
    return AdminAnswer { writer in
      writer.key("packages")
      desk.writeHealth(to: &writer)
      writer.key("models")
      writer.array(desk.packages) { writer, package in
        writer.beginObject()
        writer.field("package", package.id)
        writer.key("entities")
        writer.array(package.entities) { writer, entity in
          writer.beginObject()
          writer.field("entity", entity.name)
          writer.field("group", entity.group)
          writer.field("attributes", entity.attributes.count)
          writer.endObject()
        }
        writer.endObject()
      }
    }
  }

  func reload(_ call: AdminCall, _ package: String) throws(AdminError) -> AdminAnswer {
    try call.require(.administrator)
    let reason = try call.reason()
    let desk = try desk()
    guard desk.packages.contains(where: { $0.id == package }) else {
      throw .notFound("package \(package)")
    }
    if !call.isTrial {
      _ = desk.reload(package)
      desk.audit.note(
        .reloadAsked, by: call.person.name, address: call.address, reason: "\(package): \(reason)")
    }
    return AdminAnswer { writer in
      writer.field("dryRun", call.isTrial)
      writer.field("willDo", "Every row of \(package) is read from the business system again.")
    }
  }

  func rejected() async throws(AdminError) -> AdminAnswer {
    let desk = try desk()
    let rows = try await asking { () async throws(ServerError) in try await desk.rejectedRows() }
    return AdminAnswer { writer in
      writer.key("rows")
      writer.array(rows) { writer, one in
        writer.beginObject()
        writer.field("package", one.package)
        writer.field("entity", one.row.entity)
        writer.field("key", one.row.key)
        writer.field("attribute", one.row.attribute)
        writer.field("reason", one.row.reason)
        writer.endObject()
      }
    }
  }

  /// Why an object is on devices, or not.
  func why(_ call: AdminCall) async throws(AdminError) -> AdminAnswer {
    try call.require(.operator)
    guard let entity = call.text("entity"), let key = call.text("key") else {
      throw .bad("entity or key is missing", hint: "Write why?package=…&entity=…&key=….")
    }
    let desk = try desk()
    guard let package = call.text("package") ?? desk.packages.first?.id else {
      throw .notFound("package")
    }
    let found = try await asking { () async throws(ServerError) in
      try await desk.explain(package, entity, key)
    }
    guard let found else { throw .notFound("package \(package)") }
    desk.audit.note(
      .valuesShown, by: call.person.name, address: call.address, reason: "why \(entity) \(key)")
    return AdminAnswer { AdminAPI.write(found, to: &$0) }
  }

  private static func write(_ found: Explanation, to writer: inout JSONWriter) {
    writer.field("package", found.package)
    writer.field("entity", found.entity)
    writer.field("key", found.key)
    writer.field("verdict", found.verdict)
    writer.field("version", found.version)
    writer.field("isDeleted", found.isDeleted)
    writer.field("group", found.group)
    writer.field("rule", found.rule)
    writer.field("place", found.place)
    writer.field("row", found.body)
    writer.field("leftOut", found.rejectedReason)
    writer.key("similar")
    writer.array(found.similar) { $0.string($1) }
    writer.key("operations")
    writer.array(found.operations) { writer, line in
      writer.beginObject()
      writer.field("id", line.id)
      writer.field("kind", line.kind)
      writer.field("user", line.user)
      writer.field("device", line.device)
      writer.field("state", line.state)
      writer.field("outcome", line.outcome)
      writer.field("reason", line.reason)
      writer.endObject()
    }
  }

  /// The newest lines of the audit log, the newest first. Nobody can change it here.
  func audit(_ call: AdminCall) throws(AdminError) -> AdminAnswer {
    let count = try call.integer("count", in: 1...AdminAPI.longestPage) ?? AdminAPI.pageSize
    let before = try call.integer("before", in: 1...Int64.max)
    let desk = try desk()
    var lines: [(line: [UInt8], time: Int64)] = []
    var hasMore = false
    for line in desk.audit.newestLines() {
      guard let node = try? JSONNode.parse(line), let time = node["time"]?.integer,
        before.map({ time < $0 }) ?? true,
        ["event", "by", "user", "device", "operation"].allSatisfy({ name in
          call.text(name).map { node[name]?.string == $0 } ?? true
        })
      else { continue }
      // All of one moment come together, so that none is passed over.
      if lines.count >= Int(count), lines.last?.time != time {
        hasMore = true
        break
      }
      lines.append((line, time))
    }
    return AdminAnswer { writer in
      writer.key("lines")
      writer.array(lines) { $0.raw($1.line) }
      if hasMore, let last = lines.last { writer.field("next", last.time) }
    }
  }
}

/// The overview that was made last.
final class LatestOverview: Sendable {
  private let state = Mutex<(answer: AdminAnswer, made: Timestamp)?>(nil)

  /// How long it is good.
  static let age: Duration = .seconds(2)

  func answer(_ now: Timestamp) -> AdminAnswer? {
    state.withLock { known in
      known.flatMap { now < $0.made.advanced(by: LatestOverview.age) ? $0.answer : nil }
    }
  }

  func keep(_ answer: AdminAnswer, _ now: Timestamp) { state.withLock { $0 = (answer, now) } }
}
