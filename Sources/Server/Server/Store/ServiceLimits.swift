import FerryWire

/// The sizes of the server, each with its reason.
public struct ServiceLimits: Sendable {
  /// A device's cursors, and one look per partition at each checkpoint.
  public var partitionsPerSubscription: Int = 1_000
  /// Partitions without a row that a user has asked for: the values of free parameters are the
  /// user's choice. The one that was asked for longest ago goes for a new one.
  public var emptyPartitionsPerUser: Int = 2_000
  /// The bytes of the values that name them; one device may ask for 64 KB in each group.
  public var emptyPartitionBytesPerUser: Int = 8 << 20
  /// Days that a partition without a row is kept when no device asks for it.
  public var unaskedPartitionDays: Int64 = 30
  /// Devices of which it is remembered when the register noted them.
  var registeredInMemory: Int = 10_000
  /// Devices of a user with a session. The one that renewed it longest ago logs in again.
  public var devicesPerUser: Int = 100
  /// Sessions of one device: the app, its extensions, and those whose answers were lost.
  public var sessionsPerDevice: Int = 16
  /// Days without a request after which a device leaves the register, with its subscription and its
  /// parameters. What is pending there stays there.
  public var inactiveDays: Int64 = 180
  /// How old the newest token of an issuer's user may be whose rights count, in hours.
  public var issuerRightsHours: Int64 = 24
  /// Days for which a device may use its data without the server; nil: for ever.
  public var leaseDays: Int64?
  /// Hours for which an activation code is good.
  public var activationHours: Int64 = 72
  /// Activation codes of a user that wait.
  public var activationsPerUser: Int = 20
  /// Rows of one page: what is lost when the line breaks.
  public var pageRows: Int = WireLimits.pageRows
  public var pageBytes: Int = WireLimits.pageBytes
  /// What one call of `Exchange.next` reads at most, over all partitions: the final round, from
  /// one snapshot, must fit, else it is cut into pages and tried again.
  public var roundRows: Int = 50_000
  public var roundBytes: Int = 4 << 20
  /// Rows that are read for one device on the thread that serves all; where there are more, a reader's
  /// thread reads them. 500 rows take about 3 ms.
  public var nearRows: Int = 500
  /// Threads that read for devices which are far behind; 0: the thread that serves all. nil: one for
  /// each processor, at most 4; 2 for a package that has threads of its own.
  public var readers: Int?
  /// Frames kept so that devices at one cursor share them.
  public var frameCacheBytes: Int = 32 << 20
  /// What a device may have stored and not answered; the rest waits on the device.
  public var unansweredPerDevice: Int = 10_000
  /// The same for all devices of a user together, and the bytes of it.
  public var unansweredPerUser: Int = 20_000
  public var unansweredBytesPerUser: Int = 256 << 20
  /// How long a group of which nothing comes any more is waited for, in seconds.
  public var incompleteGroupSeconds: Int64 = 86_400
  /// Channels of one device: the app, its extensions and a copy of it. The oldest ends for a new one.
  public var channelsPerDevice: Int = 4
  /// Channels of one user, over all devices.
  public var channelsPerUser: Int = 256
  /// Channels in all; a further one is told to come again, and its device polls meanwhile.
  public var channels: Int = 1_792
  /// Answers of one user that are held back, over all devices.
  public var heldAnswersPerUser: Int = 64
  /// Answers that are held back until operations are replayed; a further one goes at once, and its
  /// device asks again.
  public var heldAnswers: Int = 512
  /// How long an answer is held at most, in seconds: proxies end a request that says nothing for long.
  public var longestHoldSeconds: Int64 = 25
  /// Rows of a first load in one numbered transaction; nobody sees a part of it.
  public var firstLoadRows: Int = 5_000
  /// Changes of a later load in one numbered transaction; a larger one is shown in parts.
  public var loadRows: Int = 100_000
  /// The hour of the day (UTC) at which all rows are compared; nil: never.
  public var comparisonHour: Int? = 2
  /// Deletions by one load in one partition, when less than half of it: more needs a second load.
  public var massDeletionRows: Int = 1_000
  /// Rows that move with their parent, above which the operator is told.
  public var closureRows: Int = 100_000
  /// Keys that one read asks for.
  public var readBackKeys: Int = 500
  /// Objects that wait to be read because others may have changed them; where there are more, the
  /// entities are loaded.
  public var hintedObjects: Int = 20_000
  /// Days that leaves are kept.
  public var tombstoneDays: Int64 = 90
  /// Leaves of a partition that are kept whatever its size.
  public var tombstonesKept: Int64 = 1_000
  /// Days that an answered operation is remembered; longer than a device may be silent.
  public var operationMemoryDays: Int64 = 400
  /// Days that a refused operation is kept whole for an operator who corrects it, and corrections that
  /// have ended.
  public var refusedDays: Int64 = 30
  /// Days that the whole answer to a program is kept, which may send its request again. After them the
  /// outcome is remembered, and the reason of a refusal is not.
  public var programAnswerDays: Int64 = 7
  /// Log records that apps wrote: how many of one device are kept, and for how many days.
  public var reportsPerDevice: Int = 10_000
  public var reportsPerUser: Int = 50_000
  /// The bytes of a user's records, over all devices. They are counted now and then, so a few
  /// megabytes more may be there for a while.
  public var reportBytesPerUser: Int = 32 << 20
  public var reportDays: Int64 = 90
  /// The largest big value that is taken; an operation that names a larger one is refused.
  public var bigValueBytes: Int64 = 256 << 20
  /// What a user's contents that wait to be replayed may take of the store.
  public var contentBytesPerUser: Int64 = 2 << 30
  /// Days that the content of a refused change is kept: corrected, it needs no second upload.
  public var contentDays: Int64 = 7
  /// Back-off of a replay that was certainly not done, in seconds.
  public var firstRetrySeconds: Int64 = 1
  public var longestRetrySeconds: Int64 = 60

  public init() {}

  public static let standard = ServiceLimits()
}
