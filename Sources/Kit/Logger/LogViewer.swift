/// What a view of the log shows: rows that the user can filter, select and send. A value that the
/// view stores.
public struct LogViewer: Sendable {
  /// One record as the viewer shows it.
  public struct Row: Sendable, Identifiable {
    public let id: Int64
    public let text: String
    public let severity: LogSeverity
    public let isPicked: Bool
  }

  private let log: DeviceLog
  private let formatter: any LogFormatter
  private var query: LogQuery
  private var picked: Set<Int64> = []
  public let language: LogLanguage
  /// The rows of the last `refresh`, the newest first.
  public private(set) var records: [LogEntry] = []

  /// Shows the records that match the query; all records without one.
  public init(
    _ log: DeviceLog, _ query: LogQuery = LogQuery(), language: LogLanguage = .english,
    formatter: any LogFormatter = TextLogFormatter()
  ) {
    self.log = log
    self.query = query
    self.language = language
    self.formatter = formatter
    refresh()
  }

  /// The rows, the newest first.
  public var rows: [Row] {
    records.map {
      Row(
        id: $0.number, text: formatter.line($0), severity: $0.severity,
        isPicked: picked.contains($0.number))
    }
  }

  /// Shows the log's present records; selected rows stay selected while they are shown.
  public mutating func refresh() {
    records = log.records(query).reversed()
    picked.formIntersection(records.map(\.number))
  }

  /// Shows the records that match another query.
  public mutating func show(_ query: LogQuery) {
    self.query = query
    refresh()
  }

  /// Selects a row, or deselects it.
  public mutating func pick(_ id: Int64) {
    guard records.contains(where: { $0.number == id }) else { return }
    if picked.remove(id) == nil { picked.insert(id) }
  }

  /// Selects all rows.
  public mutating func pickAll() { picked = Set(records.map(\.number)) }

  /// The selected rows, oldest first, for sending.
  public var export: LogExport {
    LogExport(
      header: log.header, records: records.reversed().filter { picked.contains($0.number) },
      formatter: formatter)
  }
}
