import FerryCrypto
import FerryModel
import FerryWire
import FerryWorld

/// How an exchange goes on.
extension Exchanges {
  func open(
    _ request: Result<ExchangeRequest, WireFailure>, _ identity: Identity, isChannel: Bool,
    until: Timestamp, id: ExchangeID
  ) -> ExchangeState {
    var trouble: ServerError?
    do throws(WireFailure) {
      let body = try request.get()
      try check(body.hello, identity)
      var state = ExchangeState(
        identity: identity, hello: body.hello, pulls: body.pulls, isChannel: isChannel,
        until: until,
        phase: .downloading)
      do throws(ServerError) {
        try open(&state, body, id)
      } catch {
        interests.remove(id)
        if error.isOfTheStore { trouble = error }
        throw failure(error)
      }
      return state
    } catch {
      if case .success(let body) = request {
        accounts.noteRefusal(error, body.hello, identity)
      }
      let hello = Hello(
        server: nil, package: "", device: "", incarnation: "", groups: [], partitions: [], open: [])
      var state = ExchangeState(
        identity: identity, hello: hello, pulls: [], isChannel: isChannel, until: until,
        phase: .ended)
      state.ready = Message.failure(error).frame.encoded()
      state.trouble = trouble
      return state
    }
  }

  private func open(
    _ state: inout ExchangeState, _ body: ExchangeRequest, _ id: ExchangeID
  ) throws(ServerError) {
    try accounts.register(body.hello, state.identity)
    for confirm in body.confirms {
      try guarded { () throws(StoreError) in
        try operations.inbox.confirm(confirm, user: state.identity.user)
      }
    }
    try desk.take(body.hello.corrections, from: state.owner)
    operations.name(body.hello.open, of: state.owner)
    if !store.leads {
      try guarded { () throws(StoreError) in
        try store.tell(body.hello.open, of: state.owner, hasNews: false)
      }
    }
    try accounts.keep(body.hello.parameters.changed, of: state.identity.user)
    state.ready += try welcome(&state, id, pulls: body.pulls)
    for replay in body.replays {
      let (stored, problem) = try operations.take(replay, from: state.identity, state.owner)
      state.ready += Message.stored(stored).frame.encoded()
      state.heldFor += stored.ids
      if let problem { state.lastWord = problem }
    }
    // What is not open may still be sent: a channel sends nothing, and one message may have a part of
    // a group only, as may an early one that comes late.
    if !state.isChannel, body.replays.isEmpty {
      try operations.giveUpLost(body.hello.open, of: state.owner)
    }
    for report in body.reports {
      let stored = try operations.take(report, from: state.owner)
      state.ready += Message.stored(stored).frame.encoded()
    }
    try hold(&state, id)
    state.dirty = Array(state.downloads.indices)
    if state.isChannel, state.pulls.isEmpty {
      state.finished = try guarded { () throws(StoreError) in
        try store.finishedChains(of: state.owner)
      }
    }
  }

  /// Says where the device stands, and sets where its downloads go on. Interest is registered
  /// before anything is read.
  private func welcome(
    _ state: inout ExchangeState, _ id: ExchangeID, pulls: [Pull]
  )
    throws(ServerError) -> [UInt8]
  {
    let hello = state.hello
    let groups = subscribed(hello, pulls)
    let keys = try accounts.personalKeys(of: state.identity.user)
    let rights = rights(of: state, keys)
    state.grants = accounts.grants(of: state.identity)
    let numbers = try partitions(of: groups, rights, state.owner)
    state.isOpen = groups.contains(where: rights.isOpen)
    if state.isChannel, !world.has(.interestAfterRead) {
      interests.register(id, state.owner, partitions: Set(numbers.keys))
    }
    let operations = try reading { () throws(StoreError) in
      try self.operations.inbox.statuses(hello.open, user: state.identity.user)
    }
    if hello.wait > 0 {
      state.heldFor = operations.list.filter { $0.state == .inWork }.map(\.id)
    }
    if operations.restored { core.memory.noteAnswersOfAnybody() }
    try takeOver(operations.elsewhere, of: state.owner)
    if let wanted = hello.notices, state.isChannel, state.pulls.isEmpty {
      state.groups = numbers
      if state.notices.wanted == nil { state.notices = NoticeMachine(wanted: wanted) }
    }
    state.rightsVersion = Exchanges.rightsVersion(state.identity.user, numbers)
    let (judgement, clock, era) = try judge(numbers, hello, pulls)
    state.downloads = pulls.compactMap { pull in
      guard groups.contains(pull.group) else { return nil }
      let cursors = judgement.cursors.filter { numbers[$0.key] == pull.group }
        .map { PartitionCursor(partition: $0.key, cursor: $0.value) }
      return Download(group: pull.group, cursors: cursors, at: 0)
    }
    try remember(state, numbers.keys)
    var welcome = Welcome(
      server: store.server, era: era, clock: clock, rightsVersion: state.rightsVersion,
      keep: judgement.keep, start: judgement.start, drop: judgement.drop, reset: judgement.reset,
      operations: operations.list, expectedRows: judgement.expectedRows)
    welcome.keys = keys
    welcome.settings = try accounts.newSettings(hello, of: state.owner)
    if let newer = welcome.settings { state.hello.settings = newer.version }
    welcome.corrections = try desk.open(of: state.owner)
    return Message.welcome(welcome).frame.encoded()
  }

