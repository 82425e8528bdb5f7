import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld

/// What a session sends.
extension Requests {
  func loginRequest() throws(FerryError) -> SessionRequest {
    let request = try signIn.loginRequest()
    receptions[.exchange] = Reception(.login)
    return request
  }

  func renewalRequest() throws(FerryError) -> SessionRequest {
    let request = try signIn.renewalRequest()
    receptions[.exchange] = Reception(.token)
    return request
  }

  func exchange() throws(FerryError) -> SessionRequest {
    begun += 1
    let request = try exchangeRequest(.exchange)
    core.happened(.sent(bytes: request.body.count))
    return request
  }

  func exchangeRequest(_ lane: SessionMachine.Lane) throws(FerryError) -> SessionRequest {
    let confirms = self.confirms
    let isChannelOpen = core.machine.isChannelOpen
    var changed: [String: String?] = [:]
    var place: DevicePosition?
    var isRefused = false
    var plan = lane == .exchange ? plans.current : nil
    let isQuiet = core.isReplicationBased && plan == nil
    let wait = waitForAnswers(lane)
    var toStore = 0
    var isHoldAsked = false
    var receipts: [OperationID] = []
    let request = try store.withTransaction { transaction throws(FerryError) in
      if lane == .exchange { isRefused = try ChainSealing(transaction).sealWanted() }
      let queue = OperationQueue(transaction)
      let position = try transaction.sql { connection throws(SQLiteError) in
        try self.inbox.positions(connection)
      }
      place = position
      var hello = Hello(
        server: try transaction.setting(.server), package: self.store.model.id,
        device: try transaction.setting(.device) ?? "",
        incarnation: try transaction.setting(.incarnation) ?? "", groups: position.groups,
        partitions: position.applied, open: try queue.unanswered())
      hello.parameters = try ParameterTable(transaction).subscription()
      hello.wait = wait
      hello.asksCurrent = plan?.currentWait != nil
      hello.facts = DeviceFacts.ofThisDevice
      hello.facts.isSubscribed = try SubscriptionSettings(transaction).isAskedFor()
      if lane == .channel, self.core.isReplicationBased {
        hello.notices = try GroupNotices.wanted(transaction)
      }
      hello.settings = try ApplicationSettings.kept(transaction).version
      hello.corrections = try Corrections(transaction).receipts()
      receipts = hello.corrections.map(\.id)
      changed = hello.parameters.changed
      // What is waited for may wait for contents, which are sent in between.
      if try Uploads(transaction).areOwed() { hello.wait = 0 }
      isHoldAsked = hello.wait > 0
      var messages: [Message] = [.hello(hello)]
      messages += confirms.map(Message.confirm)
      if lane == .exchange, plan == nil, !isQuiet,
        let replay = try queue.outgoing()
      {
        messages.append(.replay(replay))
      }
      if lane == .exchange, let report = try ReportQueue(transaction).outgoing() {
        messages.append(.report(report))
      }
      // An open channel brings what is new; the exchange only takes things there.
      let isSuspended = try transaction.setting(.suspended) != nil
      let isSubscribed = try transaction.setting(.subscribed) != nil && !isSuspended
      let isSubscribing = try transaction.setting(.subscribing) != nil
      // Answers come with a checkpoint, also to who has not subscribed.
      let awaitsAnswer = try queue.hasUnanswered()
      if var current = plan {
        messages += try self.plans.messages(of: &current, position, transaction)
        plan = current
      } else if !isQuiet, isSubscribed || isSubscribing || awaitsAnswer,
        lane == .channel && self.core.machine.isBackground
          || lane == .exchange
            && (!isChannelOpen || self.core.machine.isPulling || self.core.machine.awaitsAnswers)
      {
        messages += position.pulls.map(Message.pull)
      }
      // By now what this request brings is marked as sent.
      hello.facts.pending = try PendingCount(transaction).leastUnsent()
      messages[0] = .hello(hello)
      toStore = messages.count { $0.frame.kind == .replay || $0.frame.kind == .report }
      var request = SessionRequest(
        lane: lane, path: lane == .channel ? "channel" : "exchange",
        body: messages.flatMap { $0.frame.encoded() },
        token: try self.core.tokens.token(transaction.setting(.accessToken), .accessToken))
      (request.isOfPlan, request.isQuiet) = (plan != nil, isQuiet)
      return request
    }
    receptions[lane] = Reception(
      lane == .channel ? .channel : .exchange, confirms: confirms.count, changedKeys: changed,
      place: place)
    receptions[lane]?.mayHold = isHoldAsked
    receptions[lane]?.toStore = toStore
    receptions[lane]?.receipts = receipts
    if lane == .channel { isChannelQuiet = isQuiet || !core.machine.isBackground }
    if let plan { plans.ask(plan, sentBytes: request.body.count) }
    if isRefused { try core.observers.tellOwed(of: store) }
    return request
  }

  /// How long the server may hold its answer, in milliseconds, for those who wait here for answers.
  private func waitForAnswers(_ lane: SessionMachine.Lane) -> Int64 {
    guard lane == .exchange else { return 0 }
    if let wait = plans.current?.currentWait { return wait }
    if let plan = plans.current { return plan.awaitsAnswers ? Requests.answerWait : 0 }
    // An open channel brings the answers.
    let machine = core.machine
    guard !core.isReplicationBased, !machine.isChannelOpen,
      machine.isAwaited || machine.awaitsAnswers
    else { return 0 }
    return Requests.answerWait
  }

  /// Shorter than the silence that a device and the proxies in between accept.
  static let answerWait: Int64 = 20_000
}
