import FerryConnector
import FerryModel
import FerryWire
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// The server alone under chance: loads, replays and read-backs that overlap in every order,
/// exchanges cut at any piece, restarts, compaction, parents that move.
private final class Storm {
  let bench: Bench
  var devices: [Device] = []
  private var channels: [Exchange?] = [nil, nil, nil]
  private var history: [ObjectName: [[AttributeValue]?]] = [:]
  private var loadRows: [(Entity, [RowImage])] = []
  private var ticket: LoadTicket?
  private var replays: [(ReplayTask, ReplayReport)] = []
  private var read: (ReadBackTask, [RowImage])?
  private var counter: Int64 = 0

  init(seed: UInt64) throws {
    var limits = ServiceLimits()
    limits.pageRows = 5
    limits.roundRows = 8
    limits.tombstonesKept = 3
    limits.firstLoadRows = 7
    limits.massDeletionRows = 3
    bench = try Bench(limits: limits, seed: seed)
    for number in 0..<3 {
      let employees: [Int64] = number == 0 ? [1] : number == 1 ? [1, 2] : [3]
      let identity = Identity(
        user: "user\(number)", device: nil, claims: ["employee": employees.map(String.init)],
        expires: bench.clock.now.advanced(by: .seconds(1_000_000)))
      devices.append(Device(bench, "device\(number)", identity))
    }
    for _ in 0..<30 { change() }
  }

  private func draw(_ count: Int64) -> Int64 { bench.chance.number(in: 0..<count) }

  private func note() {
    for entity in Shop.all {
      var names = Set((bench.business.rows[entity.name] ?? [:]).keys)
      for name in history.keys where name.entity == entity.name { names.insert(name.key) }
      for key in names {
        let name = ObjectName(entity: entity.name, key: key)
        let now = bench.business.rows[entity.name]?[key]
        if history[name] == nil || history[name]?.last != .some(now) {
          history[name, default: [nil]].append(now)
        }
      }
    }
  }

  /// Someone changes the business system; each value is new, so that its place in history is known.
  private func change() {
    counter += 1
    let id = draw(8)
    switch draw(6) {
    case 0: bench.business.put(Shop.product, [.integer(id), .text("v\(counter)")])
    case 1: bench.business.remove(Shop.product, ObjectKey([.integer(id)]))
    case 2: bench.business.put(Shop.order, Shop.order(id, draw(4), "v\(counter)"))
    case 3: bench.business.remove(Shop.order, ObjectKey([.integer(id)]))
    case 4:
      bench.business.put(
        Shop.line,
        [.integer(id), .integer(draw(3)), .text("code \(draw(5))"), .text("v\(counter)")])
    default: bench.business.put(Shop.note, [.integer(draw(5)), .text("code \(draw(5))")])
    }
    note()
  }

  func step() throws {
    switch draw(14) {
    case 0, 1: change()
    case 2, 3: try stepLoad()
    case 4, 5: try stepReplay()
    case 6: try stepRead()
    case 7, 8: try submit()
    case 9, 10: try exchange(cut: draw(3) == 0)
    case 11: try stepChannel()
    case 12 where draw(6) == 0: try restart()
    case 12: bench.clock.advance(2)
    default: if draw(4) == 0 { try bench.service.compact() }
    }
    try checkCache()
  }

  private func stepLoad() throws {
    guard let ticket else {
      self.ticket = try bench.service.beginLoad()
      loadRows = Shop.all.map { ($0, bench.business.images($0)) }
      return
    }
    if !loadRows.isEmpty {
      let (entity, rows) = loadRows.removeFirst()
      try bench.service.stage(ticket, entity, rows)
    } else if case .done = try bench.service.endLoad(ticket) {
      self.ticket = nil
    }
  }

  private func stepReplay() throws {
    if draw(2) == 0, let task = try bench.service.nextReplay() {
      switch draw(8) {
      case 0: bench.business.next = .notDone(reason: "away")
      case 1: bench.business.breaksAfterWork = true
      default: break
      }
      if let report = bench.answer(task.step) { replays.append((task, report)) }
      bench.business.next = nil
      bench.business.breaksAfterWork = false
      note()
    } else if !replays.isEmpty {
      let (task, report) = replays.remove(at: Int(draw(Int64(replays.count))))
      let step = try bench.service.report(task, report)
      if let next = bench.answer(step) { replays.append((task, next)) }
      note()
    }
  }

  private func stepRead() throws {
    if let (task, rows) = read {
      try bench.service.finish(task, rows)
      read = nil
    } else if let task = try bench.service.nextReadBack() {
      read = (task, try bench.business.read(task.entity, keys: task.keys))
    }
  }

