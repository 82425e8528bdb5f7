import FerryJSON
import FerryModel
import FerryStage
import Foundation

/// What happens in both stories.
struct Scenes {
  let stage: Stage
  let database: BusinessDatabase
  let package: Package

  private var narrator: Narrator { stage.narrator }

  /// Two devices, each a process with a database file of its own, subscribe and import.
  func devices(_ users: [String]) throws -> [Device] {
    try zip(["device A", "device B"], users).map { name, user in
      let device = try stage.startDevice(name, user: user, package)
      try device.login()
      try device.subscribe()
      let begin = ContinuousClock.now
      try device.start()
      try awaitImport(device)
      let counts = try package.entities.map { try device.count($0.name) }
      narrator.endProgress(
        "\(name) (process \(device.processID), user \(user)): subscribed, \(counts.reduce(0, +)) rows "
          + "imported in \(begin.duration(to: .now).shown)")
      return device
    }
  }

  /// Draws the bar until every synchronization group is whole.
  private func awaitImport(_ device: Device) throws {
    var missing = Set(package.groups.map(\.name))
    while !missing.isEmpty {
      // The server may have to read a large database first.
      let event = try device.anyEvent("the first import")
      switch event["event"]?.string {
      case "progress":
        narrator.progress(
          device.name, Int(event["received"]?.string ?? "") ?? 0,
          of: Int(event["expected"]?.string ?? "") ?? 0)
      case "importSuccess": missing.remove(event["group"]?.string ?? "")
      case "loginFailure", "subscribeFailure":
        throw StageFailure("\(device.name): \(event["message"]?.string ?? "refused")")
      default: break
      }
    }
  }

  func stopServer(_ devices: [Device]) throws {
    for device in devices { try device.forgetEvents() }
    try stage.stopServer()
    for device in devices { _ = try device.event("disconnect", "\(device.name) to notice") }
    narrator.say("The server's process has ended; both devices noticed that they are offline.")
  }

  func startServerAgain(_ devices: [Device]) throws {
    let time = try stage.startServer(database)
    for device in devices { try device.networkIsBack() }
    narrator.say("The server is back at \(stage.address) after \(time.shown).")
  }

  /// The new key of the accepted object.
  @discardableResult
  func accepted(_ device: Device, _ entity: String, _ purpose: String) throws -> ObjectKey {
    let event = try answered(device, entity, purpose)
    let key = ObjectKey(text: event["newKey"]?.string ?? event["key"]?.string ?? "")
    guard event["event"]?.string == "replaySuccess" else {
      let records = try device.logs(entity, ObjectKey(text: event["key"]?.string ?? ""))
      throw StageFailure(
        "\(purpose): refused: \(records.last?["message"]?.string ?? "no log record")")
    }
    return key
  }

  /// The log records of the refused object.
  func refused(
    _ device: Device, _ entity: String, _ key: ObjectKey, _ purpose: String
  ) throws
    -> [JSONNode]
  {
    let event = try answered(device, entity, purpose)
    guard event["event"]?.string == "replayFailure" else {
      throw StageFailure("\(purpose): it was accepted, but should have been refused")
    }
    let records = try device.logs(entity, key)
    guard !records.isEmpty else { throw StageFailure("\(purpose): there is no log record") }
    return records
  }

  private func answered(_ device: Device, _ entity: String, _ purpose: String) throws -> JSONNode {
    while true {
      let event = try device.anyEvent(purpose)
      let isAnswer = ["replaySuccess", "replayFailure"].contains(event["event"]?.string)
      if isAnswer, event["entity"]?.string == entity { return event }
    }
  }

  func show(_ records: [JSONNode]) {
    narrator.say("Log record of the device:")
    for record in records {
      for name in ["code", "message", "operation", "attribute", "baseValue", "currentValue"] {
        if let node = record[name], !node.isNull { narrator.say("  \(name): \(node.plain)") }
      }
    }
  }

  /// One change at A: how long until B shows it, pushed.
  func push(
    from first: Device, to second: Device, _ entity: Entity, _ key: ObjectKey, _ attribute: String,
    _ value: AttributeValue
  ) throws {
    for device in [first, second] { try device.forgetEvents() }
    try first.update(entity.name, key, [(attribute, value)])
    let begin = ContinuousClock.now
    try first.submit(entity.name, key)
    try second.wait(entity.name, key, "the pushed \(entity.name) \(key)") {
      $0[attribute]?.plain == value.plain
    }
    let time = begin.duration(to: .now)
    try accepted(first, entity.name, "the change of \(entity.name) \(key)")
    narrator.say(
      "\(first.name) sets \(entity.name) \(key).\(attribute) = \(value.shown) and submits.")
    narrator.say(
      "\(second.name) shows it \(time.shown) later, through the business database and the push.")
  }

  /// Both devices change the same attribute of the same row; the second one is refused.
  func conflict(
    _ devices: [Device], _ entity: Entity, _ key: ObjectKey, _ attribute: String,
    _ values: [AttributeValue]
  ) throws {
    let (first, second) = (devices[0], devices[1])
    for device in devices { try device.forgetEvents() }
    for (device, value) in zip(devices, values) {
      let was = try device.find(entity.name, key)?[attribute]?.shown ?? "nothing"
      try device.update(entity.name, key, [(attribute, value)])
      narrator.say(
        "\(device.name) sees \(attribute) \(was) of \(entity.name) \(key) and sets \(value.shown).")
    }
    try first.submit(entity.name, key)
    try accepted(first, entity.name, "\(first.name)'s change")
    narrator.say("\(first.name) submits first: accepted.")
    // So that the decision below is made in sight of what the business has.
    _ = try second.event("import", "the change of \(first.name) at \(second.name)")
    try second.submit(entity.name, key)
    let records = try refused(second, entity.name, key, "\(second.name)'s change")
    narrator.say("\(second.name) submits second: refused, as the row is not what it was based on.")
    show(records)
    guard let record = records.last(where: { $0["code"]?.plain == "412" }) else {
      throw StageFailure("the refusal has no log record with code 412")
    }
    let mine = try second.find(entity.name, key)?[attribute]?.shown ?? "nothing"
    narrator.say(
      "\(second.name) can show both: the business has \(record["currentValue"]?.plain ?? "?"), "
        + "its own pending value is \(mine).")
    try second.update(entity.name, key, [(attribute, values[1])])
    try second.submit(entity.name, key)
    try accepted(second, entity.name, "the decision of \(second.name)")
    try first.wait(entity.name, key, "the decision of \(second.name)") {
      $0[attribute]?.plain == values[1].plain
    }
    narrator.say("It decides for its own, in sight of the other: saved again, submitted, accepted.")
    narrator.say("\(first.name) shows \(values[1].shown), too.")
  }
}

extension JSONNode {
  /// Without quotes.
  var plain: String {
    if let string { return string }
    return shown
  }
}

extension AttributeValue {
  /// As `JSONNode.plain` has it.
  var plain: String {
    if case .text(let text) = self { return text }
    return shown
  }
}
