import Ferry
import FerryJSON
import FerryServer
import FerryWire
import FerryWorld

/// Sessions, and what the false network does to what they send.
extension Simulation {
  /// Asks a session for its next step, as its runner does. False when it waits.
  @discardableResult
  func stepSession(_ device: SimulatedDevice) throws -> Bool {
    guard device.isRunning else { return false }
    var moved = false
    for program in device.programs.indices where hasFaults ? chance.happens(700) : true {
      moved = try stepSession(device, program) || moved
    }
    return moved
  }

  private func stepSession(_ device: SimulatedDevice, _ program: Int) throws -> Bool {
    let session = device.programs[program].session
    try takeEnded(session, device)
    do throws(FerryError) {
      try FlawedSession.begins(device, planted)
      let next = try session.next()
      if case .completion(let batch)? = session.plan?.origin {
        device.completing[batch] = try device.operations(ofBatch: batch)
      }
      try FlawedSession.began(session, device, planted)
      switch next {
      case .wait: return false
      case .cancel(let lane): endTransfers(of: device, program, lane)
      case .send(let request):
        device.watch.touch()
        endTransfers(of: device, program, request.lane)
        if request.isOfPlan {
          guard try ask(session, device) else { return true }
          session.leave()
        }
        send(request, device, program)
        log.say(
          "step \(step): device \(device.number) sends \(request.path)"
            + (program == 0 ? "" : " from its extension"))
      }
    } catch {
      device.watch.touch()
      guard device.disk.begun != nil else { throw error }
      log.say("step \(step): the session of device \(device.number) fails: \(error.message)")
      return false
    }
    return true
  }

  private func send(_ request: SessionRequest, _ device: SimulatedDevice, _ program: Int) {
    var made = Transfer.Request(request)
    if !planted.isEmpty, !made.isContent { made.body = FlawedWire.spoiled(made.body, planted) }
    if hasFaults, !made.body.isEmpty, made.isContent, chance.happens(350), may(.pieceTorn) {
      counts.add(.pieceTorn)
      made.body[chance.number(below: made.body.count)] ^= 1
    }
    let transfer = Transfer(device: device, program: program, request: made)
    let hasChannel = transfers.contains {
      $0.device === device && $0.lane == .channel && !$0.isHalfOpen && isAlive($0)
    }
    if hasChannel, request.path == "exchange" { counts.add(.channelBeside) }
    transfers.append(transfer)
    if transfer.request.isContent { counts.add(.contentSent) }
    guard hasFaults else { return }
    if chance.happens(60), request.path == "exchange" || transfer.request.isContent,
      may(.requestDoubled)
    {
      counts.add(.requestDoubled)
      let ghost = Transfer(
        device: device, program: program, request: transfer.request, isGhost: true)
      if chance.happens(500), may(.requestDelayed) {
        counts.add(.requestDelayed)
        ghost.arrivesAt = step + chance.number(below: 120)
      }
      transfers.append(ghost)
    }
    if chance.happens(15), may(.wrongServer) {
      transfer.isAstray = true
    }
  }

  func endTransfers(of device: SimulatedDevice, _ program: Int, _ lane: SessionMachine.Lane) {
    transfers.removeAll { transfer in
      guard transfer.device === device, transfer.program == program, transfer.lane == lane,
        !transfer.isGhost
      else { return false }
      // The server hears of the end of a line that still is one.
      if !transfer.isHalfOpen { close(transfer) }
      return true
    }
  }

  func close(_ transfer: Transfer) {
    if let exchange = transfer.exchange, transfer.serverLife == server.life, server.isRunning {
      server.service.close(exchange)
    }
    transfer.exchange = nil
  }

  func stepNetwork() throws {
    let ready = transfers.filter(isReady)
    let downloads = downloads.filter(isReady)
    guard !ready.isEmpty || !downloads.isEmpty else { return }
    let place = chance.number(below: ready.count + downloads.count)
    if place < ready.count {
      try step(ready[place])
    } else {
      try step(downloads[place - ready.count])
    }
  }

  /// Whether something can happen to it.
  func isReady(_ transfer: Transfer) -> Bool {
    if transfer.isHalfOpen || step < transfer.arrivesAt { return false }
    guard transfer.isWaiting, transfer.underWay.isEmpty, isAlive(transfer) else { return true }
    return transfer.exchange?.isHoldOver(at: server.clock.moment) ?? false
  }

  func isAlive(_ transfer: Transfer) -> Bool {
    transfer.serverLife == server.life && server.isRunning && transfer.session != nil
  }

  func step(_ transfer: Transfer) throws {
    let isOver: Bool
    if transfer.session == nil, !transfer.isGhost {
      isOver = true
    } else {
      isOver = try progress(transfer)
    }
    if isOver {
      close(transfer)
      transfers.removeAll { $0 === transfer }
    }
  }

  /// One thing happens to a transfer; true when it is over.
  private func progress(_ transfer: Transfer) throws -> Bool {
    let cut: SimulatedFault = transfer.serverLife == nil ? .requestLost : .responseCut
    if hasFaults, chance.happens(25), may(cut) {
      counts.add(cut)
      return try breakOff(transfer)
    }
    if hasFaults, chance.happens(4), !transfer.isGhost, may(.halfOpen) {
      counts.add(.halfOpen)
      transfer.isHalfOpen = true
      return false
    }
    guard transfer.serverLife != nil else {
      guard server.isRunning else { return try breakOff(transfer) }
      try arrive(transfer)
      return false
    }
    let isServerThere = transfer.serverLife == server.life && server.isRunning
    if !isServerThere, transfer.underWay.isEmpty, !transfer.isServerDone {
      return try breakOff(transfer)
    }
    if !transfer.underWay.isEmpty, !isServerThere || chance.happens(700) {
      return try deliver(transfer)
    }
    return try answer(transfer)
  }

