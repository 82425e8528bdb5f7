import FerryWorld

/// Decides what the session does next: log in, exchange, open the channel, wait. Pure: it is told
/// what happened and what time it is.
package struct SessionMachine: Equatable {
  package enum Lane: Sendable, Hashable { case exchange, channel }

  package enum Step: Equatable {
    case login
    case renewToken
    case exchange
    case openChannel
    /// Send the next piece of a content.
    case upload
    case cancel(Lane)
    /// End the request: its answer is not waited for any more, and nothing has failed.
    case giveUp(Lane)
    /// Nothing to do until then, or until something happens; nil is for ever.
    case wait(until: Timestamp?)
  }

  /// What the database says.
  package struct Facts: Equatable {
    package var hasRefreshToken = false
    package var accessTokenExpires: Timestamp?
    package var isSubscribed = false
    /// Asked for, and the server has not said its word.
    package var isSubscribing = false
    /// Asked for or accepted, and suspended by the app.
    package var isSuspended = false
    package var hasOutgoing = false
    package var hasUnanswered = false
    /// A content is to follow its operation.
    package var hasUploads = false
    /// Operations were sent whose end the server is to report.
    package var hasBatches = false
    /// Rows arrive in synchronizations that the app asks for, never by themselves.
    package var isReplicationBased = false

    package init() {}
  }

  private enum ChannelState: Equatable {
    case closed
    case opening(since: Timestamp)
    case open(heard: Timestamp)
    /// It brings what does not follow what is here; it is closed and opened anew.
    case astray
  }

  let settings: SessionSettings
  package var hasCredentials = false
  /// The app keeps the data fresh by itself: the channel, or polls where there is none.
  package var isBackground = false { didSet { isResting = !isBackground } }
  /// The app stopped the background: contents and questions for answers wait until it asks again.
  package var isResting = false
  /// Somebody waits here for the answers to what was sent, whoever stops meanwhile.
  package var isAwaited = false
  /// Someone asked for an exchange.
  package var isExchangeWanted = false
  /// When a synchronization of the app goes on; nil while there is none.
  package var planAt: Timestamp?
  /// Another one waits behind the request under way.
  package var isPlanBehind = false
  /// The app is asked whether a synchronization goes on; nothing is sent meanwhile.
  package var isAsking = false
  /// The server holds its answer back until operations are answered.
  package private(set) var isHeld = false
  /// What a held answer is given up for begins at once.
  private var mayCut = false
  /// Someone asked to wait until what was sent is answered.
  package var awaitsAnswers = false
  private var exchangeSince: Timestamp?
  /// How long the request under way may take to be sent, beside the silence that is borne.
  private var uploadTime: Duration = .zero
  private var channel: ChannelState = .closed
  private var failures = 0
  private var retryAt: Timestamp?
  /// What goes well on the other lane says nothing of it.
  private var stop: Stop?
  private var lastExchange: Timestamp?
  private var answerPolls = 0
  /// A proxy keeps the channel's bytes back: poll instead, and try the channel again then.
  private var channelAgainAt: Timestamp?

  /// A lane whose last end the app or the operator must cure, and until when nothing is tried.
  private struct Stop: Equatable {
    let lane: Lane
    let until: Timestamp
  }

  package init(settings: SessionSettings) { self.settings = settings }

  package var isExchanging: Bool { exchangeSince != nil }
  package var isChannelOpen: Bool { if case .open = channel { true } else { false } }

  package mutating func next(_ facts: Facts, now: Timestamp) -> Step {
    if let step = watchChannel(facts, now) { return step }
    if exchangeSince != nil, isHeld, mayCut, isCutWorth(facts) {
      exchangeSince = nil
      (isHeld, mayCut) = (false, false)
      return .giveUp(.exchange)
    }
    if exchangeSince != nil, isAsking { return .wait(until: channelLimit) }
    if let since = exchangeSince {
      let limit = since.advanced(by: settings.silence + uploadTime)
      return now >= limit ? .cancel(.exchange) : .wait(until: earliest(limit, channelLimit))
    }
    if let stop, now < stop.until { return .wait(until: earliest(stop.until, channelLimit)) }
    if let retryAt, now < retryAt { return .wait(until: earliest(retryAt, channelLimit)) }
    let wantsExchange =
      facts.hasOutgoing || isExchangeWanted || facts.isSubscribing || isPollDue(facts, now)
      || planAt.map { now >= $0 } ?? false
    let wantsChannel =
      needsChannel(facts) && channel == .closed
      && channelAgainAt.map { now >= $0 } ?? true
    let wantsUpload = facts.hasUploads && goesOn
    guard wantsExchange || wantsChannel || hasCredentials || wantsUpload else {
      return .wait(until: earliest(earliest(pollTime(facts), planAt), channelLimit))
    }
    if hasCredentials { return begin(.login, now) }
    guard let expires = facts.accessTokenExpires, now < expires else {
      // Without a refresh token only the app can go on: it was told to log in.
      return facts.hasRefreshToken ? begin(.renewToken, now) : .wait(until: channelLimit)
    }
    if wantsExchange {
      isExchangeWanted = false
      return begin(.exchange, now)
    }
    if !wantsChannel { return begin(.upload, now) }
    channel = .opening(since: now)
    return .openChannel
  }

  /// A channel brings rows, or only says that something is new, or that operations have ended.
  private func needsChannel(_ facts: Facts) -> Bool {
    isBackground && facts.isSubscribed || facts.hasBatches && !isResting
  }

  /// Whether a held answer keeps something else from being done.
  private func isCutWorth(_ facts: Facts) -> Bool {
    facts.hasOutgoing || hasCredentials || isPlanBehind || isResting && !isAwaited
  }

  /// The answer to the request under way is held back; `mayCut`: until something else is to be sent.
  package mutating func holds(mayCut: Bool) { (isHeld, self.mayCut) = (true, mayCut) }

  /// The answer goes on.
  package mutating func releases() { isHeld = false }

  /// How long to wait before the next question for answers, when so many have come to nothing.
  package func answerPause(_ questions: Int) -> Duration {
    min(settings.answerPoll * (1 << min(questions - 1, 6)), settings.pollInterval)
  }

  private var goesOn: Bool { !isResting || isAwaited }

  private mutating func begin(_ step: Step, _ now: Timestamp) -> Step {
    exchangeSince = now
    uploadTime = .zero
    (isHeld, mayCut) = (false, false)
    return step
  }

  /// The exchange that was begun sends so much.
  package mutating func uploads(_ bytes: Int) {
    uploadTime = SessionSettings.uploadTime(bytes)
  }

  /// A channel must speak soon after it was opened and now and then afterwards.
  private mutating func watchChannel(_ facts: Facts, _ now: Timestamp) -> Step? {
    switch channel {
    case .closed: return nil
    // Stopped by the app, which may be suspended next: what it holds must be let go.
    case .opening where !needsChannel(facts), .open where !needsChannel(facts):
      channel = .closed
      return .cancel(.channel)
    case .opening(let since) where now >= since.advanced(by: settings.channelPatience):
      channelAgainAt = now.advanced(by: settings.channelRetry)
      channel = .closed
      return .cancel(.channel)
    case .open(let heard) where now >= heard.advanced(by: settings.silence):
      channel = .closed
      return .cancel(.channel)
    case .astray:
      channel = .closed
      return .cancel(.channel)
    default: return nil
    }
  }

  private var channelLimit: Timestamp? {
    switch channel {
    case .closed, .astray: nil
    case .opening(let since): since.advanced(by: settings.channelPatience)
    case .open(let heard): heard.advanced(by: settings.silence)
    }
  }

  private func isPollDue(_ facts: Facts, _ now: Timestamp) -> Bool {
    pollTime(facts).map { now >= $0 } ?? false
  }

  /// When to ask by itself: where the channel says nothing.
  private func pollTime(_ facts: Facts) -> Timestamp? {
    guard channel == .closed, facts.isSubscribed || facts.hasUnanswered else { return nil }
    if facts.isReplicationBased {
      // Without a channel nothing else says that operations have ended.
      guard facts.hasBatches, !isResting, channelAgainAt != nil, let lastExchange else {
        return nil
      }
      return lastExchange.advanced(by: settings.pollInterval)
    }
    guard let lastExchange else { return isBackground ? Timestamp(milliseconds: 0) : nil }
    let isBatchReported = facts.hasBatches && channelAgainAt != nil && !isResting
    if facts.hasUnanswered, isBackground || isAwaited || awaitsAnswers && goesOn || isBatchReported
    {
      // Answers come soon or late: ask at once, then less and less often.
      let wait = settings.answerPoll * (1 << min(answerPolls, 6))
      return lastExchange.advanced(by: min(wait, settings.pollInterval))
    }
    guard isBackground, channelAgainAt != nil else { return nil }
    return lastExchange.advanced(by: settings.pollInterval)
  }

  /// Bytes came.
  package mutating func heard(_ lane: Lane, now: Timestamp) {
    switch lane {
    case .exchange: if exchangeSince != nil { exchangeSince = now }
    case .channel:
      guard channel != .closed, channel != .astray else { return }
      channel = .open(heard: now)
      channelAgainAt = nil
    }
  }

  /// The channel's pages no longer follow what is on the device: another lane was faster.
  package mutating func channelWentAstray() {
    if channel != .closed { channel = .astray }
  }

  /// The server gave the channel's place to another, or has none: poll, and try it again later.
  package mutating func channelRests(now: Timestamp) {
    channel = .closed
    channelAgainAt = now.advanced(by: settings.channelRest)
  }

  /// The app has ended it.
  package mutating func cancelled(_ lane: Lane) {
    switch lane {
    case .exchange:
      exchangeSince = nil
      (isHeld, mayCut, isAsking) = (false, false, false)
    case .channel: channel = .closed
    }
  }

  /// A lane ended as it should.
  package mutating func succeeded(_ lane: Lane, facts: Facts, now: Timestamp) {
    failures = 0
    retryAt = nil
    if stop?.lane == lane { stop = nil }
    switch lane {
    case .exchange:
      exchangeSince = nil
      lastExchange = now
      answerPolls = facts.hasUnanswered ? answerPolls + 1 : 0
    case .channel: channel = .closed
    }
  }

  /// A piece of a content arrived.
  package mutating func uploaded() {
    exchangeSince = nil
    failures = 0
    retryAt = nil
  }

  /// What the answers waited for is done: ask for them soon again.
  package mutating func answersAreNear() { answerPolls = 0 }

  /// A lane broke; the next try waits longer each time, by chance a little more or less, but no longer
  /// than `longest` where that is given.
  package mutating func failed(
    _ lane: Lane, now: Timestamp, chance: UInt64, longest: Duration? = nil
  ) {
    switch lane {
    case .exchange:
      exchangeSince = nil
      isExchangeWanted = true
    case .channel: channel = .closed
    }
    failures += 1
    let longest = min(longest ?? settings.longestRetry, settings.longestRetry)
    let wait = min(settings.firstRetry * (1 << min(failures - 1, 10)), longest)
    retryAt = now.advanced(by: wait / 2 + (wait / 2) * (Double(chance % 1_000) / 1_000))
  }

  /// Something that the app or the operator must cure: tried again when the app asks for it, and
  /// by itself only after long, though there be something to send.
  package mutating func stopped(_ lane: Lane, now: Timestamp) {
    switch lane {
    case .exchange: exchangeSince = nil
    case .channel: channel = .closed
    }
    stop = Stop(lane: lane, until: now.advanced(by: settings.stoppedRetry))
  }

  /// A login was refused and an earlier one still counts: what waits goes on at once.
  package mutating func loginRefused() { exchangeSince = nil }

  /// The app or the network says that waiting makes no sense any more.
  package mutating func wake() {
    (retryAt, stop) = (nil, nil)
    failures = 0
    answerPolls = 0
  }

  private func earliest(_ left: Timestamp?, _ right: Timestamp?) -> Timestamp? {
    guard let left, let right else { return left ?? right }
    return min(left, right)
  }
}