  private func submit() throws {
    let device = devices[Int(draw(3))]
    counter += 1
    let id = draw(8)
    let key = ObjectKey([.integer(id)])
    let made: (OperationID, [UInt8])
    switch draw(3) {
    case 0:
      made = bench.operation(
        Shop.product, .create, ObjectKey([.integer(20 + counter)]),
        changed: [0: .integer(20 + counter), 1: .text("v\(counter)")])
    case 1: made = bench.operation(Shop.product, .update, key, changed: [1: .text("v\(counter)")])
    default: made = bench.operation(Shop.order, .update, key, changed: [2: .text("v\(counter)")])
    }
    device.open.append(made.0)
    try take(device, bench.service.exchange(device.body([made.1, made.1]), by: device.identity))
  }

  private func exchange(cut: Bool) throws {
    let number = Int(draw(3))
    let device = devices[number]
    close(number)
    let body = device.body()
    let exchange = bench.service.exchange(body, by: device.identity)
    if cut {
      try device.drain(exchange, atMost: Int(draw(4)))
      bench.service.close(exchange)
    } else {
      try take(device, exchange)
      device.unconfirmed = []
    }
  }

  private func stepChannel() throws {
    let number = Int(draw(3))
    let device = devices[number]
    if let open = channels[number], draw(5) > 0 {
      try device.drain(open, atMost: Int(draw(5)) + 1)
    } else {
      if let open = channels[number] { bench.service.close(open) }
      channels[number] = bench.service.channel(
        device.body(), by: device.identity, until: device.identity.expires)
    }
  }

  /// A second line of the same device throws pages away; that is not followed here.
  private func close(_ number: Int) {
    if let open = channels[number] { bench.service.close(open) }
    channels[number] = nil
  }

  private func take(_ device: Device, _ exchange: Exchange) throws {
    close(try #require(devices.firstIndex { $0 === device }))
    try device.drain(exchange)
    guard device.checkpoint?.unavailable == [] else { return }
    try check(device)
  }

  private func restart() throws {
    ticket = nil
    replays = []
    read = nil
    channels = [nil, nil, nil]
    try bench.restart()
  }

  /// Invariant 4, at a checkpoint that is the present.
  func check(_ device: Device) throws {
    let employees = device.identity.claims["employee"] ?? []
    var expected: [ObjectName: [AttributeValue]] = [:]
    for row in try bench.service.cachedRows() {
      guard let place = row.place,
        place == "sales  " || employees.contains(String(place.split(separator: " ").last ?? ""))
      else { continue }
      expected[row.image] = row.values
    }
    #expect(device.rows.mapValues(\.values) == expected)
  }

  private var places: [ObjectName: Int] = [:]

  /// Invariant 10: the cache never goes back in the business system's history.
  private func checkCache() throws {
    var cached: [ObjectName: [AttributeValue]] = [:]
    for row in try bench.service.cachedRows() { cached[row.image] = row.values }
    for name in Set(cached.keys).union(places.keys) {
      // Notes repeat their values, and a row that is gone looks like one that was never there.
      guard name.entity != "Note", let values = cached[name], let all = history[name],
        let place = all.lastIndex(where: { $0 == values })
      else { continue }
      #expect(place >= places[name] ?? 0, "\(name) went back")
      places[name] = place
    }
  }

  func rest() throws {
    bench.clock.advance(1_000)
    while !replays.isEmpty || read != nil || ticket != nil {
      try stepReplay()
      if read != nil { try stepRead() }
      if ticket != nil { try stepLoad() }
    }
    for _ in 0..<3 {
      // What waited when the server started is performed when its device has named it.
      for device in devices { try device.exchange() }
      try bench.replay()
      try bench.readAgain()
      bench.clock.advance(100)
      try bench.load()
      try bench.readAgain()
    }
    let cached = try bench.service.cachedRows().map { "\($0.image) \($0.values)" }.sorted()
    let real = Shop.all.flatMap { entity in
      bench.business.images(entity).map { image in
        "\(ObjectName(entity: image.entity, key: image.key)) \(image.values ?? [])"
      }
    }.sorted()
    #expect(cached == real)
    #expect(bench.business.performed.values.allSatisfy { $0 == 1 })
    for device in devices {
      try device.exchange()
      try device.exchange()
      try check(device)
      #expect(device.open == [])
    }
  }
}

@Suite struct SeedTests {
  @Test(
    "Under any order of events a checkpoint is the cache, the cache never goes back, and all agree",
    arguments: 1...20 as ClosedRange<UInt64>)
  func storm(seed: UInt64) throws {
    let storm = try Storm(seed: seed)
    for _ in 0..<400 { try storm.step() }
    try storm.rest()
  }
}
