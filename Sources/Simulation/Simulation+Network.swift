import Ferry
import FerryJSON
import FerryServer
import FerryWire
import FerryWorld

/// Sessions, and what the false network does to what they send.
extension Simulation {
  func stepSession(_ device: SimulatedDevice) throws {
    switch try device.session.next() {
    case .wait: break
    case .cancel(let lane): endTransfers(of: device, lane)
    case .send(let request):
      endTransfers(of: device, request.lane)
      transfers.append(
        Transfer(device: device.number, deviceLife: device.life, request: request))
      if hasFaults, chance.happens(60), request.path == "exchange" {
        counts.doubled += 1
        transfers.append(
          Transfer(
            device: device.number, deviceLife: device.life, request: request, isGhost: true))
      }
      log.say("step \(step): device \(device.number) sends \(request.path)")
    }
  }

  func endTransfers(of device: SimulatedDevice, _ lane: SessionMachine.Lane) {
    transfers.removeAll { transfer in
      guard transfer.device == device.number, transfer.lane == lane, !transfer.isGhost else {
        return false
      }
      close(transfer)
      return true
    }
  }

  func close(_ transfer: Transfer) {
    if let exchange = transfer.exchange, transfer.serverLife == server.life {
      server.service.close(exchange)
    }
    transfer.exchange = nil
  }

  func stepNetwork() throws {
    guard !transfers.isEmpty else { return }
    let index = chance.number(below: transfers.count)
    let transfer = transfers[index]
    let device = devices[transfer.device]
    guard transfer.isGhost || transfer.deviceLife == device.life else {
      close(transfer)
      transfers.remove(at: index)
      return
    }
    if try progress(transfer, device) {
      close(transfer)
      transfers.removeAll { $0 === transfer }
    }
  }

  /// One thing happens to a transfer; true when it is over.
  func progress(_ transfer: Transfer, _ device: SimulatedDevice) throws -> Bool {
    if hasFaults, chance.happens(25) {
      counts.lost += 1
      return try breakOff(transfer, device)
    }
    if transfer.request.path == "login" || transfer.request.path == "token" {
      try answerLogin(transfer, device)
      return true
    }
    guard transfer.exchange != nil || transfer.isServerDone else {
      arrive(transfer, device)
      return false
    }
    if transfer.serverLife != server.life, transfer.underWay.isEmpty, !transfer.isServerDone {
      return try breakOff(transfer, device)
    }
    if !transfer.underWay.isEmpty, chance.happens(700) { return try deliver(transfer, device) }
    return try answer(transfer, device)
  }

  func arrive(_ transfer: Transfer, _ device: SimulatedDevice) {
    let identity = Identity(
      user: device.user, device: nil, claims: ["agency": device.agencies.map(String.init)],
      expires: clock.now.advanced(by: .seconds(900)))
    transfer.serverLife = server.life
    log.write(
      .trace, "a request arrives", [("device", "\(device.number)"), ("lane", "\(transfer.lane)")])
    transfer.exchange =
      transfer.lane == .channel
      ? server.service.channel(transfer.request.body, by: identity, until: identity.expires)
      : server.service.exchange(transfer.request.body, by: identity)
  }

  /// The server says something more.
  func answer(_ transfer: Transfer, _ device: SimulatedDevice) throws -> Bool {
    guard let exchange = transfer.exchange, transfer.serverLife == server.life else {
      return try deliver(transfer, device)
    }
    switch exchange.next() {
    case .bytes(let bytes): if !transfer.isGhost { transfer.underWay += bytes }
    case .waiting:
      if transfer.isGhost { return true }
      if !hasFaults || chance.happens(30) { transfer.underWay += Exchange.beat }
    case .end:
      transfer.isServerDone = true
      transfer.exchange = nil
      if transfer.isGhost { return true }
      if transfer.underWay.isEmpty { return try finish(transfer, device) }
    }
    return false
  }

  /// Some of what is under way comes to the device.
  func deliver(_ transfer: Transfer, _ device: SimulatedDevice) throws -> Bool {
    if !transfer.isHeadTold {
      transfer.isHeadTold = true
      device.session.received(status: 200, on: transfer.lane)
    }
    let count =
      chance.happens(700)
      ? transfer.underWay.count : chance.number(below: transfer.underWay.count + 1)
    let bytes = Array(transfer.underWay.prefix(count))
    transfer.underWay.removeFirst(count)
    do throws(FerryError) { try device.session.received(bytes, on: transfer.lane) } catch {
      guard error.code != .store else { throw error }
      return true
    }
    return transfer.isServerDone && transfer.underWay.isEmpty ? try finish(transfer, device) : false
  }

  func finish(_ transfer: Transfer, _ device: SimulatedDevice) throws -> Bool {
    if !transfer.isHeadTold { device.session.received(status: 200, on: transfer.lane) }
    try device.session.ended(transfer.lane, nil)
    return true
  }

  func breakOff(_ transfer: Transfer, _ device: SimulatedDevice) throws -> Bool {
    guard !transfer.isGhost else { return true }
    // A part of what was under way may still have come.
    if transfer.isHeadTold, !transfer.underWay.isEmpty {
      let part = Array(transfer.underWay.prefix(chance.number(below: transfer.underWay.count)))
      do throws(FerryError) { try device.session.received(part, on: transfer.lane) } catch {
        guard error.code != .store else { throw error }
        return true
      }
    }
    try device.session.ended(
      transfer.lane,
      FerryError(.offline, "the line broke", hint: "It is tried again.", isTransient: true))
    return true
  }

  func answerLogin(_ transfer: Transfer, _ device: SimulatedDevice) throws {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("accessToken", "access")
    writer.field("refreshToken", "refresh")
    writer.field("expiresIn", 900)
    writer.field("user", device.user)
    writer.endObject()
    device.session.received(status: 200, on: transfer.lane)
    try device.session.received(writer.bytes, on: transfer.lane)
    try device.session.ended(transfer.lane, nil)
  }
}