  private func judge(
    _ numbers: [Int64: String], _ hello: Hello, _ pulls: [Pull]
  ) throws(ServerError) -> (WelcomeMachine.Judgement, clock: Int64, era: String) {
    try reading { () throws(StoreError) in
      if !world.isPlanted, let view = core.memory.view(of: numbers.keys),
        try Exchanges.isRecent(view, for: hello, pulls) || world.has(.nodeBehind)
      {
        let era = try view.eras().eras.last?.id ?? store.era
        return (try judge(numbers, hello, pulls, view).0, view.clock, era)
      }
      return try store.snapshot { view throws(StoreError) in
        let (judgement, states) = try judge(numbers, hello, pulls, view)
        let eras = try view.eras()
        core.memory.note(clock: view.clock, eras: eras, states)
        return (judgement, view.clock, eras.eras.last?.id ?? store.era)
      }
    }
  }

  private func judge(
    _ numbers: [Int64: String], _ hello: Hello, _ pulls: [Pull], _ view: any StoreSnapshot
  ) throws(StoreError) -> (WelcomeMachine.Judgement, [PartitionState]) {
    var states: [PartitionState] = []
    var partitions: [WelcomeMachine.Partition] = []
    for (number, group) in numbers.sorted(by: { $0.key < $1.key }) {
      guard let known = try view.partition(number) else { continue }
      states.append(known)
      partitions.append(
        WelcomeMachine.Partition(
          number: number, group: group, floor: known.floor, count: known.count))
    }
    var machine = WelcomeMachine(eras: try view.eras(), clock: view.clock)
    if !pulls.isEmpty { machine.pulled = Set(pulls.map(\.group)) }
    let judgement = machine.judge(
      partitions, positions: Exchanges.positions(hello, pulls),
      applied: Exchanges.cursors(hello.partitions),
      staged: Exchanges.cursors(pulls.flatMap(\.staged)))
    return (judgement, states)
  }

  func next(of exchange: Exchange) -> Exchange.Step {
    if !exchange.state.ready.isEmpty {
      defer { exchange.state.ready = [] }
      return .bytes(exchange.state.ready)
    }
    guard exchange.state.phase != .ended else { return end(exchange) }
    if exchange.state.isChannel, exchange.state.isOver(at: world.clock.now) {
      exchange.state.phase = .ended
      return end(exchange)
    }
    do throws(ServerError) { return try advance(exchange) } catch {
      exchange.state.lastWord = failure(error)
      exchange.state.phase = .ended
      return end(exchange)
    }
  }

  private func advance(_ exchange: Exchange) throws(ServerError) -> Exchange.Step {
    if let reading = exchange.state.reading, reading.result == nil { return .waiting }
    if try isHeld(exchange) { return .waiting }
    if !exchange.state.ready.isEmpty { return next(of: exchange) }
    let isIdle = exchange.state.dirty.isEmpty && exchange.state.reading == nil
    if isIdle, !exchange.state.isStale { return try stirred(exchange) }
    if try haveRightsChanged(exchange) { return try welcomeAgain(exchange) }
    exchange.state.isStale = false
    if let round = try takeRead(of: exchange) { return try give(round, to: exchange) }
    guard let index = exchange.state.dirty.first else { return try stirred(exchange) }
    let read = try read(index, of: exchange)
    // What is committed from now on makes it dirty again.
    exchange.state.dirty.removeFirst()
    if let near = try near(read) { return try give((read, near), to: exchange) }
    return try begin(read, of: exchange)
  }

