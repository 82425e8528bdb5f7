import FerryFlights
import FerryJSON
import FerryModel
import FerrySQLite
import FerryStage
import Foundation

/// One round: work while processes are killed, then quiet, then the comparison.
final class KillRound {
  let number: Int
  private let house: KillHouse
  private var dice: Dice
  private var ledger = KillLedger()
  private var changes = 0
  private(set) var problems: [String] = []
  private(set) var tally = KillTally()
  private let work: KillWork
  private let auditStart: Int64
  private let operationStart: Int64
  /// When the round before this one began: what a device that was killed owed from then is told now.
  private let earlier: KillHouse.Mark

  init(_ number: Int, _ house: KillHouse, seed: UInt64) throws {
    self.number = number
    self.house = house
    dice = Dice(state: seed &+ UInt64(number) &* 0x1_0000_0001)
    let connection = house.business
    try KillWork.makeRoom(connection)
    work = try KillWork(number, house.agencies, connection)
    auditStart = try AuditTrail(connection: connection).last()
    operationStart = try house.lastOperation()
    earlier = house.mark(operationStart)
  }

  func run() throws {
    let names = house.names
    var strikes: [Reaper.Strike] = []
    // Now and then without a pause, so that a kill meets a device in the middle of a command.
    let isStorm = dice.below(3) == 0
    let actions = isStorm ? 100 + dice.below(100) : 12 + dice.below(20)
    let reach = isStorm ? actions * 4 + 300 : actions * 20 + 600
    for _ in 0..<(1 + dice.below(3)) {
      let victim = dice.below(house.victims.count)
      strikes.append(
        Reaper.Strike(victim: house.victims[victim], milliseconds: dice.below(reach)))
    }
    house.reaper.arm(strikes)
    for _ in 0..<actions {
      try house.raiseServer(perhaps: dice.below(3) == 0)
      let name = names[dice.below(names.count)]
      act(name, work.next(name, &dice))
      if !isStorm { usleep(UInt32(dice.below(40)) * 1_000) }
    }
    while !house.reaper.isFinished {
      try house.raiseServer(perhaps: true)
      for name in names where (try? house.device(name).submitAll()) == nil { tally.untold += 1 }
      usleep(50_000)
    }
    tally.kills = house.reaper.done.map(\.victim)
    let quiet = ContinuousClock.now
    defer { tally.saved = ledger.saved }
    try comeToRest()
    if problems.isEmpty { try compare() }
    tally.quiet = quiet.duration(to: .now)
  }

  // Work.

  private func token(_ name: String) -> String {
    changes += 1
    return "R\(number)-\(name)-\(changes)"
  }

  /// A device that is killed in the middle leaves open whether its change was saved.
  private func act(_ name: String, _ action: KillWork.Action) {
    do { try perform(name, action) } catch { tally.untold += 1 }
  }

