/// What a view of the log shows: rows that the user filters, picks and sends. A value; the view keeps
/// it.
public struct LogViewer: Sendable {
  /// One record as it is shown.
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

  /// Shows what the query means; all records without one.
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

  /// Shows what is in the log now; what was picked stays picked as long as it is shown.
  public mutating func refresh() {
    records = log.records(query).reversed()
    picked.formIntersection(records.map(\.number))
  }

  /// Shows other records.
  public mutating func show(_ query: LogQuery) {
    self.query = query
    refresh()
  }

  /// Picks a row, or lets it go again.
  public mutating func pick(_ id: Int64) {
    guard records.contains(where: { $0.number == id }) else { return }
    if picked.remove(id) == nil { picked.insert(id) }
  }

  /// Picks all rows.
  public mutating func pickAll() { picked = Set(records.map(\.number)) }

  /// The picked rows, the oldest first, to be sent.
  public var export: LogExport {
    LogExport(
      header: log.header, records: records.reversed().filter { picked.contains($0.number) },
      formatter: formatter)
  }
}