  /// What a round has brought goes to the device.
  func give(
    _ done: (read: PageRead, round: PageRead.Round), to exchange: Exchange
  ) throws(ServerError) -> Exchange.Step {
    let (read, round) = done
    switch round.step {
    // Pages of a round that was overtaken are not sent, so their cursors do not hold.
    case .overtaken, .far: return try welcomeAgain(exchange)
    case .pages(let bytes):
      exchange.state.downloads[read.index] = round.download
      exchange.state.dirty.removeAll { $0 == read.index }
      exchange.state.dirty.insert(read.index, at: 0)
      return .bytes(bytes)
    case .checkpoint(let bytes, _, let answers):
      exchange.state.downloads[read.index] = round.download
      if answers == 0, read.asker.open.isEmpty {
        core.memory.noteNoAnswer(
          for: read.asker.owner, group: round.download.group, since: read.answersGeneration)
      }
      return .bytes(bytes)
    }
  }

  private func stirred(_ exchange: Exchange) throws(ServerError) -> Exchange.Step {
    guard exchange.state.isChannel else {
      exchange.state.phase = .ended
      return end(exchange)
    }
    let state = exchange.state
    if world.has(.interestAfterRead) {
      let partitions = Set(state.downloads.flatMap(\.cursors).map(\.partition))
      interests.register(exchange.id, state.owner, partitions: partitions)
    }
    if let version = try settingsToStir(exchange) {
      return .bytes(Message.stir(Stir(finished: [], settings: version)).frame.encoded())
    }
    if state.hasCorrections {
      exchange.state.hasCorrections = false
      return .bytes(Desk.stir)
    }
    guard state.pulls.isEmpty, state.hasNews || !state.finished.isEmpty else { return .waiting }
    var groups: [String]?
    if state.notices.wanted != nil {
      let told = exchange.state.notices.take(now: world.clock.moment)
      // A later one waits for its time, which the host looks at.
      exchange.state.hasNews = exchange.state.notices.due != nil
      guard !told.isEmpty || !state.finished.isEmpty else { return .waiting }
      groups = told
    } else {
      exchange.state.hasNews = false
    }
    exchange.state.finished = []
    return .bytes(
      Message.stir(Stir(finished: state.finished, groups: groups)).frame.encoded())
  }

  private func end(_ exchange: Exchange) -> Exchange.Step {
    close(exchange)
    guard let word = exchange.state.lastWord else { return .end }
    exchange.state.lastWord = nil
    return .bytes(Message.failure(word).frame.encoded())
  }

  /// A round ends with a new welcome where the device's rights differ, or compaction went past it.
  private func welcomeAgain(_ exchange: Exchange) throws(ServerError) -> Exchange.Step {
    var state = exchange.state
    let pulls = state.downloads.map { Pull(group: $0.group, staged: $0.cursors, at: $0.at) }
    let clock = try clock()
    state.hello.partitions = pulls.flatMap(\.staged)
    state.hello.groups = pulls.map {
      GroupPosition(name: $0.group, era: store.era, version: clock)
    }
    let bytes = try welcome(&state, exchange.id, pulls: pulls)
    state.dirty = Array(state.downloads.indices)
    state.reading = nil
    state.isStale = false
    exchange.state = state
    return .bytes(bytes)
  }

  private func haveRightsChanged(_ exchange: Exchange) throws(ServerError) -> Bool {
    let state = exchange.state
    guard state.isOpen || state.isStale || accounts.grants(of: state.identity) != state.grants
    else {
      return false
    }
    let rights = rights(of: state, try accounts.personalKeys(of: state.identity.user))
    let numbers = try partitions(of: subscribed(state.hello, state.pulls), rights, state.owner)
    return Exchanges.rightsVersion(state.identity.user, numbers) != state.rightsVersion
  }
}

