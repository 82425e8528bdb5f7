import FerryWorld

/// What was logged once.
public struct LogEntry: Sendable, Equatable {
  /// Counts up from 1 with each record of one log.
  public var number: Int64
  public var time: Timestamp
  public var severity: LogSeverity
  /// The app's own category for the record.
  public var tag: String
  /// The part of the kit that wrote it; empty for the app.
  public var component: String
  public var message: String
  /// Where the record was written, as `Module/File.swift:12 function()`; empty when locations are
  /// off.
  public var location: String
  /// The error that was logged with the record, as text; nil without one.
  public var error: String?
  /// The id of the process.
  public var process: Int32
  /// The id that records of one action share; nil without one.
  public var correlationID: String?

  public init(
    number: Int64, time: Timestamp, severity: LogSeverity, tag: String, component: String = "",
    message: String, location: String = "", error: String? = nil, process: Int32 = 0,
    correlationID: String? = nil
  ) {
    self.number = number
    self.time = time
    self.severity = severity
    self.tag = tag
    self.component = component
    self.message = message
    self.location = location
    self.error = error
    self.process = process
    self.correlationID = correlationID
  }
}

/// The fields that describe the device in an export, before the records; every field may be empty.
public struct LogHeader: Sendable, Equatable {
  public var osVersion = ""
  public var appName = ""
  public var appVersion = ""
  public var thirdPartyVersions = ""
  public var hardware = ""
  public var user = ""
  public var timeZone = ""
  public var language = ""
  public var baseURL = ""

  public init() {}

  /// The nine fields by name, in the order of an export.
  public var fields: [(name: String, value: String)] {
    [
      ("OS version", osVersion), ("App name", appName), ("App version", appVersion),
      ("Third-party versions", thirdPartyVersions), ("Hardware", hardware), ("User", user),
      ("Time zone", timeZone), ("Language", language), ("Base URL", baseURL),
    ]
  }
}

/// Which records to return; a field that is nil has no effect.
public struct LogQuery: Sendable {
  var test: (@Sendable (LogSeverity) -> Bool)?
  public var tag: String?
  public var component: String?
  /// The earliest time of a record, included.
  public var from: Timestamp?
  /// The latest time of a record, included.
  public var to: Timestamp?
  public var process: Int32?
  public var correlationID: String?

  /// All records.
  public init() {}

  /// Records whose level has this relation to `level`, compared as numbers of the same scale.
  ///
  /// On the scale of iOS a smaller number is more severe: `.lessEqual` gives records at least as
  /// severe. On all other scales use `.greaterEqual`.
  public init<Scale: LogScale>(_ level: Scale, _ operation: LogOperation = .equals) {
    test = { operation.holds(Scale($0).rawValue, level.rawValue) }
  }

  /// Records that are at least as severe, on our scale.
  public init(atLeast severity: LogSeverity) { test = { $0 >= severity } }

  /// Whether a record matches the query.
  public func matches(_ record: LogEntry) -> Bool {
    (test?(record.severity) ?? true) && (tag.map { $0 == record.tag } ?? true)
      && (component.map { $0 == record.component } ?? true)
      && (from.map { $0 <= record.time } ?? true) && (to.map { record.time <= $0 } ?? true)
      && (process.map { $0 == record.process } ?? true)
      && (correlationID.map { $0 == record.correlationID } ?? true)
  }
}
