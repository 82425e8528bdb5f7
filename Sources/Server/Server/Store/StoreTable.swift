/// A table that a store takes with it when it moves to a store of another kind.
///
/// Names are those of the stores. What a load has staged is not among them: the next load begins
/// anew.
package struct StoreTable: Sendable, Equatable {
  package enum Kind: Sendable {
    case integer
    /// 0 or 1.
    case flag
    case text
    /// The canonical JSON of a row, as it travels.
    case body
    case bytes
  }

  package struct Column: Sendable, Equatable {
    package let name: String
    package let kind: Kind
  }

  package let name: String
  package let columns: [Column]

  init(
    _ name: String, integers: [String] = [], flags: [String] = [], texts: [String] = [],
    bodies: [String] = [], bytes: [String] = []
  ) {
    self.name = name
    columns =
      integers.map { Column(name: $0, kind: .integer) }
      + flags.map { Column(name: $0, kind: .flag) } + texts.map { Column(name: $0, kind: .text) }
      + bodies.map { Column(name: $0, kind: .body) }
      + bytes.map { Column(name: $0, kind: .bytes) }
  }

  /// In an order in which they can be written. `number` has the clock of each package.
  package static let all: [StoreTable] = [
    StoreTable("package", integers: ["id"], flags: ["loaded"], texts: ["name", "shape"]),
    StoreTable("number", integers: ["package", "version"]),
    StoreTable("era", integers: ["number", "package", "first_version"], texts: ["id"]),
    StoreTable("entity", integers: ["id", "package"], texts: ["name"]),
    StoreTable(
      "partition",
      integers: [
        "id", "package", "version", "floor", "sum", "count", "left_count", "asked_day",
      ], texts: ["group_name", "rule", "place", "asked_by"]),
    StoreTable(
      "row", integers: ["id", "entity", "partition", "hash", "version"], flags: ["deleted"],
      texts: ["key", "parent_key"], bodies: ["body"]),
    StoreTable(
      "border", integers: ["package", "position", "first_day", "last_day"],
      texts: ["entity", "attribute"]),
    StoreTable("alternate", integers: ["entity", "row"], texts: ["attributes", "text"]),
    StoreTable("member", integers: ["partition", "version", "row"], flags: ["left"]),
    StoreTable(
      "operation",
      integers: [
        "sequence", "package", "position", "count", "mark", "answer_version", "day", "sent_at",
      ],
      flags: ["may_have_run"],
      texts: [
        "id", "device", "user", "roles", "claims", "chain", "entity", "kind", "object_key",
        "group_name", "state", "claimed_by", "outcome", "new_key",
      ], bytes: ["payload", "hash", "answer"]),
    StoreTable(
      "device", integers: ["package", "last_day"],
      texts: ["id", "user", "incarnation", "rights_version"]),
    StoreTable(
      "rejected", integers: ["package"], texts: ["entity", "key", "attribute", "reason"]),
    StoreTable("seen_day", integers: ["package", "day", "version"]),
    StoreTable(
      "session", integers: ["used", "begun", "renewed"],
      texts: ["id", "user", "device", "stamp", "ended"]),
    StoreTable(
      "token_user", integers: ["issued"], texts: ["user", "roles", "claims", "packages"]),
    StoreTable(
      "registered_device",
      integers: ["first_seen", "last_seen", "pending", "registered", "changes"],
      flags: ["with_pending"],
      texts: [
        "user", "device", "incarnation", "model", "hardware", "system", "library", "cursors",
        "state", "reason", "receipt", "template", "subscription", "parameters", "application",
        "properties", "proof", "log_level",
      ]),
    StoreTable(
      "payload", integers: ["number", "moment"], texts: ["user", "device", "content"]),
    StoreTable("personalization", integers: ["package"], texts: ["user", "name", "value"]),
    StoreTable(
      "report", integers: ["number", "package", "day"],
      texts: ["id", "device", "user", "level", "record"]),
    StoreTable(
      "content", integers: ["id", "package", "stored", "day"],
      texts: ["user", "reference", "state"]),
    StoreTable("content_piece", integers: ["content", "start"], bytes: ["bytes"]),
    StoreTable("source_cursor", integers: ["package"], texts: ["text"]),
    StoreTable(
      "correction", integers: ["package", "made", "ended"],
      texts: [
        "id", "operation", "user", "device", "verb", "changed", "seen", "message", "made_by",
        "reason", "state", "detail", "became",
      ]),
    StoreTable(
      "unknown_outcome", integers: ["package"], texts: ["operation", "reason", "candidates"]),
  ]
}

/// The values of one column in some rows.
package enum StoredColumn: Sendable {
  /// Flags too.
  case integers([Int64?])
  case texts([String?])
  case bodies([[UInt8]])
  case bytes([[UInt8]?])
}

/// Facts of a store that are in no table of their own.
package struct StoreFacts: Sendable {
  /// The id of the server.
  package let server: String
  package let lastDay: Int64
  package let days: Int64
  /// Of all packages.
  package let eras: Set<String>
  /// The highest number that was given in each table, though its row may be deleted.
  package let lastNumbers: [String: Int64]
  /// The keys, under their names.
  package let secrets: [String: [UInt8]]

  package init(
    server: String, lastDay: Int64, days: Int64, eras: Set<String>, lastNumbers: [String: Int64],
    secrets: [String: [UInt8]]
  ) {
    self.server = server
    self.lastDay = lastDay
    self.days = days
    self.eras = eras
    self.lastNumbers = lastNumbers
    self.secrets = secrets
  }
}
