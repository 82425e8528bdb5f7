import FerryJSON
import FerryModel

/// The first message of every exchange: who the device is and where it stands. Nothing depends on
/// what the server remembers of the device but its operations.
public struct Hello: Sendable, Equatable {
  /// The version of this protocol.
  public static let currentProtocol: Int64 = 1

  public var `protocol`: Int64 = Hello.currentProtocol
  /// The server this device belongs to; nil before the first welcome.
  public var server: String?
  /// `name:version`.
  public var package: String
  public var device: String
  /// Random, one per database file: tells a restored copy from the original.
  public var incarnation: String
  /// The last checkpoint of each synchronization group that was subscribed.
  public var groups: [GroupPosition]
  /// Applied cursors of all partitions that the device has.
  public var partitions: [PartitionCursor]
  /// Operations that were sent and not answered.
  public var open: [OperationID]
  /// How long the server may hold its answer until the operations of `open` and of this request are
  /// answered, in milliseconds; 0 for an answer at once.
  public var wait: Int64 = 0
  /// The answer is held, at most for `wait`, until it holds all that was committed before.
  public var asksCurrent: Bool = false
  /// What the device asks for; nothing where the model has no parameters.
  public var parameters: SubscriptionParameters = SubscriptionParameters()
  /// What the device says of itself, for its operator.
  public var facts: DeviceFacts = DeviceFacts()
  /// Of a channel that asks for no rows: the groups of which it wants to be notified, with the least
  /// seconds between two notices of each; nil: all, at once.
  public var notices: [String: Int64]?
  /// The version of the application settings that it has, empty for none; nil: it takes none.
  public var settings: String?
  /// What became of corrections that earlier welcomes brought.
  public var corrections: [CorrectionReceipt] = []

  public init(
    server: String?, package: String, device: String, incarnation: String, groups: [GroupPosition],
    partitions: [PartitionCursor], open: [OperationID]
  ) {
    self.server = server
    self.package = package
    self.device = device
    self.incarnation = incarnation
    self.groups = groups
    self.partitions = partitions
    self.open = open
  }
}

/// What an operator sees of a device; all of it by the device's own word.
public struct DeviceFacts: Sendable, Equatable {
  /// As its maker names it.
  public var hardware: String = ""
  public var system: String = ""
  /// The version of the library.
  public var library: String = ""
  /// At least so many changes are pending there; nil: it does not say.
  public var pending: Int64?
  /// Whether the app asks for data; nil: it does not say.
  public var isSubscribed: Bool?

  public init() {}
}

/// A synchronization group and the checkpoint that the app sees; era nil before the first import.
public struct GroupPosition: Sendable, Equatable {
  public let name: String
  public let era: String?
  public let version: Int64

  public init(name: String, era: String?, version: Int64) {
    self.name = name
    self.era = era
    self.version = version
  }
}

/// Asks for everything new in a group.
public struct Pull: Sendable, Equatable {
  public let group: String
  /// Cursors of pages that wait to be imported, where they are ahead of the applied ones.
  public let staged: [PartitionCursor]
  /// The highest snapshot that the device has seen: no page may come from an older one.
  public let at: Int64

  public init(group: String, staged: [PartitionCursor], at: Int64) {
    self.group = group
    self.staged = staged
    self.at = at
  }
}

/// The device has imported a checkpoint and keeps these answers; the server may empty them.
public struct Confirm: Sendable, Equatable {
  public let group: String
  public let version: Int64
  public let answers: [OperationID]

  public init(group: String, version: Int64, answers: [OperationID]) {
    self.group = group
    self.version = version
    self.answers = answers
  }
}

/// Pending operations, each as the bytes that submit fixed.
public struct Replay: Sendable, Equatable {
  /// Each a JSON object that `Operation` reads.
  public let operations: [[UInt8]]
  /// Operations that this server, or the one it was restored from, had acknowledged before and no
  /// longer knows: they are looked for in the business system before they are performed.
  public let mayHaveRun: [OperationID]

  public init(operations: [[UInt8]], mayHaveRun: [OperationID] = []) {
    self.operations = operations
    self.mayHaveRun = mayHaveRun
  }
}

