import FerryWorld

/// What was logged once.
public struct LogEntry: Sendable, Equatable {
  /// Counts up from 1 with each record of one log.
  public var number: Int64
  public var time: Timestamp
  public var severity: LogSeverity
  /// The app's own word for what the record belongs to.
  public var tag: String
  /// The part that wrote it; empty for the app.
  public var component: String
  public var message: String
  /// Where it was written, as `Module/File.swift:12 function()`; empty when locations are off.
  public var location: String
  /// The error that came with it, as text; nil without one.
  public var error: String?
  /// The system's number of the process.
  public var process: Int32
  /// What connects the records of one action; nil without one.
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

/// What an export says of the device before the records; every field may be empty.
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

/// Which records are meant; what is nil asks nothing.
public struct LogQuery: Sendable {
  var test: (@Sendable (LogSeverity) -> Bool)?
  public var tag: String?
  public var component: String?
  /// The first moment that belongs to it.
  public var from: Timestamp?
  /// The last moment that belongs to it.
  public var to: Timestamp?
  public var process: Int32?
  public var correlationID: String?

  /// All records.
  public init() {}

  /// Records whose level, as a number of the scale of `level`, stands so to it.
  ///
  /// On the scale of iOS less is worse: `.lessEqual` gives what is at least as bad. On all others
  /// `.greaterEqual` does.
  public init<Scale: LogScale>(_ level: Scale, _ operation: LogOperation = .equals) {
    test = { operation.holds(Scale($0).rawValue, level.rawValue) }
  }

  /// Records that are at least as bad, on our scale.
  public init(atLeast severity: LogSeverity) { test = { $0 >= severity } }

  /// Whether a record is meant.
  public func matches(_ record: LogEntry) -> Bool {
    (test?(record.severity) ?? true) && (tag.map { $0 == record.tag } ?? true)
      && (component.map { $0 == record.component } ?? true)
      && (from.map { $0 <= record.time } ?? true) && (to.map { record.time <= $0 } ?? true)
      && (process.map { $0 == record.process } ?? true)
      && (correlationID.map { $0 == record.correlationID } ?? true)
  }
}