  private func perform(_ name: String, _ action: KillWork.Action) throws {
    let device = try house.device(name)
    switch action {
    case .create(let flight, let agency, let submit):
      try create(device, name, flight, agency, submit: submit)
    case .note(let booking):
      try change(device, name, ObjectKey([.integer(booking)]), .update, "note")
    case .passenger(let booking):
      try change(device, name, ObjectKey([.integer(booking)]), .update, "passenger")
    case .delete(let booking): try change(device, name, ObjectKey([.integer(booking)]), .delete, "")
    case .noteOwn:
      if let own = own(name) { try change(device, name, own.key, .update, "note") }
    case .cancelOwn:
      guard let own = own(name) else { return }
      learn()
      giveUp(own, try device.pending())
      try device.cancel("Bookings", own.key)
      tally.cancelled += 1
    case .submitOwn:
      if let own = own(name) { try device.submit("Bookings", own.key) }
    case .submitAll: try device.submitAll()
    case .outside:
      let bookings = work.open.values.flatMap { $0 }.sorted()
      guard !bookings.isEmpty else { return }
      let token = token("others")
      ledger.allow(token)
      let booking = bookings[dice.below(bookings.count)]
      try house.business.execute(
        #"UPDATE "Bookings" SET "Note" = '\#(token)' WHERE "BookingID" = \#(booking)"#)
      tally.outside += 1
    }
  }

  private func own(_ name: String) -> KillLedger.Object? {
    let mine = ledger.objects.filter { $0.device == name }
    return mine.isEmpty ? nil : mine[dice.below(mine.count)]
  }

  private func create(
    _ device: Device, _ name: String, _ flight: Int64, _ agency: String, submit: Bool
  ) throws {
    let token = token(name)
    let key: ObjectKey
    do {
      key = try device.create(
        "Bookings",
        [
          ("agencyID", .text(agency)), ("flightID", .integer(flight)),
          ("passenger", .text(token)), ("cabin", .text("economy")), ("seats", .integer(1)),
        ])
    } catch {
      ledger.allow(token)
      throw error
    }
    ledger.object(name, key).changes.append(
      KillLedger.Change(
        kind: .create, attribute: "passenger", token: token, isToldSaved: true))
    if submit { try device.submit("Bookings", key) }
  }

  private func change(
    _ device: Device, _ name: String, _ key: ObjectKey, _ kind: OperationKind, _ attribute: String
  ) throws {
    let token = token(name)
    let object = ledger.object(name, key)
    object.changes.append(KillLedger.Change(kind: kind, attribute: attribute, token: token))
    let place = object.changes.count - 1
    if house.plant == .lostAfterCancel,
      object.changes.contains(where: { $0.fate == .takenBack })
    {
      object.changes[place].isToldSaved = true
      return
    }
    if kind == .delete {
      try device.delete("Bookings", key)
    } else {
      try device.update("Bookings", key, [(attribute, .text(token))])
    }
    object.changes[place].isToldSaved = true
  }

  // Quiet.

  /// Submits what waits, deals with what was refused, until nothing is pending any more.
  private func comeToRest() throws {
    let deadline = ContinuousClock.now + ChildProcess.patience
    while true {
      try house.raiseServer(perhaps: true)
      var isQuiet = true
      for name in house.names {
        let pending = try house.ask(name) { try $0.pending() }
        for operation in pending { try settle(name, operation, pending) }
        if pending.contains(where: { $0["state"]?.string == "waiting" }) {
          try house.ask(name) { try $0.submitAll() }
        }
        isQuiet = isQuiet && pending.isEmpty
      }
      // An outcome that nobody knows does not end by waiting.
      if isQuiet || !problems.isEmpty { return }
      guard ContinuousClock.now < deadline else {
        problems.append("\(ChildProcess.patience) were not enough: \(try house.shownPending())")
        return
      }
      usleep(30_000)
    }
  }

  private func settle(_ name: String, _ operation: JSONNode, _ pending: [JSONNode]) throws {
    let key = ObjectKey(text: operation["key"]?.string ?? "")
    let device = try house.device(name)
    switch operation["state"]?.string {
    case "unknown": problems.append("\(name): the outcome of \(key) is unknown")
    case "withdrawn":
      // The app is not told how what it took back has ended: only the server says so.
      if try house.isUnknown(name, operation["id"]?.string ?? "") {
        problems.append("\(name): the outcome of \(key), which was taken back, is unknown")
      }
    case "replayFailed":
      if (operation["logs"]?.integer ?? 0) == 0 {
        problems.append("\(name): \(key) was refused without a reason")
      }
      learn()
      if let object = ledger.find(name, key) { giveUp(object, pending) }
      tally.refused += 1
      try device.cancel("Bookings", key)
    default: break
    }
  }

  /// The app gives up what is pending of an object, and nothing else of it.
  private func giveUp(_ object: KillLedger.Object, _ pending: [JSONNode]) {
    for operation in pending {
      guard let kind = operation["kind"]?.string.flatMap(OperationKind.init(rawValue:)),
        ledger.find(object.device, ObjectKey(text: operation["key"]?.string ?? "")) === object
      else { continue }
      let texts = operation["changed"]?.object?.compactMap(\.value.string) ?? []
      let isRefused = operation["state"]?.string == "replayFailed"
      ledger.giveUp(kind, Set(texts), of: object, as: isRefused ? .refused : .takenBack)
      // The server may have it already, or get it before the device hears the word.
      if !isRefused { object.withdrawn[kind, default: 0] += 1 }
    }
  }

  private func learn() {
    if let trail = try? AuditTrail(connection: house.business).entries(after: auditStart) {
      ledger.learn(trail)
    }
  }

  private func compare() throws {
    problems += try house.differences()
    let trail = try AuditTrail(connection: house.business).entries(after: auditStart)
    tally.effects = trail.count
    ledger.learn(trail)
    try checkCallbacks()
    for name in house.names {
      let refused = try house.answers(name, after: operationStart)
        .filter { !$0.isAccepted && $0.kind == .delete }
        .compactMap { $0.keys.first.flatMap { Int64($0) } }
      ledger.edited(on: name, refused: Dictionary(refused.map { ($0, 1) }, uniquingKeysWith: +))
    }
    problems += ledger.problems(trail)
  }

  /// Every answer that the server gave was told to the app, at least once, and nothing else was.
  private func checkCallbacks() throws {
    // With a planted bug it may never come: the same is reported after a minute.
    let patience = house.plant == nil ? ChildProcess.patience : .seconds(60)
    let deadline = ContinuousClock.now + patience
    var missing: [String] = []
    var invented: [String] = []
    repeat {
      let callbacks = try house.names.map { name in
        let told = house.told(name)
        return KillCallbacks(
          device: name, answers: try house.answers(name, after: operationStart),
          earlier: try house.answers(name, after: earlier.operation, until: operationStart),
          told: told, starts: house.starts(name) - (earlier.starts[name] ?? 0))
      }
      missing = callbacks.flatMap { $0.missing(ledger) }
      invented = callbacks.flatMap { $0.invented() }
      // What is missing may still come; what is too much does not go.
      if missing.isEmpty || !invented.isEmpty { break }
      usleep(50_000)
    } while ContinuousClock.now < deadline
    problems += missing + invented
    for name in house.names {
      tally.accepted += try house.answers(name, after: operationStart).filter(\.isAccepted).count
    }
    house.forgetEvents()
  }
}

/// What came of a round.
struct KillTally {
  var kills: [String] = []
  var saved = 0
  var untold = 0
  var accepted = 0
  var refused = 0
  var cancelled = 0
  var outside = 0
  var effects = 0
  var quiet: Duration = .zero
}
