import Ferry
import FerryConnector
import FerryHTTP
import FerryMemoryConnector
import FerryModel
import FerryServer

/// Big values: people write and ask for them, and what is asked for comes over the false network.
extension Simulation {
  /// Writes one whole, begins or goes on with one, takes one away, or asks for one.
  func handleContents(_ device: SimulatedDevice) throws(FerryError) {
    if let writing = device.writing {
      try goOn(writing, device)
      return
    }
    switch chance.number(below: 10) {
    case ..<4: try askForContent(device)
    case ..<8: try writeContent(device)
    default:
      guard let (record, position) = try bigValue(device) else { return }
      let bytes = contents.make(chance)
      device.writing = SimulatedDevice.Writing(
        writer: try BigBinary(record, position).openForWrite(), record: record,
        position: position, reference: MadeContents.reference(of: bytes), rest: bytes[...])
      log.say("step \(step): device \(device.number) begins to write a content")
    }
  }

  /// Also inside a transaction of the app.
  func writeContent(_ device: SimulatedDevice) throws(FerryError) {
    guard let (record, position) = try bigValue(device) else { return }
    let value = BigBinary(record, position)
    if chance.happens(100) {
      try noteContent(nil, of: record, position, device)
      try value.setNull()
    } else {
      let bytes = contents.make(chance)
      try noteContent(MadeContents.reference(of: bytes), of: record, position, device)
      try value.write(bytes)
      counts.add(.contentWritten)
      log.say(
        "step \(step): device \(device.number) writes a content of \(bytes.count) bytes: "
          + ContentWatch.shown(bytes))
    }
  }

  private func bigValue(
    _ device: SimulatedDevice
  ) throws(FerryError) -> (record: ObjectRecord, position: Int)? {
    let entity = chance.pick([SimulatedBusiness.customer, SimulatedBusiness.order])
    let records = try Records(device.store).all(entity, "ORDER BY _id", [])
    guard !records.isEmpty, let position = entity.bigPositions.first else { return nil }
    let pending = records.filter { $0.pending != .none }
    let record = chance.pick(chance.happens(500) && !pending.isEmpty ? pending : records)
    return (record, position)
  }

  private func goOn(
    _ writing: SimulatedDevice.Writing, _ device: SimulatedDevice
  ) throws(FerryError) {
    if chance.happens(100) {
      device.writing = nil
      writing.writer.discard()
      return
    }
    if !writing.rest.isEmpty {
      let count = 1 + chance.number(below: writing.rest.count)
      // On a full disk some of it may be taken; the rest is tried again.
      let before = writing.writer.position
      defer {
        let taken = Int(writing.writer.position - before)
        device.writing?.rest = writing.rest.dropFirst(taken)
      }
      try writing.writer.write(Array(writing.rest.prefix(count)))
      return
    }
    device.writing = nil
    try noteContent(writing.reference, of: writing.record, writing.position, device)
    try writing.writer.close()
    counts.add(.contentWritten)
    log.say("step \(step): device \(device.number) has written a content")
  }

  private func askForContent(_ device: SimulatedDevice) throws(FerryError) {
    let places = try device.missingContents()
    guard !places.isEmpty else { return }
    ask(device, for: chance.pick(places))
  }

  func ask(_ device: SimulatedDevice, for place: ContentPlace) {
    counts.add(.contentAsked)
    log.say(
      "step \(step): device \(device.number) asks for the content of \(place.entity.name) "
        + "object \(place.object)")
    device.downloads.append(SimulatedDownload(device, place))
  }

  // The way of what is asked for.

  var downloads: [SimulatedDownload] { devices.flatMap(\.downloads) }

  func isReady(_ download: SimulatedDownload) -> Bool {
    guard !hasFaults || step >= download.goesOnAt else { return false }
    guard let awaited = download.awaited else { return true }
    let session = download.device.session
    return session.completedExchanges > awaited
      || session.lastFailure != nil && !session.machine.isExchanging
  }

  func step(_ download: SimulatedDownload) throws {
    let isOver: Bool
    download.device.watch.touch()
    do throws(FerryError) { isOver = try progress(download) } catch {
      isOver = true
      guard error.code != .store || download.device.disk.begun != nil else { throw error }
      log.say("step \(step): device \(download.device.number) is told \(error.message)")
    }
    if isOver { download.device.downloads.removeAll { $0 === download } }
  }

  private func progress(_ download: SimulatedDownload) throws(FerryError) -> Bool {
    guard let request = download.request else { return try begin(download) }
    if hasFaults, chance.happens(40), may(.contentCut) {
      counts.add(.contentCut)
      return try end(download, SimulatedDownload.broken)
    }
    guard server.isRunning, download.serverLife == nil || download.serverLife == server.life else {
      return try end(download, SimulatedDownload.broken)
    }
    guard download.serverLife != nil else {
      download.serverLife = server.life
      try arrive(download, request)
      return false
    }
    guard let place = download.answer, download.offset < download.end else {
      return try end(download, nil)
    }
    // As the host does: a value that is gone by now, or ends too soon, cuts the line.
    let bytes = try? MemoryConnector(business).content(
      place.entity, key: place.key, position: place.position, offset: download.offset,
      count: MadeContents.readBytes)
    guard let bytes, !bytes.isEmpty, mayLeave(place) else {
      return try end(download, SimulatedDownload.broken)
    }
    noteGiven(place.question, to: place.identity)
    let fitting = Array(bytes.prefix(Int(download.end - download.offset)))
    download.offset += Int64(fitting.count)
    let cut = hasFaults ? chance.number(below: fitting.count + 1) : fitting.count
    for piece in [fitting[..<cut], fitting[cut...]] where !piece.isEmpty {
      guard try download.content.received(Array(piece)) else { return try end(download, nil) }
    }
    return false
  }

