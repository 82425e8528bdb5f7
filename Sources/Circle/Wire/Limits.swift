/// The sizes of the wire, each with its reason.
public enum WireLimits {
  /// A frame as it travels. A page is cut at 1 MB of rows; one row may be larger than a page.
  public static let frameBytes: Int = 16 << 20
  /// A frame when expanded: a guard against small messages that expand without end.
  public static let expandedBytes: Int = 64 << 20
  /// All frames of one request when expanded: a device sends 4 MB of operations and 1 MB of log
  /// records at most, so an honest request fits well.
  public static let requestBytes: Int = 16 << 20
  /// Answers that one request confirms: as many as a server keeps open for a device.
  public static let answersConfirmed: Int = 10_000
  /// A row as the business system has it: with what JSON adds to it, it fits into a frame.
  public static let rowBytes: Int = 8 << 20
  /// Rows in one page: what is lost when the line breaks inside it.
  public static let pageRows: Int = 5_000
  public static let pageBytes: Int = 1 << 20
  /// Bytes below which compressing costs more than it saves.
  public static let compressFromBytes: Int = 512
  /// One operation: a row, not a film. Big values travel in pieces of their own.
  public static let operationBytes: Int = 1 << 20
  /// A piece of a content as a device sends it: what a broken line costs.
  public static let contentPieceBytes: Int = 256 << 10
  /// What a device asks for at once of a content: all that it may have to hold.
  public static let contentStretchBytes: Int = 1 << 20
  /// The largest piece that a server takes, with room below the 8 MB of a request.
  public static let contentPieceLimit: Int = 1 << 20
  /// Operations in one message, in bytes: a request body is at most 8 MB, and there is more in it.
  public static let replayBytes: Int = 4 << 20
  /// Names and values of parameters in one hello (the reference allows 64,000 characters for keys).
  public static let parameterBytes: Int = 64 << 10
  /// Saved sets of parameters, each a subscription of its own.
  public static let parameterSets: Int = 200
  /// Operations on their way at one time.
  public static let operationsInFlight: Int = 1_000
  /// Operations that are replayed as one: the business system holds its locks for all of them.
  public static let operationsInChain: Int = 1_000
  /// Bytes of operations that are replayed as one: the server keeps all of them until the last is here.
  public static let chainBytes: Int = 64 << 20
  /// Log records of an app in one message, and their bytes: they must not hold up what is pending.
  public static let reportRecords: Int = 500
  public static let reportBytes: Int = 1 << 20
  /// Characters of the message of one of them.
  public static let reportCharacters: Int = 4_000
  /// Random names: of servers, devices, copies of devices, eras, versions.
  public static let idBytes: Int = 64
  /// Names of the model, of packages and of templates.
  public static let nameBytes: Int = 256
  /// What a device says of itself for its operator; a longer text is cut.
  public static let factBytes: Int = 256
  /// What only people read, such as the message of a log record; a longer text is cut.
  public static let messageBytes: Int = 16 << 10
  /// A value of an application setting.
  public static let settingBytes: Int = 64 << 10
  /// Groups that a message names, and pulls of one request.
  public static let groupsInMessage: Int = 1_000
  /// `replay`s and `report`s of one request: each is a transaction of the server's store.
  public static let writesInRequest: Int = 100
  /// Partitions that a message names, and a request in all its messages: those of a subscription are
  /// 1,000, and those that it lost meanwhile come beside them.
  public static let partitionsInMessage: Int = 20_000
  /// Names in a table of a message, and records of one answer.
  public static let namesInMessage: Int = 10_000
  /// Answers in one checkpoint, and ids that a server names: a device that never confirms has many.
  public static let answersInMessage: Int = 20_000
  /// Corrections of operators in one welcome, and receipts in one hello; others come later.
  public static let corrections: Int = 20
  /// The values of one correction, as JSON.
  public static let correctionBytes: Int = 128 << 10
  /// Rows and leaves of a page for its reader; who writes one stops at `pageRows`.
  public static let rowsRead: Int = 20_000
  /// Open containers in a message.
  public static let nesting: Int = 32
}
