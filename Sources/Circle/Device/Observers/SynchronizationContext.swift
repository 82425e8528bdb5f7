/// The answer of a handler during a synchronization; the reference's CONTINUE and CANCEL.
public enum SynchronizationAction: Sendable, Hashable { case proceed, cancel }

/// The progress of a synchronization.
public struct SynchronizationContext: Sendable {
  /// The steps of a synchronization, with the reference's names and numbers.
  public enum Status: Int, Sendable, Hashable, CaseIterable {
    /// A synchronization begins; nothing was sent yet.
    case starting = 1
    /// Submitted operations are sent. Left out where there are none.
    case uploading
    /// Rows and answers arrive; reported again with each page, with more `progress`.
    case downloading
    /// Everything that was asked for is done; the last status of a synchronization that ended well.
    case finishing
    /// The synchronization ended early; see `error`.
    case error
    /// The server has stored the operations and replays them by itself.
    case asyncReplayUploaded
    /// The server has ended the replay of all operations that one synchronization sent. A
    /// synchronization that fetches the results follows by itself.
    case asyncReplayCompleted
    /// Like `starting`, of a synchronization that began because the server has something new.
    case startingOnNotification
  }

  public let status: Status
  /// Why it ended, if the status is `error`.
  public let error: FerryError?
  /// The value that the app passed to `beginSynchronize(groups:context:uploadOnly:)`. A
  /// synchronization that fetches the results of another one has the same value, unless the app was
  /// restarted in between.
  public let userContext: (any Sendable)?
  public let progress: SynchronizationProgress

  /// For the tests of an app's handler; Ferry makes its own.
  public init(
    status: Status, error: FerryError? = nil, userContext: (any Sendable)? = nil,
    progress: SynchronizationProgress = SynchronizationProgress()
  ) {
    self.status = status
    self.error = error
    self.userContext = userContext
    self.progress = progress
  }
}

/// How much of a synchronization is done.
public struct SynchronizationProgress: Sendable, Equatable {
  /// Operations that were sent.
  public var sentOperations: Int = 0
  /// Bytes of the requests.
  public var sentBytes: Int = 0
  /// The synchronization group whose rows arrive; nil before the first page.
  public var group: String?
  /// An entity with rows in the last page; nil before the first one.
  public var entity: String?
  /// Rows that arrived in this synchronization, of all its groups.
  public var receivedRows: Int = 0
  /// The size of these rows in bytes, compressed.
  public var receivedBytes: Int = 0
  /// Rows that new groups have on the server; 0 if unknown, as for changes alone.
  public var expectedRows: Int = 0

  public init() {}

  /// From 0 to 1; nil if it is unknown how many rows will come.
  public var fraction: Double? {
    expectedRows > 0 ? min(1, Double(receivedRows) / Double(expectedRows)) : nil
  }
}
