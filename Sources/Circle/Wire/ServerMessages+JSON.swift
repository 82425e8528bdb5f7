import FerryJSON
import FerryModel

extension Welcome {
  var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("server", server)
    writer.field("era", era)
    writer.field("clock", clock)
    writer.field("rightsVersion", rightsVersion)
    writer.key("keep")
    writer.array(keep) { $0.integer($1) }
    writer.key("start")
    writer.array(start) { writer, place in
      writer.beginObject()
      writer.field("partition", place.partition)
      writer.field("group", place.group)
      writer.endObject()
    }
    writer.key("drop")
    writer.array(drop) { $0.integer($1) }
    writer.key("reset")
    writer.array(reset) { $0.integer($1) }
    writer.key("operations")
    writer.beginObject()
    for operation in operations { writer.field(operation.id.text, operation.state.rawValue) }
    writer.endObject()
    writer.field("expectedRows", expectedRows)
    if !keys.isEmpty {
      writer.key("keys")
      writer.texts(keys)
    }
    if !takes.isEmpty {
      writer.key("takes")
      writer.array(takes) { $0.string($1) }
    }
    if let settings {
      writer.key("settings")
      settings.write(to: &writer)
    }
    if !corrections.isEmpty {
      writer.key("corrections")
      writer.array(corrections) { $1.write(to: &$0) }
    }
    writer.endObject()
    return writer.bytes
  }

  init(_ scanner: inout JSONScanner) throws(JSONError) {
    self.init(
      server: "", era: "", clock: 0, rightsVersion: "", keep: [], start: [], drop: [], reset: [],
      operations: [])
    takes = []
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "server": server = try scanner.id(of: key)
      case "era": era = try scanner.id(of: key)
      case "clock": clock = try scanner.integer()
      case "rightsVersion": rightsVersion = try scanner.id(of: key)
      case "keep": keep = try scanner.partitions(of: key)
      case "takes": takes = try scanner.names(of: key)
      case "settings": settings = try ApplicationSettings(&scanner)
      case "corrections":
        corrections = try scanner.list(of: key, atMost: WireLimits.corrections) {
          scanner throws(JSONError) in try Correction.read(&scanner)
        }.compactMap { $0 }
      case "start":
        start = try scanner.list(of: key, atMost: WireLimits.partitionsInMessage) {
          scanner throws(JSONError) in try PartitionPlace(&scanner)
        }
      case "drop": drop = try scanner.partitions(of: key)
      case "reset": reset = try scanner.partitions(of: key)
      case "operations": operations = try scanner.operationStates()
      case "expectedRows": expectedRows = try scanner.integer()
      case "keys": keys = try scanner.texts(of: key).compactMapValues { $0 }
      default: try scanner.skipValue()
      }
    }
    guard !server.isEmpty, !era.isEmpty else {
      throw scanner.failure("welcome names no server or era")
    }
  }
}

extension PartitionPlace {
  init(_ scanner: inout JSONScanner) throws(JSONError) {
    var partition: Int64 = 0
    var group = ""
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "partition": partition = try scanner.integer()
      case "group": group = try scanner.name(of: key)
      default: try scanner.skipValue()
      }
    }
    self.init(partition: partition, group: group)
  }
}

extension WaitingOperation {
  init(_ scanner: inout JSONScanner) throws(JSONError) {
    var id: OperationID?
    var reason = ""
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "id": id = OperationID(try scanner.id(of: key))
      case "for": reason = try scanner.name(of: key)
      default: try scanner.skipValue()
      }
    }
    guard let id else { throw scanner.failure("an operation that waits has no id") }
    self.init(id: id, reason: reason)
  }
}

extension Checkpoint {
  var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("group", group)
    writer.field("era", era)
    writer.field("version", version)
    writer.key("partitions")
    writer.array(partitions) { writer, partition in
      writer.beginObject()
      writer.field("partition", partition.partition)
      writer.key("cursor")
      writer.cursor(partition.cursor)
      writer.field("sum", String(partition.sum))
      writer.field("count", partition.count)
      writer.endObject()
    }
    writer.key("answers")
    writer.array(answers) { $0.answer($1) }
    writer.field("rightsVersion", rightsVersion)
    writer.key("unavailable")
    writer.array(unavailable) { $0.integer($1) }
    if let currency { writer.field("currency", currency.rawValue) }
    if let age { writer.field("age", age) }
    if let load {
      writer.key("load")
      writer.beginObject()
      writer.field("permille", load.permille)
      if let seconds = load.remainingSeconds { writer.field("remainingSeconds", seconds) }
      writer.endObject()
    }
    if !waiting.isEmpty {
      writer.key("waiting")
      writer.array(waiting) { writer, operation in
        writer.beginObject()
        writer.field("id", operation.id.text)
        writer.field("for", operation.reason)
        writer.endObject()
      }
    }
    writer.endObject()
    return writer.bytes
  }

  init(_ scanner: inout JSONScanner) throws(JSONError) {
    self.init(
      group: "", era: "", version: 0, partitions: [], answers: [], rightsVersion: "",
      unavailable: [])
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "group": group = try scanner.name(of: key)
      case "era": era = try scanner.id(of: key)
      case "version": version = try scanner.integer()
      case "partitions":
        partitions = try scanner.list(of: key, atMost: WireLimits.partitionsInMessage) {
          scanner throws(JSONError) in try PartitionSum(&scanner)
        }
      case "answers":
        answers = try scanner.list(of: key, atMost: WireLimits.answersInMessage) {
          scanner throws(JSONError) in try Answer(&scanner)
        }
      case "rightsVersion": rightsVersion = try scanner.id(of: key)
      case "unavailable": unavailable = try scanner.partitions(of: key)
      // One that is not known yet says no more than none.
      case "currency": currency = Currency(rawValue: try scanner.string())
      case "age": age = max(0, try scanner.integer())
      case "load": load = try LoadStanding(&scanner)
      case "waiting":
        waiting = try scanner.list(of: key, atMost: WireLimits.answersInMessage) {
          scanner throws(JSONError) in try WaitingOperation(&scanner)
        }
      default: try scanner.skipValue()
      }
    }
    guard !group.isEmpty, !era.isEmpty else {
      throw scanner.failure("a checkpoint names no group or era")
    }
  }
}