extension Hello {
  var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("protocol", `protocol`)
    writer.field("server", server)
    writer.field("package", package)
    writer.field("device", device)
    writer.field("incarnation", incarnation)
    writer.key("groups")
    writer.array(groups) { writer, group in
      writer.beginObject()
      writer.field("name", group.name)
      writer.field("era", group.era)
      writer.field("version", group.version)
      writer.endObject()
    }
    writer.key("partitions")
    writer.cursors(partitions)
    writer.key("open")
    writer.identifiers(open)
    if wait > 0 { writer.field("wait", wait) }
    if asksCurrent { writer.field("current", true) }
    if !parameters.isEmpty {
      writer.key("parameters")
      writer.parameters(parameters)
    }
    if facts != DeviceFacts() {
      writer.key("facts")
      writer.beginObject()
      writer.field("hardware", facts.hardware)
      writer.field("system", facts.system)
      writer.field("library", facts.library)
      if let pending = facts.pending { writer.field("pending", pending) }
      if let isSubscribed = facts.isSubscribed { writer.field("subscribed", isSubscribed) }
      writer.endObject()
    }
    if let notices {
      writer.key("notices")
      writer.beginObject()
      for (group, seconds) in notices.sorted(by: { $0.key < $1.key }) {
        writer.field(group, seconds)
      }
      writer.endObject()
    }
    if let settings { writer.field("settings", settings) }
    if !corrections.isEmpty {
      writer.key("corrections")
      writer.array(corrections) { $1.write(to: &$0) }
    }
    writer.endObject()
    return writer.bytes
  }

  init(_ scanner: inout JSONScanner) throws(JSONError) {
    self.init(
      server: nil, package: "", device: "", incarnation: "", groups: [], partitions: [], open: [])
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "protocol": `protocol` = try scanner.integer()
      case "server": server = try scanner.optionalText(of: key, atMost: WireLimits.idBytes)
      case "package": package = try scanner.name(of: key)
      case "device": device = try scanner.id(of: key)
      case "incarnation": incarnation = try scanner.id(of: key)
      case "groups":
        groups = try scanner.list(of: key, atMost: WireLimits.groupsInMessage) {
          scanner throws(JSONError) in try GroupPosition(&scanner)
        }
      case "partitions": partitions = try scanner.cursors(of: key)
      case "open":
        open = try scanner.identifiers(of: key, atMost: WireLimits.operationsInFlight)
      case "current": asksCurrent = try scanner.boolean()
      case "wait": wait = try scanner.integer()
      case "parameters": parameters = try scanner.parameters()
      case "facts": facts = try DeviceFacts(&scanner)
      case "notices":
        var groups: [String: Int64] = [:]
        try scanner.enterObject()
        while let group = try scanner.nextName(
          of: key, after: groups.count, atMost: WireLimits.groupsInMessage)
        {
          groups[group] = try scanner.integer()
        }
        notices = groups
      case "settings": settings = try scanner.id(of: key)
      case "corrections": corrections = try scanner.receipts(of: key)
      default: try scanner.skipValue()
      }
    }
    guard !package.isEmpty, !device.isEmpty, !incarnation.isEmpty else {
      throw scanner.failure("hello names no package, device or incarnation")
    }
  }
}

extension DeviceFacts {
  /// Texts are cut: a device may say anything.
  init(_ scanner: inout JSONScanner) throws(JSONError) {
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "hardware": hardware = try scanner.words(atMost: WireLimits.factBytes)
      case "system": system = try scanner.words(atMost: WireLimits.factBytes)
      case "library": library = try scanner.words(atMost: WireLimits.factBytes)
      case "pending": pending = try scanner.integer()
      case "subscribed": isSubscribed = try scanner.boolean()
      default: try scanner.skipValue()
      }
    }
  }
}

extension GroupPosition {
  init(_ scanner: inout JSONScanner) throws(JSONError) {
    var name: String?
    var era: String?
    var version: Int64 = 0
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "name": name = try scanner.name(of: key)
      case "era": era = try scanner.optionalText(of: key, atMost: WireLimits.idBytes)
      case "version": version = try scanner.integer()
      default: try scanner.skipValue()
      }
    }
    guard let name else { throw scanner.failure("a group has no name") }
    self.init(name: name, era: era, version: version)
  }
}

extension Pull {
  var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("group", group)
    writer.key("staged")
    writer.cursors(staged)
    writer.field("at", at)
    writer.endObject()
    return writer.bytes
  }

  init(_ scanner: inout JSONScanner) throws(JSONError) {
    var group: String?
    var staged: [PartitionCursor] = []
    var at: Int64 = 0
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "group": group = try scanner.name(of: key)
      case "staged": staged = try scanner.cursors(of: key)
      case "at": at = try scanner.integer()
      default: try scanner.skipValue()
      }
    }
    guard let group else { throw scanner.failure("pull names no group") }
    self.init(group: group, staged: staged, at: at)
  }
}

extension Confirm {
  var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("group", group)
    writer.field("version", version)
    writer.key("answers")
    writer.identifiers(answers)
    writer.endObject()
    return writer.bytes
  }

  init(_ scanner: inout JSONScanner) throws(JSONError) {
    var group: String?
    var version: Int64 = 0
    var answers: [OperationID] = []
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "group": group = try scanner.name(of: key)
      case "version": version = try scanner.integer()
      case "answers":
        answers = try scanner.identifiers(of: key, atMost: WireLimits.answersConfirmed)
      default: try scanner.skipValue()
      }
    }
    guard let group else { throw scanner.failure("confirm names no group") }
    self.init(group: group, version: version, answers: answers)
  }
}

extension Replay {
  var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("operations")
    writer.array(operations) { $0.raw($1) }
    writer.key("mayHaveRun")
    writer.identifiers(mayHaveRun)
    writer.endObject()
    return writer.bytes
  }

  init(_ scanner: inout JSONScanner) throws(JSONError) {
    var operations: [[UInt8]] = []
    var mayHaveRun: [OperationID] = []
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "operations":
        operations = try scanner.list(of: key, atMost: WireLimits.operationsInFlight) {
          scanner throws(JSONError) in
          let range = try scanner.skipValue()
          return Array(scanner.bytes[range])
        }
      case "mayHaveRun":
        mayHaveRun = try scanner.identifiers(of: key, atMost: WireLimits.operationsInFlight)
      default: try scanner.skipValue()
      }
    }
    self.init(operations: operations, mayHaveRun: mayHaveRun)
  }
}
