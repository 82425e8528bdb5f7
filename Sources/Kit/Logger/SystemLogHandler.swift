import Foundation
import Synchronization

#if canImport(os)
  import os
#endif

/// Gives each record to the system's log too: OSLog on Apple's systems, standard error elsewhere.
///
/// `isOn` switches it while the app runs; false at first.
public final class SystemLogHandler: LogHandler {
  private let on = Atomic<Bool>(false)
  private let subsystem: String
  #if !canImport(os)
    private let output: FileHandle
  #endif

  #if canImport(os)
    /// `subsystem` is the app's own name, in reverse order of domains.
    public init(subsystem: String) { self.subsystem = subsystem }
  #else
    /// `subsystem` is written at the beginning of each line.
    public init(subsystem: String, output: FileHandle = .standardError) {
      self.subsystem = subsystem
      self.output = output
    }
  #endif

  /// Whether records are passed to the system's log.
  public var isOn: Bool {
    get { on.load(ordering: .relaxed) }
    set { on.store(newValue, ordering: .relaxed) }
  }

  public func handle(_ record: LogEntry) {
    guard isOn else { return }
    #if canImport(os)
      // Private unless the device is set up otherwise: a message may hold what is the user's.
      let logger = os.Logger(subsystem: subsystem, category: record.tag)
      let text = "\(record.location) \(record.message)"
      switch record.severity {
      case .performance, .trace, .debug: logger.debug("\(text, privacy: .private)")
      case .info: logger.info("\(text, privacy: .private)")
      case .notice: logger.notice("\(text, privacy: .private)")
      case .warning, .error: logger.error("\(text, privacy: .private)")
      case .critical, .alert, .emergency: logger.fault("\(text, privacy: .private)")
      }
    #else
      let line = "\(subsystem): \(TextLogFormatter().line(record))\n"
      try? output.write(contentsOf: Data(line.utf8))
    #endif
  }
}