extension LoadStanding {
  init(_ scanner: inout JSONScanner) throws(JSONError) {
    var permille: Int64 = 0
    var seconds: Int64?
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "permille": permille = try scanner.integer()
      case "remainingSeconds": seconds = try scanner.integer()
      default: try scanner.skipValue()
      }
    }
    self.init(permille: permille, remainingSeconds: seconds)
  }
}

extension PartitionSum {
  init(_ scanner: inout JSONScanner) throws(JSONError) {
    var partition: Int64 = 0
    var cursor = Cursor.start
    var sum: UInt64?
    var count: Int64 = 0
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "partition": partition = try scanner.integer()
      case "cursor": cursor = try scanner.cursor()
      case "sum": sum = UInt64(try scanner.string())
      case "count": count = try scanner.integer()
      default: try scanner.skipValue()
      }
    }
    guard let sum else { throw scanner.failure("a partition has no sum") }
    self.init(partition: partition, cursor: cursor, sum: sum, count: count)
  }
}

extension Answer {
  /// The answer as JSON, the form in which both sides keep it.
  public var json: [UInt8] {
    var writer = JSONWriter()
    writer.answer(self)
    return writer.bytes
  }

  public init(json: [UInt8]) throws(JSONError) {
    self = try json.scan { scanner throws(JSONError) in try Answer(&scanner) }
  }

  init(_ scanner: inout JSONScanner) throws(JSONError) {
    var id: OperationID?
    var version: Int64 = 0
    var outcome: Outcome?
    var newKey: ObjectKey?
    var logRecords: [LogRecord] = []
    var isToBeSentAgain: Bool = false
    var written: [String: AttributeValue] = [:]
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "written":
        try scanner.enterObject()
        while let name = try scanner.nextName(
          of: key, after: written.count, atMost: WireLimits.namesInMessage)
        {
          written[name] = try scanner.attributeValue()
        }
      case "id": id = try scanner.identifier()
      case "version": version = try scanner.integer()
      case "again": isToBeSentAgain = try scanner.boolean()
      case "method": outcome = try scanner.outcome()
      case "newKey":
        newKey = try scanner.optionalText(of: key, atMost: WireLimits.rowBytes)
          .map { ObjectKey(text: $0) }
      case "log":
        logRecords = try scanner.list(of: key, atMost: WireLimits.namesInMessage) {
          scanner throws(JSONError) in try LogRecord(&scanner)
        }
      default: try scanner.skipValue()
      }
    }
    guard let id, let outcome else {
      throw scanner.failure("an answer has no id or no known method")
    }
    self.init(
      id: id, version: version, outcome: outcome, newKey: newKey, logRecords: logRecords,
      isToBeSentAgain: isToBeSentAgain)
    self.written = written
  }
}

extension Stored {
  var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("ids")
    writer.identifiers(ids)
    writer.key("refused")
    writer.array(refused) { $0.answer($1) }
    writer.endObject()
    return writer.bytes
  }

  init(_ scanner: inout JSONScanner) throws(JSONError) {
    var ids: [OperationID] = []
    var refused: [Answer] = []
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "ids":
        ids = try scanner.identifiers(of: key, atMost: WireLimits.answersInMessage)
      case "refused":
        refused = try scanner.list(of: key, atMost: WireLimits.answersInMessage) {
          scanner throws(JSONError) in try Answer(&scanner)
        }
      default: try scanner.skipValue()
      }
    }
    self.init(ids: ids, refused: refused)
  }
}

extension Stir {
  var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("finished")
    writer.identifiers(finished)
    if let settings { writer.field("settings", settings) }
    if let groups {
      writer.key("groups")
      writer.array(groups) { $0.string($1) }
    }
    if hasCorrections { writer.field("corrections", true) }
    writer.endObject()
    return writer.bytes
  }

  init(_ scanner: inout JSONScanner) throws(JSONError) {
    var finished: [OperationID] = []
    var settings: String?
    var groups: [String]?
    var hasCorrections: Bool = false
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "finished":
        finished = try scanner.identifiers(of: key, atMost: WireLimits.answersInMessage)
      case "settings": settings = try scanner.id(of: key)
      case "groups": groups = try scanner.names(of: key)
      case "corrections": hasCorrections = try scanner.boolean()
      default: try scanner.skipValue()
      }
    }
    self.init(finished: finished, settings: settings, groups: groups)
    self.hasCorrections = hasCorrections
  }
}

extension WireFailure {
  var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("code", code.rawValue)
    writer.field("message", message)
    writer.field("hint", hint)
    writer.endObject()
    return writer.bytes
  }

  init(_ scanner: inout JSONScanner) throws(JSONError) {
    var code = Code.internal
    var message = ""
    var hint = ""
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "code": code = Code(rawValue: try scanner.string()) ?? .internal
      case "message": message = try scanner.words()
      case "hint": hint = try scanner.words()
      default: try scanner.skipValue()
      }
    }
    self.init(code, message, hint: hint)
  }
}
