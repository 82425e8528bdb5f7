import Ferry
import FerryModel
import FerryServer
import FerryWire

/// A client that does not keep to the rules, with a good token: an app of somebody else's, or one
/// that is broken.
extension Simulation {
  /// It sends operations that make no sense, some under ids that are known.
  func sendNonsense(as device: SimulatedDevice) throws {
    guard device.isRunning, let token = try device.setting(.accessToken),
      let id = try device.setting(.device)
    else { return }
    counts.add(.nonsenseSent)
    if chance.happens(300) { try askForAnyContent(token) }
    let hello = Hello(
      server: nil, package: SimulatedBusiness.package.id, device: id, incarnation: "strange",
      groups: [], partitions: [], open: [])
    var operations = (0..<(2 + chance.number(below: 4))).map { _ in nonsense() }
    if chance.happens(150) { operations.append(Array("no operation".utf8)) }
    if chance.happens(400) { operations += spoiltGroup() }
    let messages: [Message] = [
      .hello(hello), .replay(Replay(operations: operations, mayHaveRun: [])),
    ]
    let request = Transfer.Request(
      exchange: messages.flatMap { $0.frame.encoded() }, token: token)
    log.say("step \(step): nonsense is sent with the token of device \(device.number)")
    transfers.append(
      Transfer(device: device, program: 0, request: request, isGhost: true, isStrange: true))
  }

  private func nonsense() -> [UInt8] {
    var id = OperationID(hexadecimal(of: chance))
    if chance.happens(700), let known = knownID() { id = known }
    guard let id else { return [] }
    // Nothing but an id.
    if chance.happens(150) { return Array(#"{"id":"\#(id.text)","operation":"steal"}"#.utf8) }
    if chance.happens(400) { return creatingUnderChosenKey() }
    var changed: [Int: AttributeValue] = [0: .text("X")]
    // More than an operation may have.
    if chance.happens(30) {
      changed[1] = .text(String(repeating: "x", count: WireLimits.operationBytes))
    }
    return Operation(
      id: id, chain: id, position: 0, count: 1, entity: "Nothing", kind: .create, key: nil,
      changed: changed, base: [:]
    ).encoded(for: SimulatedBusiness.customer)
  }

  /// An order with a key that the business system has not given and would give some day.
  private func creatingUnderChosenKey(
    in chain: OperationID? = nil, position: Int = 0, count: Int = 1
  ) -> [UInt8] {
    let name = SimulatedBusiness.name(ofAgency: chance.pick(SimulatedBusiness.agencies))
    let number = Int64(5_000 + chance.number(below: 1_000))
    guard let id = OperationID(hexadecimal(of: chance)) else { return [] }
    ledger.choosing.insert(id)
    return Operation(
      id: id, chain: chain ?? id, position: position, count: count, entity: "Order", kind: .create,
      key: ObjectKey([.integer(number)]), changed: [1: .text(name), 3: .integer(1)], base: [:]
    ).encoded(for: SimulatedBusiness.order)
  }

  /// A group of two in which a customer could well be made, and an order could not.
  private func spoiltGroup() -> [[UInt8]] {
    guard let id = OperationID(hexadecimal(of: chance)) else { return [] }
    ledger.spoilt.insert(id)
    let code = "X\(chance.number(below: 100_000))"
    let good = Operation(
      id: id, chain: id, position: 0, count: 2, entity: "Customer", kind: .create,
      key: ObjectKey([.text(code)]), changed: [0: .text(code), 1: .text("strange")], base: [:]
    ).encoded(for: SimulatedBusiness.customer)
    let bad = creatingUnderChosenKey(in: id, position: 1, count: 2)
    return chance.happens(500) ? [good, bad] : [bad, good]
  }

  /// The photo of any order that there is, whosever it may be.
  private func askForAnyContent(_ token: String) throws {
    let orders = business.rows(of: "Order").filter { !$0.value[5].isNull }.keys
      .sorted { $0.text < $1.text }
    guard !orders.isEmpty else { return }
    let question = ContentQuestion(
      entity: "Order", key: chance.pick(orders), attribute: "photo", wanted: nil,
      stretch: ContentStretch(start: 0))
    try withServer {
      guard let identity = try? server.service.accessTokens.verify(token, now: server.clock.now)
      else { return }
      if case .success = try server.service.reference(question, for: identity) {
        noteGiven(question, to: identity)
      }
    }
  }

  /// An id that devices use: of every kind of outcome, or of none yet, as often as of another.
  private func knownID() -> OperationID? {
    let outcomes: [Answer.Outcome?] = [.replayResult, .replayFailed, .notTried, .unknown, nil]
    let outcome = chance.pick(outcomes)
    let known = ledger.births.keys.filter { id in
      outcome.map { ledger.outcomes(of: id).contains($0) } ?? ledger.outcomes(of: id).isEmpty
    }.sorted { $0.text < $1.text }
    return known.isEmpty ? nil : chance.pick(known)
  }

  private func hexadecimal(of chance: SeededChance) -> String {
    [chance.next(), chance.next()].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
