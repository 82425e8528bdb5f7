import FerryJSON
import FerryModel
import Foundation

/// One device, by remote control: commands in, answers and events out.
package final class Device {
  package let name: String
  let user: String
  let package: Package
  private let process: ChildProcess
  private var events: [JSONNode] = []

  init(name: String, user: String, package: Package, process: ChildProcess) {
    self.name = name
    self.user = user
    self.package = package
    self.process = process
  }

  package var processID: Int32 { process.processID }

  package func login() throws { try ask("login", .string(user), .string(Stage.password)) }
  package func subscribe() throws { try ask("subscribe") }
  package func start() throws { try ask("start") }
  package func networkIsBack() throws { try ask("network") }

  /// The key of the new object, temporary where the business system gives keys.
  package func create(_ entity: String, _ values: [(String, AttributeValue)]) throws -> ObjectKey {
    ObjectKey(text: try ask("create", .string(entity), .values(values))["key"]?.string ?? "")
  }

  package func update(
    _ entity: String, _ key: ObjectKey, _ values: [(String, AttributeValue)]
  ) throws {
    try ask("update", .string(entity), .key(key), .values(values))
  }

  package func submit(_ entity: String, _ key: ObjectKey) throws {
    try ask("submit", .string(entity), .key(key))
  }

  package func cancel(_ entity: String, _ key: ObjectKey) throws {
    try ask("cancel", .string(entity), .key(key))
  }

  package func delete(_ entity: String, _ key: ObjectKey) throws {
    try ask("delete", .string(entity), .key(key))
  }

  package func submitAll() throws { try ask("submitAll") }

  /// What waits on the device, in the order of the changes.
  package func pending() throws -> [JSONNode] { try ask("pending")["operations"]?.array ?? [] }

  package var isRunning: Bool { process.isRunning }

  /// Whether it has ended; a process that was killed is gone only a moment later.
  package func isGone(within seconds: Int) -> Bool {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while process.isRunning, ContinuousClock.now < deadline { usleep(2_000) }
    return !process.isRunning
  }

  /// All events until now, also those of a device that is gone.
  package func takeEvents() -> [JSONNode] {
    while let line = try? process.line(until: .now, nil) {
      if let node = try? JSONNode.parse(line), node["event"] != nil { events.append(node) }
    }
    defer { events = [] }
    return events
  }

  package func count(_ entity: String) throws -> Int {
    Int(try ask("count", .string(entity))["count"]?.integer ?? 0)
  }

  /// The visible values by attribute; nil when there is no such object.
  package func find(_ entity: String, _ key: ObjectKey) throws -> JSONNode? {
    let answer = try ask("find", .string(entity), .key(key))
    return answer["found"]?.boolean == true ? answer["values"] : nil
  }

  package func logs(_ entity: String, _ key: ObjectKey) throws -> [JSONNode] {
    try ask("logs", .string(entity), .key(key))["records"]?.array ?? []
  }

  /// Every visible row in its canonical form.
  func dump(_ entity: Entity) throws -> [[UInt8]] {
    let line = try answer("dump", [.string(entity.name)]).line
    return try line.withUnsafeBufferPointer { bytes in
      var scanner = JSONScanner(bytes)
      var rows: [[UInt8]] = []
      try scanner.enterObject()
      while let key = try scanner.nextKey() {
        guard key == "rows" else {
          _ = try scanner.skipValue()
          continue
        }
        try scanner.enterArray()
        while try scanner.nextElement() { rows.append(Array(bytes[try scanner.skipValue()])) }
      }
      return rows
    }
  }

  /// The next event of this name; what came before is no longer of interest.
  package func event(_ name: String, _ purpose: String) throws -> JSONNode {
    while true {
      let event = try anyEvent(purpose)
      if event["event"]?.string == name { return event }
    }
  }

  package func anyEvent(_ purpose: String) throws -> JSONNode {
    if !events.isEmpty { return events.removeFirst() }
    let deadline = ContinuousClock.now + ChildProcess.patience
    while true {
      if let line = try process.line(until: deadline, "waiting for \(purpose)") {
        return try JSONNode.parse(line)
      }
    }
  }

  /// Events that came until now are not waited for.
  package func forgetEvents() throws {
    while let line = try process.line(until: .now, nil) { _ = line }
    events.removeAll()
  }

  /// Waits, import after import, until the object looks as it should.
  package func wait(
    _ entity: String, _ key: ObjectKey, _ purpose: String, until isRight: (JSONNode) -> Bool
  )
    throws
  {
    let deadline = ContinuousClock.now + ChildProcess.patience
    while true {
      if let values = try find(entity, key), isRight(values) { return }
      guard ContinuousClock.now < deadline else {
        throw StageFailure("\(name) did not get \(purpose) within \(ChildProcess.patience)")
      }
      _ = try event("import", "\(purpose) at \(name)")
    }
  }

  enum Word {
    case string(String), key(ObjectKey)
    case values([(String, AttributeValue)])
  }

  @discardableResult
  private func ask(_ command: String, _ words: Word...) throws -> JSONNode {
    try answer(command, words).node
  }

  private func answer(_ command: String, _ words: [Word]) throws -> (line: [UInt8], node: JSONNode)
  {
    try process.send(Device.line(command, words))
    let deadline = ContinuousClock.now + ChildProcess.patience
    while true {
      guard let line = try process.line(until: deadline, "answering \(command)") else { continue }
      let node = try JSONNode.parse(line)
      guard let isDone = node["ok"]?.boolean else {
        events.append(node)
        continue
      }
      guard isDone else {
        throw DeviceRefusal(
          message: "\(name) could not \(command): \(node["message"]?.string ?? "")",
          hint: node["hint"]?.string ?? "")
      }
      return (line, node)
    }
  }

  private static func line(_ command: String, _ words: [Word]) -> String {
    var writer = JSONWriter()
    writer.beginArray()
    writer.string(command)
    for word in words {
      switch word {
      case .string(let text): writer.string(text)
      case .key(let key): writer.string("[\(key.text)]")
      case .values(let values):
        writer.beginObject()
        for (name, value) in values {
          writer.key(name)
          writer.value(value)
        }
        writer.endObject()
      }
    }
    writer.endArray()
    return writer.text
  }
}

/// The device itself said no.
package struct DeviceRefusal: Error, CustomStringConvertible {
  let message: String
  let hint: String

  package var description: String { "\(message). \(hint)" }
}

extension JSONNode {
  /// For people: text in quotes.
  package var shown: String {
    switch content {
    case .null: "null"
    case .boolean(let flag): flag ? "true" : "false"
    case .number(let text): text
    case .string(let text): "\"\(text)\""
    case .array, .object: "…"
    }
  }
}