  /// The server says something more.
  private func answer(_ transfer: Transfer) throws -> Bool {
    guard let exchange = transfer.exchange, transfer.serverLife == server.life, server.isRunning
    else { return transfer.isGhost ? true : try deliver(transfer) }
    switch exchange.next() {
    case .bytes(let bytes):
      // The first is of the moment when it came.
      if transfer.hasBegun { transfer.rights = rights(of: transfer) }
      transfer.hasBegun = true
      let watch = ServerWatch(oracle: oracle, ledger: ledger)
      counts.resets += try watch.inspect(bytes, on: transfer)
      if !transfer.isGhost { try put(bytes, on: transfer) }
    case .waiting:
      if transfer.isGhost { return true }
      try ServerWatch(oracle: oracle, ledger: ledger).checkWaiting(transfer)
      transfer.isWaiting = true
    case .end:
      transfer.isServerDone = true
      transfer.exchange = nil
      if transfer.isGhost { return true }
      if transfer.underWay.isEmpty { return try finish(transfer) }
    }
    return false
  }

  private func put(_ bytes: [UInt8], on transfer: Transfer) throws {
    var frames = try FrameReader.frames(of: bytes)
    if hasFaults, chance.happens(25) { tamper(&frames, transfer) }
    var sent: [UInt8] = []
    // Each import is looked at by itself, each answer that is given at the door, and each welcome.
    var ends: [(place: Int, message: Message)] = []
    for frame in frames {
      sent += frame.encoded()
      guard [.checkpoint, .stored, .welcome].contains(frame.kind) else { continue }
      ends.append((sent.count, try Message(frame)))
    }
    transfer.put(sent, ends: ends)
  }

  /// Loses, doubles or exchanges messages of a response.
  private func tamper(_ frames: inout [Frame], _ transfer: Transfer) {
    let index = chance.number(below: frames.count)
    switch chance.number(below: 3) {
    case 0:
      guard may(.frameLost) else { return }
      counts.add(.frameLost)
      frames.remove(at: index)
    case 1:
      guard may(.frameDoubled) else { return }
      counts.add(.frameDoubled)
      frames.insert(frames[index], at: chance.number(below: frames.count))
    default:
      let other = chance.number(below: frames.count)
      guard other != index, may(.framesExchanged) else { return }
      counts.add(.framesExchanged)
      frames.swapAt(index, other)
    }
    transfer.isTampered = true
  }

  /// Some of what is under way comes to the device, cut anywhere.
  func deliver(_ transfer: Transfer) throws -> Bool {
    let whole = !hasFaults || chance.happens(700)
    let count =
      whole ? transfer.underWay.count : chance.number(below: transfer.underWay.count + 1)
    guard try hand(count, transfer) else { return true }
    return transfer.isServerDone && transfer.underWay.isEmpty ? try finish(transfer) : false
  }

  /// False when the session has ended the lane.
  private func hand(_ count: Int, _ transfer: Transfer) throws -> Bool {
    let pieces = transfer.take(count)
    for (index, piece) in pieces.enumerated() {
      if index > 0 { try look() }
      if case .stored(let stored)? = piece.message {
        transfer.device.watch.refused += stored.refused
      } else if case .welcome(let welcome)? = piece.message {
        transfer.device.watch.begun.formUnion(welcome.reset + welcome.start.map(\.partition))
      }
      guard try hand(piece.bytes, transfer, with: piece.rights) else { return false }
      if case .checkpoint? = piece.message { transfer.device.watch.hasCheckpointCome = true }
    }
    return true
  }

  private func hand(
    _ bytes: [UInt8], _ transfer: Transfer, with rights: Set<Int64>
  ) throws -> Bool {
    guard let session = transfer.session else { return false }
    if !transfer.isHeadTold {
      transfer.isHeadTold = true
      session.received(status: transfer.status, on: transfer.lane)
    }
    transfer.device.watch.touch()
    transfer.device.watch.rights = rights
    do throws(FerryError) {
      try session.received(bytes, on: transfer.lane)
      while transfer.lane == .exchange, !session.questions.isEmpty {
        guard try ask(session, transfer.device) else {
          close(transfer)
          return false
        }
        try session.goOn(.exchange)
      }
    } catch {
      guard error.code != .store || transfer.device.disk.begun != nil else { throw error }
      if [.store, .diskFull, .diskFailing].contains(error.code) {
        transfer.device.watch.writeFailed()
      }
      log.say("step \(step): device \(transfer.device.number) breaks off: \(error.message)")
      return false
    }
    return true
  }

  private func finish(_ transfer: Transfer) throws -> Bool {
    try end(transfer, nil)
    return true
  }

  func breakOff(_ transfer: Transfer) throws -> Bool {
    guard !transfer.isGhost else { return true }
    // A part of what was under way may still have come.
    if !transfer.underWay.isEmpty, chance.happens(500) {
      let part = chance.number(below: transfer.underWay.count)
      guard try hand(part, transfer) else { return true }
    }
    try end(
      transfer,
      FerryError(.offline, "the line broke", hint: "It is tried again.", isTransient: true))
    return true
  }

  private func end(_ transfer: Transfer, _ failure: FerryError?) throws {
    guard let session = transfer.session else { return }
    if failure == nil, !transfer.isHeadTold {
      session.received(status: transfer.status, on: transfer.lane)
    }
    transfer.device.watch.touch()
    do throws(FerryError) { try session.ended(transfer.lane, failure) } catch {
      guard transfer.device.disk.begun != nil else { throw error }
      log.say("step \(step): device \(transfer.device.number) cannot end: \(error.message)")
    }
    if let order = session.wipe { try obey(order, session, transfer.device) }
  }
}