  /// Asks the download for its next step, as its runner does.
  private func begin(_ download: SimulatedDownload) throws(FerryError) -> Bool {
    if download.awaited != nil {
      download.awaited = nil
      if let failure = download.device.session.lastFailure {
        throw download.content.missing(failure)
      }
    }
    switch try download.content.next() {
    case .done:
      counts.add(.contentDownloaded)
      return true
    case .synchronize:
      download.device.session.requestExchange()
      download.awaited = download.device.session.begunExchanges
    case .send(let request):
      download.content.begin(request)
      download.request = request
    }
    return false
  }

  private func end(_ download: SimulatedDownload, _ failure: FerryError?) throws(FerryError) -> Bool
  {
    download.clear()
    try download.content.ended(failure)
    return false
  }

  /// The server's door, as the router has it.
  private func arrive(_ download: SimulatedDownload, _ request: ContentRequest) throws(FerryError) {
    var headers: HTTPHeaders = [:]
    for (name, value) in request.headers { headers[name] = value }
    let asked = HTTPRequest(
      method: .get, path: "content", query: String(request.path.dropFirst("content?".count)),
      headers: headers)
    guard let question = ContentQuestion(asked) else {
      preconditionFailure("a device asks for \(request.path)")
    }
    do throws(ServerError) {
      let token = asked.bearerToken ?? ""
      let identity = try server.service.accessTokens.verify(token, now: server.clock.now)
      switch try server.service.reference(question, for: identity) {
      case .failure(let no): download.content.received(status: no.status)
      case .success(let (reference, entity, position)):
        noteGiven(question, to: identity)
        download.content.received(status: 206)
        download.answer = SimulatedDownload.Answer(
          entity: entity, key: question.key, position: position, question: question,
          reference: reference, identity: identity)
        download.offset = question.stretch.start
        download.end = question.stretch.end(of: reference.sizeBytes)
      }
    } catch {
      let isDenied = [.revokedToken, .expiredToken, .forgedToken].contains(error.code)
      precondition(isDenied || server.disk.begun != nil, error.message)
      download.content.received(status: isDenied ? 401 : 503)
    }
  }

  /// As the host asks about each piece: between two of them anything may have happened.
  private func mayLeave(_ place: SimulatedDownload.Answer) -> Bool {
    if planted.contains(.pieceUnasked) { return true }
    do throws(ServerError) {
      guard place.identity.expires > server.clock.now else { return false }
      try server.service.check(place.identity)
      return try server.service.mayLeave(place.reference, place.question, to: place.identity)
    } catch {
      return false
    }
  }

  /// Invariant 11: a content is given only to who may see the row that names it, with the rights of
  /// the token or of now.
  func noteGiven(_ question: ContentQuestion, to identity: Identity) {
    let name = RowName(entity: question.entity, key: question.key)
    let rows = oracle.present()
    let rights = [
      users.rights(of: identity.user), SimulatedUsers.rights(ofClaims: identity.claims),
    ]
    let isTheirs = rights.contains { rights in
      rows[name].map { Oracle.isVisible(name, $0, rows, rights, oracle.window) } ?? false
    }
    guard !isTheirs else { return }
    leak = SimulationFailure(
      invariant: 11,
      problem: "the content of \(name) was given to \(identity.user), who may see the agencies "
        + "\(rights[0].sorted())")
  }

  /// Whoever is at rest asks for everything that is not there.
  func downloadAll() throws {
    for device in devices {
      for place in try device.missingContents() { ask(device, for: place) }
    }
  }
}

/// A content that an app has asked for, on its way.
final class SimulatedDownload {
  struct Answer {
    let entity: Entity
    let key: ObjectKey
    let position: Int
    let question: ContentQuestion
    let reference: BigReference
    let identity: Identity
  }

  let device: SimulatedDevice
  var content: ContentDownload
  /// What was asked for last, until it is over.
  var request: ContentRequest?
  var serverLife: Int?
  var answer: Answer?
  var offset: Int64 = 0
  var end: Int64 = 0
  /// Until this step the line is slow.
  var goesOnAt = 0
  /// A later exchange than this must have ended before it goes on.
  var awaited: Int?

  init(_ device: SimulatedDevice, _ place: ContentPlace) {
    self.device = device
    content = ContentDownload(device.session, place)
  }

  func clear() {
    request = nil
    serverLife = nil
    answer = nil
    offset = 0
    end = 0
  }

  static let broken: FerryError = FerryError(
    .offline, "the line broke", hint: "It is tried again.", isTransient: true)
}
