public import FerryLogger
public import Observation

/// What a list of log records shows: the records of a level and above, of which the user picks some
/// and sends them. `LogListView` is its view for SwiftUI; an app can draw its own.
@MainActor public final class LogList: Observable {
  private let registrar = ObservationRegistrar()
  private let log: DeviceLog
  private var viewer: LogViewer
  private var leastSevere: LogSeverity

  /// Shows the records of the log that are at least as severe as `severity`, the newest first.
  public init(
    _ log: DeviceLog, atLeast severity: LogSeverity = .performance,
    language: LogLanguage = .english, formatter: any LogFormatter = TextLogFormatter()
  ) {
    self.log = log
    leastSevere = severity
    viewer = LogViewer(
      log, LogQuery(atLeast: severity), language: language, formatter: formatter)
  }

  /// The records, the newest first; those that came after the last `refresh` are not shown yet.
  public var rows: [LogViewer.Row] {
    registrar.access(self, keyPath: \.rows)
    return viewer.rows
  }

  /// The least severe level that is shown. Setting it shows the present records of that level and
  /// above; picked records that are no longer shown are not picked any more.
  public var severity: LogSeverity {
    get {
      registrar.access(self, keyPath: \.severity)
      return leastSevere
    }
    set {
      registrar.withMutation(of: self, keyPath: \.severity) { leastSevere = newValue }
      change { $0.show(LogQuery(atLeast: newValue)) }
    }
  }

  /// Shows the present records.
  public func refresh() { change { $0.refresh() } }

  /// Picks a record for sending, or takes it back.
  public func pick(_ id: LogViewer.Row.ID) { change { $0.pick(id) } }

  /// Picks all records that are shown.
  public func pickAll() { change { $0.pickAll() } }

  /// Removes all records of the log from memory, also those that are not shown.
  public func clear() {
    log.removeAll()
    refresh()
  }

  /// Whether there is a record to send.
  public var hasPicked: Bool { rows.contains(where: \.isPicked) }

  /// The picked records, oldest first, for a mail or another program.
  public var export: LogExport {
    registrar.access(self, keyPath: \.rows)
    return viewer.export
  }

  /// A text of the view in its language.
  public func text(_ label: LogLabel) -> String { label.text(viewer.language) }

  private func change(_ body: (inout LogViewer) -> Void) {
    registrar.withMutation(of: self, keyPath: \.rows) { body(&viewer) }
  }
}
