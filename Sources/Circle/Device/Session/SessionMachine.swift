import FerryWorld

/// Decides what the session does next: log in, exchange, open the channel, wait. Pure: it takes
/// events, and gives the next step for the facts and the time.
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

  /// What happened, and what the app or the session wants.
  package enum Event {
    /// The app gave credentials, which the server has not answered yet.
    case loginRequested
    /// The credentials were taken or refused.
    case loginEnded
    case exchangeRequested(awaitingAnswers: Bool)
    case background(isOn: Bool)
    /// The app began a synchronization.
    case planRequested
    /// The network may be back, or a setting makes another attempt worthwhile.
    case woken
    /// The user left, and everything of them.
    case signedOut
    /// Whether a caller in this process waits for the answers to sent operations.
    case answersAwaited(Bool)
    /// When the next synchronization goes on; `isBehind`: it waits for the request under way.
    case planChanged(at: Timestamp?, isBehind: Bool)
    /// Whether the app is asked something about its synchronization.
    case questionsChanged(areOpen: Bool)
    /// There is something to send or to ask; `pulls`: and to show.
    case exchangeNeeded(pulls: Bool = false)
    /// The synchronization that wanted it has ended.
    case exchangeDropped
    /// The request under way sends so much.
    case sent(bytes: Int)
    case heard(Lane)
    /// The answer is held back; `mayCut`: until something else is to be sent.
    case held(mayCut: Bool)
    /// The answer goes on.
    case released
    /// A lane ended as it should.
    case succeeded(Lane, Facts)
    /// A piece of a content arrived, or none is left to send.
    case pieceUploaded
    /// The last piece of a content arrived: the answer to its operation can come now.
    case contentUploaded
    /// A lane broke; the next try waits, but no longer than `longest`.
    case failed(Lane, chance: UInt64, longest: Duration? = nil)
    /// Only the app or the operator can cure it. It is tried again when the app asks for it, and by
    /// itself only after long.
    case stopped(Lane)
    /// The server does not accept the access token any more.
    case tokenEnded(Lane)
    /// The app has ended the request.
    case cancelled(Lane)
    /// A login was refused and an earlier one still counts: waiting requests go on at once.
    case loginRefused
    /// The pages of the channel no longer follow what is on the device, or it was opened for
    /// something else.
    case channelOutdated
    /// The server closed the channel for another device, or has no room: poll, and try it later.
    case channelRefused
  }

  private enum ChannelState: Equatable {
    case closed
    case opening(since: Timestamp)
    case open(heard: Timestamp)
    /// It brings what does not follow what is here; it is closed and opened anew.
    case outdated
  }

  package let settings: SessionSettings
  package private(set) var hasCredentials: Bool = false
  /// The app keeps the data fresh by itself: the channel, or polls if there is none.
  package private(set) var isBackground: Bool = false
  /// The app stopped the background: contents and questions for answers wait until it asks again.
  package private(set) var isResting: Bool = false
  /// A caller in this process waits for the answers to sent operations. Resting does not end that.
  package private(set) var isAwaited: Bool = false
  package private(set) var isExchangeWanted: Bool = false
  /// A caller wants to see what is new when the exchange ends (sync/R2).
  private var isPullWanted: Bool = false
  /// The last exchange was begun for such a caller.
  package private(set) var isPulling: Bool = false
  /// When a synchronization of the app goes on; nil while there is none.
  private var planAt: Timestamp?
  /// A synchronization waits until the request under way ends.
  private var isPlanBehind: Bool = false
  /// The app is asked whether a synchronization goes on; nothing is sent meanwhile.
  private var isAsking: Bool = false
  /// The server holds its answer back until operations are answered.
  private var isHeld: Bool = false
  /// A held answer may be given up for a request that can begin at once.
  private var mayCut: Bool = false
  /// The last request for an exchange was to wait until the sent operations are answered.
  package private(set) var awaitsAnswers: Bool = false
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
      (isPulling, isPullWanted) = (isPullWanted, false)
      return begin(.exchange, now)
    }
    if !wantsChannel { return begin(.upload, now) }
    assert(channel == .closed && exchangeSince == nil, "a channel opens beside another request")
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

  /// How long to wait before the next question for answers, when so many have come to nothing.
  package func answerPause(_ questions: Int) -> Duration {
    min(settings.answerPoll * (1 << min(questions - 1, 6)), settings.pollInterval)
  }

  private var goesOn: Bool { !isResting || isAwaited }

  private mutating func begin(_ step: Step, _ now: Timestamp) -> Step {
    assert(exchangeSince == nil, "a request begins while another one is under way")
    assert(retryAt.map { now >= $0 } ?? true, "a request begins before it may be tried again")
    assert(step != .login || hasCredentials, "a login begins without credentials")
    exchangeSince = now
    uploadTime = .zero
    (isHeld, mayCut) = (false, false)
    return step
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
    case .outdated:
      channel = .closed
      return .cancel(.channel)
    default: return nil
    }
  }

  private var channelLimit: Timestamp? {
    switch channel {
    case .closed, .outdated: nil
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

  // What happened.

  /// Events change what the next step is; the caller then asks for it with `next`.
  package mutating func take(_ event: Event, now: Timestamp) {
    switch event {
    case .loginRequested:
      hasCredentials = true
      wake()
    case .loginEnded: hasCredentials = false
    case .exchangeRequested(let awaitingAnswers):
      (isExchangeWanted, isPullWanted, isResting) = (true, true, false)
      awaitsAnswers = awaitingAnswers
      wake()
    case .background(let isOn):
      (isBackground, isResting) = (isOn, !isOn)
      wake()
    case .planRequested:
      isResting = false
      wake()
    case .woken: wake()
    case .signedOut: self = SessionMachine(settings: settings)
    case .answersAwaited(let isAwaited): self.isAwaited = isAwaited
    case .planChanged(let time, let isBehind): (planAt, isPlanBehind) = (time, isBehind)
    case .questionsChanged(let areOpen): isAsking = areOpen
    case .exchangeNeeded(let pulls):
      isExchangeWanted = true
      if pulls { isPullWanted = true }
    case .exchangeDropped: isExchangeWanted = false
    case .sent(let bytes): uploadTime = SessionSettings.uploadTime(bytes)
    case .heard(let lane): heard(lane, now)
    case .held(let mayCut): (isHeld, self.mayCut) = (true, mayCut)
    case .released: isHeld = false
    case .succeeded(let lane, let facts): succeeded(lane, facts, now)
    case .pieceUploaded:
      exchangeSince = nil
      (failures, retryAt) = (0, nil)
    case .contentUploaded: (isExchangeWanted, answerPolls) = (true, 0)
    case .failed(let lane, let chance, let longest): failed(lane, chance, longest, now)
    case .stopped(let lane):
      end(lane)
      stop = Stop(lane: lane, until: now.advanced(by: settings.stoppedRetry))
    case .tokenEnded(let lane):
      end(lane)
      wake()
      isExchangeWanted = true
    case .cancelled(let lane):
      end(lane)
      if lane == .exchange { (isHeld, mayCut, isAsking) = (false, false, false) }
    case .loginRefused: exchangeSince = nil
    case .channelOutdated: if channel != .closed { channel = .outdated }
    case .channelRefused:
      channel = .closed
      channelAgainAt = now.advanced(by: settings.channelRest)
    }
  }

  /// A request of the lane is over.
  private mutating func end(_ lane: Lane) {
    switch lane {
    case .exchange: exchangeSince = nil
    case .channel: channel = .closed
    }
  }

  private mutating func heard(_ lane: Lane, _ now: Timestamp) {
    switch lane {
    case .exchange: if exchangeSince != nil { exchangeSince = now }
    case .channel:
      guard channel != .closed, channel != .outdated else { return }
      channel = .open(heard: now)
      channelAgainAt = nil
    }
  }

  private mutating func succeeded(_ lane: Lane, _ facts: Facts, _ now: Timestamp) {
    end(lane)
    (failures, retryAt) = (0, nil)
    if stop?.lane == lane { stop = nil }
    guard lane == .exchange else { return }
    lastExchange = now
    answerPolls = facts.hasUnanswered ? answerPolls + 1 : 0
  }

  /// The next try waits longer each time, by chance a little more or less, but no longer than
  /// `longest`.
  private mutating func failed(
    _ lane: Lane, _ chance: UInt64, _ longest: Duration?, _ now: Timestamp
  ) {
    end(lane)
    if lane == .exchange { isExchangeWanted = true }
    failures += 1
    let longest = min(longest ?? settings.longestRetry, settings.longestRetry)
    let wait = min(settings.firstRetry * (1 << min(failures - 1, 10)), longest)
    retryAt = now.advanced(by: wait / 2 + (wait / 2) * (Double(chance % 1_000) / 1_000))
  }

  /// Waiting makes no sense any more.
  private mutating func wake() {
    (retryAt, stop) = (nil, nil)
    failures = 0
    answerPolls = 0
  }

  private func earliest(_ left: Timestamp?, _ right: Timestamp?) -> Timestamp? {
    guard let left, let right else { return left ?? right }
    return min(left, right)
  }
}
