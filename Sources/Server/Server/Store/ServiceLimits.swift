import FerryWire

/// The sizes of the server, each with its reason.
package struct ServiceLimits: Sendable {
  /// A device's cursors, and one look per partition at each checkpoint.
  package var partitionsPerSubscription: Int = 1_000
  /// Partitions without a row that a user has asked for: the values of free parameters are the
  /// user's choice. The one that was asked for longest ago goes for a new one.
  package var emptyPartitionsPerUser: Int = 2_000
  /// The bytes of the values that name them; one device may ask for 64 KB in each group.
  package var emptyPartitionBytesPerUser: Int = 8 << 20
  /// Days that a partition without a row is kept when no device asks for it.
  package var unaskedPartitionDays: Int64 = 30
  /// Devices of which it is remembered when the register noted them.
  var registeredInMemory: Int = 10_000
  /// Devices of a user with a session. The one that renewed it longest ago logs in again.
  package var devicesPerUser: Int = 100
  /// Sessions of one device: the app, its extensions, and those whose answers were lost.
  package var sessionsPerDevice: Int = 16
  /// Days without a request after which a device leaves the register, with its subscription and its
  /// parameters. What is pending there stays there.
  package var inactiveDays: Int64 = 180
  /// How old the newest token of an issuer's user may be whose rights count, in hours.
  package var issuerRightsHours: Int64 = 24
  /// Days for which a device may use its data without the server; nil: for ever.
  package var leaseDays: Int64?
  /// Hours for which an activation code is good.
  package var activationHours: Int64 = 72
  /// Activation codes of a user that wait.
  package var activationsPerUser: Int = 20
  /// Rows of one page: what is lost when the line breaks.
  package var pageRows: Int = WireLimits.pageRows
  package var pageBytes: Int = WireLimits.pageBytes
  /// What one call of `Exchange.next` reads at most, over all partitions: the final round, from
  /// one snapshot, must fit, else it is cut into pages and tried again.
  package var roundRows: Int = 50_000
  package var roundBytes: Int = 4 << 20
  /// Rows that are read for one device on the thread that serves all; where there are more, a reader's
  /// thread reads them. 500 rows take about 3 ms.
  package var nearRows: Int = 500
  /// Threads that read for devices which are far behind; 0: the thread that serves all. nil: one for
  /// each processor, at most 4; 2 for a package that has threads of its own.
  package var readers: Int?
  /// Frames kept so that devices at one cursor share them.
  package var frameCacheBytes: Int = 32 << 20
  /// What a device may have stored and not answered; the rest waits on the device.
  package var unansweredPerDevice: Int = 10_000
  /// The same for all devices of a user together, and the bytes of it.
  package var unansweredPerUser: Int = 20_000
  package var unansweredBytesPerUser: Int = 256 << 20
  /// How long a group of which nothing comes any more is waited for, in seconds.
  package var incompleteGroupSeconds: Int64 = 86_400
  /// Channels of one device: the app, its extensions and a copy of it. The oldest ends for a new one.
  package var channelsPerDevice: Int = 4
  /// Channels of one user, over all devices.
  package var channelsPerUser: Int = 256
  /// Channels in all; a further one is told to come again, and its device polls meanwhile.
  package var channels: Int = 1_792
  /// Answers of one user that are held back, over all devices.
  package var heldAnswersPerUser: Int = 64
  /// Answers that are held back until operations are replayed; a further one goes at once, and its
  /// device asks again.
  package var heldAnswers: Int = 512
  /// How long an answer is held at most, in seconds: proxies end a request that says nothing for long.
  package var longestHoldSeconds: Int64 = 25
  /// Rows of a first load in one numbered transaction; nobody sees a part of it.
  package var firstLoadRows: Int = 5_000
  /// Changes of a later load in one numbered transaction; a larger one is shown in parts.
  package var loadRows: Int = 100_000
  /// The hour of the day (UTC) at which all rows are compared; nil: never.
  package var comparisonHour: Int? = 2
  /// Deletions by one load in one partition, when less than half of it: more needs a second load.
  package var massDeletionRows: Int = 1_000
  /// Rows that move with their parent, above which the operator is told.
  package var closureRows: Int = 100_000
  /// Keys that one read asks for.
  package var readBackKeys: Int = 500
  /// Objects that wait to be read because others may have changed them; where there are more, the
  /// entities are loaded.
  package var hintedObjects: Int = 20_000
  /// Days that leaves are kept.
  package var tombstoneDays: Int64 = 90
  /// Leaves of a partition that are kept whatever its size.
  package var tombstonesKept: Int64 = 1_000
  /// Days that an answered operation is remembered; longer than a device may be silent.
  package var operationMemoryDays: Int64 = 400
  /// Days that a refused operation is kept whole for an operator who corrects it, and corrections that
  /// have ended.
  package var refusedDays: Int64 = 30
  /// Days that the whole answer to a program is kept, which may send its request again. After them the
  /// outcome is remembered, and the reason of a refusal is not.
  package var programAnswerDays: Int64 = 7
  /// Log records that apps wrote: how many of one device are kept, and for how many days.
  package var reportsPerDevice: Int = 10_000
  package var reportsPerUser: Int = 50_000
  /// The bytes of a user's records, over all devices. They are counted now and then, so a few
  /// megabytes more may be there for a while.
  package var reportBytesPerUser: Int = 32 << 20
  package var reportDays: Int64 = 90
  /// The largest big value that is taken; an operation that names a larger one is refused.
  package var bigValueBytes: Int64 = 256 << 20
  /// What a user's contents that wait to be replayed may take of the store.
  package var contentBytesPerUser: Int64 = 2 << 30
  /// Days that the content of a refused change is kept: corrected, it needs no second upload.
  package var contentDays: Int64 = 7
  /// Back-off of a replay that was certainly not done, in seconds.
  package var firstRetrySeconds: Int64 = 1
  package var longestRetrySeconds: Int64 = 60

  package init() {}

  package static let standard = ServiceLimits()
}
