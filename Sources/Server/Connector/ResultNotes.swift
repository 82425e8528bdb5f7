import FerryModel

/// What a business system says of a change that it has accepted. The app gets it as a log record.
public struct ResultNote: Sendable, Hashable {
  /// The level of the log record.
  public enum Level: String, Sendable, CaseIterable { case info, warning }

  public let level: Level
  /// One sentence for the user of the app, of 500 characters at most.
  public let message: String
  /// The attribute it is about, by its name in the model; nil where it is about none.
  public let attribute: String?
  /// The business system's own code; nil where it has none.
  public let businessCode: String?

  /// A longer message is cut.
  public init(
    _ level: Level, _ message: String, attribute: String? = nil, businessCode: String? = nil
  ) {
    self.level = level
    self.message = String(message.prefix(500))
    self.attribute = attribute
    self.businessCode = businessCode.map { String($0.prefix(100)) }
  }
}

/// Where a connector puts what the business system says of a change that it accepts.
public struct ResultNotes: Sendable, Equatable {
  /// So many notes of one change are kept; the first ones count.
  public static let limit: Int = 20

  private let keep: @Sendable ([ResultNote]) -> Void

  /// `keep` gets all notes of the last answer to the change, on the connector's thread.
  public init(keep: @escaping @Sendable ([ResultNote]) -> Void = { _ in }) { self.keep = keep }

  fileprivate func replace(with notes: [ResultNote]) {
    keep(Array(notes.prefix(ResultNotes.limit)))
  }

  /// All are equal: they say nothing about what is to be done.
  public static func == (one: ResultNotes, other: ResultNotes) -> Bool { true }
}

extension ConnectorOperation {
  /// Replaces what an earlier answer to this change said. It reaches the app if the change is accepted,
  /// and is lost if the server ends before it has kept the outcome.
  public func note(_ notes: [ResultNote]) { resultNotes.replace(with: notes) }
}
