import FerryWorld

/// How severe a record is; a larger number is more severe. The scales of other libraries are
/// converted to this one.
public enum LogSeverity: Int, Sendable, Comparable, CaseIterable {
  /// A measured duration.
  case performance = 1
  case trace, debug, info, notice, warning, error, critical, alert, emergency

  public static func < (left: LogSeverity, right: LogSeverity) -> Bool {
    left.rawValue < right.rawValue
  }

  public var name: String { String(describing: self) }
}

/// A scale of another library; a record's level can be converted to it.
public protocol LogScale: RawRepresentable<Int>, Sendable, CaseIterable {
  /// The place on our scale.
  var severity: LogSeverity { get }
  /// The place of this scale that says the same, or the nearest that it has.
  init(_ severity: LogSeverity)
}

/// The scale of the reference's library for iOS, 0 to 7: a smaller number is more severe.
public enum IOSLogLevel: Int, LogScale {
  case emergency = 0
  case alert, critical, error, warning, notice, info, debug

  public var severity: LogSeverity {
    switch self {
    case .emergency: .emergency
    case .alert: .alert
    case .critical: .critical
    case .error: .error
    case .warning: .warning
    case .notice: .notice
    case .info: .info
    case .debug: .debug
    }
  }

  public init(_ severity: LogSeverity) {
    switch severity {
    case .performance, .trace, .debug: self = .debug
    case .info: self = .info
    case .notice: self = .notice
    case .warning: self = .warning
    case .error: self = .error
    case .critical: self = .critical
    case .alert: self = .alert
    case .emergency: self = .emergency
    }
  }
}

/// The scale of the reference's library for Android, 1 to 8: a larger number is more severe.
public enum AndroidLogLevel: Int, LogScale {
  case performance = 1
  case verbose, debug, info, warn, error, assert, fatal

  public var severity: LogSeverity {
    switch self {
    case .performance: .performance
    case .verbose: .trace
    case .debug: .debug
    case .info: .info
    case .warn: .warning
    case .error: .error
    case .assert: .critical
    case .fatal: .emergency
    }
  }

  public init(_ severity: LogSeverity) {
    switch severity {
    case .performance: self = .performance
    case .trace: self = .verbose
    case .debug: self = .debug
    case .info, .notice: self = .info
    case .warning: self = .warn
    case .error: self = .error
    case .critical: self = .assert
    case .alert, .emergency: self = .fatal
    }
  }
}

/// The scale of the reference's library for BlackBerry, which has names and no numbers; ours are 1
/// to 5, and a larger number is more severe.
public enum BlackBerryLogLevel: Int, LogScale {
  case performance = 1
  case finer, fine, info, error

  public var severity: LogSeverity {
    switch self {
    case .performance: .performance
    case .finer: .trace
    case .fine: .debug
    case .info: .info
    case .error: .error
    }
  }

  public init(_ severity: LogSeverity) {
    switch severity {
    case .performance: self = .performance
    case .trace: self = .finer
    case .debug: self = .fine
    case .info, .notice: self = .info
    case .warning, .error, .critical, .alert, .emergency: self = .error
    }
  }
}

/// The scale of synchronization, `LogLevel` of `FerryWorld`, 1 to 6: more is worse.
extension LogLevel: LogScale {
  public var severity: LogSeverity {
    switch self {
    case .trace: .trace
    case .debug: .debug
    case .info: .info
    case .warn: .warning
    case .error: .error
    case .fatal: .emergency
    }
  }

  public init(_ severity: LogSeverity) {
    switch severity {
    case .performance, .trace: self = .trace
    case .debug: self = .debug
    case .info, .notice: self = .info
    case .warning: self = .warn
    case .error: self = .error
    case .critical, .alert, .emergency: self = .fatal
    }
  }
}

/// How a record's level is compared with the level of a query, as numbers of that scale.
public enum LogOperation: String, Sendable, CaseIterable {
  case equals, notEqual, greater, greaterEqual, less, lessEqual

  func holds(_ own: Int, _ asked: Int) -> Bool {
    switch self {
    case .equals: own == asked
    case .notEqual: own != asked
    case .greater: own > asked
    case .greaterEqual: own >= asked
    case .less: own < asked
    case .lessEqual: own <= asked
    }
  }
}
