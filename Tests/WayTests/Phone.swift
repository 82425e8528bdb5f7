import FerryJSON
import FerryModel
import Foundation
import Synchronization
import Testing

/// `ferry-device` as a process of its own. Commands go one after the other.
final class Phone: Sendable {
  let process: ChildProcess
  let database: String
  private let answered = Mutex<Int>(0)

  init(
    _ business: Business, _ name: String, _ address: String, prefix: [String] = [],
    silence: Int? = nil, isReplicationBased: Bool = false
  ) throws {
    database = business.place.file("\(name).db")
    let command =
      prefix + [try Programs.path("ferry-device"), business.model, database, address]
      + (isReplicationBased
        ? [String(silence ?? 40), "sessions"] : silence.map { [String($0)] } ?? [])
    process = try ChildProcess(command[0], Array(command.dropFirst()))
  }

  /// Logs in, subscribes, imports and stays in touch.
  static func start(
    _ business: Business, _ name: String, user: String, _ address: String, prefix: [String] = [],
    silence: Int? = nil
  ) async throws -> Phone {
    let phone = try Phone(business, name, address, prefix: prefix, silence: silence)
    try await phone.begin(user: user)
    return phone
  }

  func begin(user: String) async throws {
    try await ask(#"["login","\#(user)","\#(Business.password)"]"#)
    try await ask(#"["subscribe"]"#)
    try await ask(#"["start"]"#)
    try await synchronize()
  }

  /// Until it succeeds: a server that has just started may still load.
  func synchronize() async throws {
    try await until("the device synchronizes") {
      try await ask(#"["synchronize"]"#, mayFail: true)["ok"]?.boolean == true
    }
  }

  /// One command and its answer.
  @discardableResult
  func ask(_ command: String, mayFail: Bool = false) async throws -> JSONNode {
    let number = answered.withLock { count -> Int in
      count += 1
      return count
    }
    try process.type(command)
    let line = try await poll("the device answers \(command)") { () -> String? in
      let answers = process.lines.filter { $0.hasPrefix(#"{"ok":"#) }
      if answers.count >= number { return answers[number - 1] }
      guard process.isRunning else { throw WayFailure("the device ended: \(process.errorText)") }
      return nil
    }
    let node = try JSONNode.parse(Array(line.utf8))
    guard mayFail || node["ok"]?.boolean == true else { throw WayFailure("\(command): \(line)") }
    return node
  }

  func show(_ entity: String, _ key: String) async throws -> JSONNode {
    try await ask(#"["show","\#(entity)","[\#(key)]"]"#)
  }

  /// A visible value as text, a number as it is written.
  func text(_ entity: String, _ key: String, _ attribute: String) async throws -> String? {
    try await show(entity, key)["values"]?[attribute]?.shown
  }

  func update(_ entity: String, _ key: String, _ values: String) async throws {
    try await ask(#"["update","\#(entity)","[\#(key)]",\#(values)]"#)
  }

  /// Makes an object; gives its temporary key.
  func create(_ entity: String, _ values: String) async throws -> String {
    let answer = try await ask(#"["create","\#(entity)",\#(values)]"#)
    guard let key = answer["key"]?.string else { throw WayFailure("a create gave no key") }
    return key
  }

  func submit(_ entity: String, _ key: String) async throws {
    try await ask(#"["submit","\#(entity)","[\#(key)]"]"#)
  }

  func logs(_ entity: String, _ key: String) async throws -> [JSONNode] {
    try await ask(#"["logs","\#(entity)","[\#(key)]"]"#)["records"]?.array ?? []
  }

  func count(_ entity: String) async throws -> Int64 {
    try await ask(#"["count","\#(entity)"]"#)["count"]?.integer ?? -1
  }

  /// How often a callback came with these fields.
  func events(_ name: String, _ part: String = "") -> [String] {
    process.lines.filter {
      $0.hasPrefix(#"{"event":"\#(name)""#) && (part.isEmpty || $0.contains(part))
    }
  }

  /// Every visible row of an entity, by key.
  func rows(_ package: Package) async throws -> Rows {
    var rows: Rows = [:]
    for entity in package.entities {
      var found: [String: String] = [:]
      for line in try await ask(#"["dump","\#(entity.name)"]"#)["rows"]?.array ?? [] {
        guard let text = line.shown else { continue }
        let values = try RowCoder.decode(Array(text.utf8), types: entity.attributes.map(\.type))
        let key = entity.key(of: values).text
        #expect(found[key] == nil, "\(entity.name) \(key) is there twice")
        found[key] = text
      }
      rows[entity.name] = found
    }
    return rows
  }

  func quit() async throws {
    try await ask(#"["quit"]"#)
    _ = try await process.ended()
  }
}

extension JSONNode {
  /// The node as canonical text; a string without its quotes at the top.
  var shown: String? {
    switch content {
    case .null: nil
    case .string(let text): text
    case .boolean, .number, .array, .object: written
    }
  }

  private var written: String {
    switch content {
    case .null: return "null"
    case .boolean(let flag): return flag ? "true" : "false"
    case .number(let text): return text
    case .string(let text):
      var writer = JSONWriter()
      writer.string(text)
      return writer.text
    case .array(let items): return "[\(items.map(\.written).joined(separator: ","))]"
    case .object(let members):
      return "{\(members.map { "\"\($0.key)\":\($0.value.written)" }.joined(separator: ","))}"
    }
  }
}