extension Exchanges {
  private func check(_ hello: Hello, _ identity: Identity) throws(WireFailure) {
    guard hello.protocol == Hello.currentProtocol else {
      throw WireFailure(
        .protocolVersion,
        "the device speaks protocol \(hello.protocol), this server \(Hello.currentProtocol)",
        hint: "Update the older of the two.")
    }
    if let server = hello.server, server != store.server {
      throw WireFailure(
        .otherServer, "the device belongs to the server \(server); this is \(store.server)",
        hint: "Check the address. If the server was replaced for good, call adoptServer and log in."
      )
    }
    // Who may not use a package does not learn that it is there.
    let allowed = accounts.packages(of: identity)
    guard hello.package == package.id, allowed.include(package.name) else {
      throw WireFailure(
        .unknownPackage,
        "this server has no package \(hello.package)"
          + (allowed.include(id: hello.package) ? otherVersions(of: hello.package) : ""),
        hint:
          "Update the app, or deploy its package on the server. `ferry deploy --list` shows all.")
    }
    guard hello.parameters.bytes <= WireLimits.parameterBytes,
      hello.parameters.sets.count <= WireLimits.parameterSets
    else {
      throw WireFailure(
        .badMessage,
        "\(hello.parameters.sets.count) sets of parameters have \(hello.parameters.bytes) bytes; "
          + "\(WireLimits.parameterSets) and \(WireLimits.parameterBytes) are allowed",
        hint: "Remove parameter sets that are no longer needed.")
    }
    if let device = identity.device, !device.hasBytes(of: hello.device) {
      throw WireFailure(
        .badMessage, "the token was given to another device", hint: "Log in on this device.")
    }
  }

  /// Versions of the same package: who asks for it knows its name. Others are not named.
  private func otherVersions(of id: String) -> String {
    let name = id.prefix { $0 != ":" }
    let known = accounts.users.accounts.map(\.package).filter { $0.name.hasBytes(of: String(name)) }
    return known.isEmpty ? "" : "; it serves " + known.map(\.id).joined(separator: ", ")
  }

  func failure(_ error: ServerError) -> WireFailure {
    world.log.error("an exchange failed", ("reason", error.description))
    if error.code == .tooManyPartitions {
      return WireFailure(.tooManyPartitions, error.message, hint: error.hint)
    }
    return WireFailure(
      .internal, "the server cannot answer at present",
      hint: "Try again later; the operator finds the reason in the server's log.")
  }

  private func subscribed(_ hello: Hello, _ pulls: [Pull]) -> [String] {
    let names = Set(hello.groups.map(\.name)).union(pulls.map(\.group))
    return package.groups.map(\.name).filter(names.contains)
  }

  private static func rightsVersion(_ user: String, _ numbers: [Int64: String]) -> String {
    let text = user + numbers.keys.sorted().map { "\n\($0)" }.joined()
    return String(hexadecimal(SHA256Digest.hash(Array(text.utf8))).prefix(16))
  }

  /// Whether what is remembered is as late as what the device has seen. A node that follows, or that
  /// led before, may remember an earlier state: then the store is asked, and not the device's data
  /// declared lost.
  private static func isRecent(
    _ view: any StoreSnapshot, for hello: Hello, _ pulls: [Pull]
  ) throws(StoreError) -> Bool {
    let cursors = hello.partitions + pulls.flatMap(\.staged)
    let versions = hello.groups.map(\.version) + pulls.map(\.at) + cursors.map(\.cursor.version)
    guard view.clock >= versions.max() ?? 0 else { return false }
    let known = Set(try view.eras().eras.map(\.id))
    return hello.groups.allSatisfy { $0.era.map(known.contains) ?? true }
  }

  private static func positions(
    _ hello: Hello, _ pulls: [Pull]
  ) -> [String: WelcomeMachine.Position] {
    var positions: [String: WelcomeMachine.Position] = [:]
    for group in hello.groups {
      let at = pulls.last { $0.group == group.name }?.at ?? group.version
      positions[group.name] = WelcomeMachine.Position(
        era: group.era, version: group.version, stagedAt: max(at, group.version))
    }
    return positions
  }

  private static func cursors(_ list: [PartitionCursor]) -> [Int64: Cursor] {
    Dictionary(list.map { ($0.partition, $0.cursor) }) { max($0, $1) }
  }
}