/// How rows and operations travel.
public enum SynchronizationKind: String, Sendable, Hashable {
  /// Submitted operations are sent at once. After `subscribe`, changes arrive by themselves while
  /// the background synchronization is on.
  case messageBased
  /// Operations and rows travel only in synchronizations that the app asks for, group by group, and
  /// in those that fetch the results of replayed operations. `subscribe` brings no rows.
  case replicationBased
}

/// The timing of a session.
public struct SessionSettings: Sendable, Equatable {
  /// The time between two requests for changes if there is no channel.
  public var pollInterval: Duration = .seconds(1)
  /// The time between sending an operation and the first request for its answer.
  public var answerPoll: Duration = .milliseconds(50)
  /// How long a new channel may be silent before the session assumes that a proxy blocks it.
  public var channelPatience: Duration = .seconds(1)
  /// The time before the session tries a blocked channel again.
  public var channelRetry: Duration = .seconds(300)
  /// The time before the session tries a channel again after the server closed it for another
  /// device or had no room.
  public var channelRest: Duration = .seconds(30)
  /// How long an open connection may be silent; the server sends something every 15 seconds.
  public var silence: Duration = .seconds(40)
  public var firstRetry: Duration = .milliseconds(200)
  public var longestRetry: Duration = .seconds(30)
  /// The time before the next try after the server refused this device, for example because it does
  /// not serve its package.
  public var stoppedRetry: Duration = .seconds(300)
  /// Whether `synchronize` and `beginSynchronize` fetch data without waiting for the answers to the
  /// sent operations. `FerryDatabase.setAsyncReplay` takes precedence.
  public var asyncReplay: Bool = true
  /// Whether changes arrive by themselves, or only in synchronizations that the app asks for.
  public var synchronization: SynchronizationKind = .messageBased
  /// How long `synchronize` and `onlineLogin` wait if the app does not pass a limit.
  public var patience: Duration = .seconds(300)
  /// Whether another process of the app (an extension) opens the same database and changes it too;
  /// set it in both. Once a second the session checks whether the other process has submitted
  /// something, and four times a second what it has changed, for live queries. Each transaction
  /// records its changes for the other process, so that only affected live queries run again; a
  /// change costs a little more. The processes agree which of them synchronizes, also without this
  /// setting. Each owed callback is made in one of them.
  public var isDatabaseShared: Bool = false
  /// Whether a saved change is submitted by itself. With false the app collects its changes, and sends
  /// them with `submit`, `submitPending` or `submitPendingOperations`; see
  /// `FerryDatabase.submitsAutomatically`.
  public var submitsAutomatically: Bool = true

  public init() {}

  /// What a slow line may take to send so much: 8 KB a second, below which no server waits.
  static func uploadTime(_ bytes: Int) -> Duration { .milliseconds(bytes / 8) }
}
