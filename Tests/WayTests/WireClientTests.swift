import FerryJSON
import FerryModel
import FerrySQLite
import Foundation
import Synchronization
import Testing

/// `wire-client.py` as a process of its own: a client that was written from Wire.md alone. Commands
/// go one after the other.
final class Stranger: Sendable {
  private let process: ChildProcess
  private let answered = Mutex<Int>(0)

  convenience init(_ business: Business, _ daemon: Daemon) throws {
    try self.init(port: daemon.port, model: business.model)
  }

  init(port: Int, model: String) throws {
    let script = "\(Programs.root)/Tests/Fixtures/wire-client.py"
    process = try ChildProcess(
      "/usr/bin/env", ["python3", "-B", script, "127.0.0.1", String(port), model])
  }

  /// Logs in and imports what nancy may have.
  static func begin(_ business: Business, _ daemon: Daemon) async throws -> Stranger {
    let stranger = try Stranger(business, daemon)
    try await stranger.take(#"["login","nancy","\#(Business.password)"]"#)
    return stranger
  }

  /// One command and its answer.
  func ask(_ command: String) async throws -> JSONNode {
    let number = answered.withLock { count -> Int in
      count += 1
      return count
    }
    try process.type(command)
    let line = try await poll("the client answers \(command)") { () -> String? in
      if process.lines.count >= number { return process.lines[number - 1] }
      guard process.isRunning else { throw WayFailure("the client ended: \(process.errorText)") }
      return nil
    }
    return try JSONNode.parse(Array(line.utf8))
  }

  /// One that must succeed.
  @discardableResult
  func take(_ command: String) async throws -> JSONNode {
    let answer = try await ask(command)
    guard answer["ok"]?.boolean == true else { throw WayFailure("\(command): \(answer)") }
    return answer
  }

  /// Fixes the operations of a transaction; gives their ids. The last `held` are not sent yet.
  func change(_ operations: String..., held: Int = 0) async throws -> [String] {
    let list = operations.joined(separator: ",")
    return try await take(#"["transaction",[\#(list)],\#(held)]"#)["result"]?.array?
      .compactMap(\.string) ?? []
  }

  /// Waits for the answers to these operations.
  func answers(_ ids: [String]) async throws -> [JSONNode] {
    let list = ids.map { "\"\($0)\"" }.joined(separator: ",")
    return try await take(#"["answered",[\#(list)]]"#)["result"]?.array ?? []
  }

  func perform(_ operations: String...) async throws -> [JSONNode] {
    let list = operations.joined(separator: ",")
    let answer = try await take(#"["transaction",[\#(list)],0]"#)
    try await take(#"["send"]"#)
    return try await answers(answer["result"]?.array?.compactMap(\.string) ?? [])
  }

  /// How often something happened to it.
  func count(_ name: String) async throws -> Int64 {
    try await take(#"["states"]"#)["counts"]?[name]?.integer ?? -1
  }

  func rows() async throws -> Rows {
    var rows: Rows = [:]
    for entity in try await take(#"["dump"]"#)["result"]?.object ?? [] {
      rows[entity.key] = [:]
      for row in entity.value.object ?? [] { rows[entity.key]?[row.key] = row.value.string }
    }
    return rows
  }
}

extension Way {
  @Suite struct WireClientTests {
    @Test("A client written from Wire.md alone holds what the business holds, at each step")
    func circle() async throws {
      let (business, _) = try await Business.northwind()
      var daemon = try await Daemon.start(business)
      try await daemon.ready()
      let client = try Stranger(business, daemon)
      let wrong = try await client.ask(#"["login","nancy","wrong"]"#)
      #expect(wrong["refused"]?["code"]?.string == "wrongLogin")
      try await client.take(#"["login","nancy","\#(Business.password)"]"#)
      try await client.take(#"["synchronize"]"#)
      #expect(try await client.count("sums") > 0)
      try await agree(business, client)
      try await newOrder(business, client)
      try await refusals(business, client)
      try await cut(business, daemon, client)
      try await channel(business, &daemon, client)
      try await agree(business, try await imported(business, daemon))
    }

    /// A new order and its lines are one chain, of which a part comes later.
    private func newOrder(_ business: Business, _ client: Stranger) async throws {
      let ids = try await client.change(
        create(#"{"customerID":"VINET","employeeID":5,"shipCity":"Kiel"}"#), line(11), line(42),
        held: 1)
      try await client.take(#"["send"]"#)
      // Another chain, which arrives later, is performed meanwhile.
      let key = try order(business)
      let other = try await client.perform(update(key, #"{"shipCity":"Lübeck"}"#))
      #expect(other.map { $0["method"]?.string } == ["replayResult"])
      #expect(try business.value("SELECT count(*) FROM Orders WHERE ShipCity = 'Kiel'") == 0)
      let states = try await client.take(#"["states"]"#)["result"]
      #expect(ids.map { states?[$0]?.string } == ["stored", "stored", "waiting"])
      try await client.take(#"["release"]"#)
      // A token that the server does not take is renewed once.
      try await client.take(#"["spoil"]"#)
      try await client.take(#"["send"]"#)
      #expect(try await client.count("renewed") == 1)
      let answers = try await client.answers(ids)
      #expect(answers.allSatisfy { $0["method"]?.string == "replayResult" })
      let made = try business.value("SELECT OrderID FROM Orders WHERE ShipCity = 'Kiel'")
      #expect(answers.map { $0["newKey"]?.string } == ["\(made)", "\(made),11", "\(made),42"])
      let lines = "SELECT count(*) FROM [Order Details] WHERE OrderID = \(made)"
      #expect(try business.value(lines) == 2)
      try await agree(business, client)
    }

    private func refusals(_ business: Business, _ client: Stranger) async throws {
      let key = try order(business)
      try business.run("UPDATE Orders SET ShipCity = 'Rostock' WHERE OrderID = \(key)")
      let late = try await client.perform(update(key, #"{"shipCity":"Wismar"}"#))
      let record = late.first?["log"]?.array?.first
      #expect(late.first?["method"]?.string == "replayFailed")
      #expect(record?["code"]?.integer == 412 && record?["attribute"]?.string == "shipCity")
      #expect(record?["baseValue"]?.string == "Lübeck")
      #expect(record?["currentValue"]?.string == "Rostock")
      try await client.take(#"["until","Orders","\#(key)","Rostock"]"#)
      // The second of a chain breaks a rule: the first is not tried.
      let both = try await client.perform(
        update(key, #"{"shipCity":"Wismar"}"#),
        create(#"{"customerID":"NOONE","employeeID":5}"#))
      #expect(both.map { $0["method"]?.string } == ["notTried", "replayFailed"])
      #expect(both.last?["log"]?.array?.first?["code"]?.integer == 412)
      // What belongs to another employee is not the user's to make.
      let foreign = try await client.perform(create(#"{"employeeID":1}"#))
      #expect(foreign.first?["log"]?.array?.first?["code"]?.integer == 403)
      #expect(try business.value("SELECT count(*) FROM Orders WHERE ShipCity = 'Wismar'") == 0)
      try await agree(business, client)
    }

    /// Requests whose answers are lost, whole or in part, are made again.
    private func cut(_ business: Business, _ daemon: Daemon, _ client: Stranger) async throws {
      let applied = try business.value("SELECT count(*) FROM ferry_applied")
      let ids = try await client.change(
        create(#"{"customerID":"VINET","employeeID":5,"shipCity":"Mo i Rana"}"#))
      for limit in [0, 7, 90] { try await client.take(#"["cut",\#(limit)]"#) }
      #expect(try await client.answers(ids).map { $0["method"]?.string } == ["replayResult"])
      #expect(try business.value("SELECT count(*) FROM ferry_applied") == applied + 1)
      let made = "SELECT count(*) FROM Orders WHERE ShipCity = 'Mo i Rana'"
      #expect(try business.value(made) == 1)
      try await agree(business, client)
      let second = try await Stranger.begin(business, daemon)
      for limit in [0, 3, 200, 700, 1_500] { try await second.take(#"["cut",\#(limit)]"#) }
      try await second.take(#"["synchronize"]"#)
      try await agree(business, second)
    }

    /// Changes come by an open channel, and again after the server was killed under it.
    private func channel(
      _ business: Business, _ daemon: inout Daemon, _ client: Stranger
    ) async throws {
      let key = try order(business)
      let opened = try await client.count("opened")
      try await client.take(#"["stay"]"#)
      try business.run("UPDATE Orders SET ShipCity = 'Bergen' WHERE OrderID = \(key)")
      try await client.take(#"["until","Orders","\#(key)","Bergen"]"#)
      let own = try await client.perform(update(key, #"{"shipCity":"Oslo"}"#))
      #expect(own.map { $0["method"]?.string } == ["replayResult"])
      #expect(try await client.count("opened") == opened + 1)
      try await agree(business, client)
      try await daemon.stopNow()
      try business.run("UPDATE Orders SET ShipCity = 'Bodø' WHERE OrderID = \(key)")
      daemon = try await Daemon.start(business, port: daemon.port)
      try await client.take(#"["until","Orders","\#(key)","Bodø"]"#)
      #expect(try await client.count("opened") > opened + 1)
      try await agree(business, client)
      // One that moves to another employee leaves, with its lines.
      try business.run("UPDATE Orders SET EmployeeID = 1 WHERE OrderID = \(key)")
      try await client.take(#"["until","Orders","\#(key)",null]"#)
      try await agree(business, client)
    }

    private func imported(_ business: Business, _ daemon: Daemon) async throws -> Stranger {
      let client = try await Stranger.begin(business, daemon)
      try await client.take(#"["synchronize"]"#)
      return client
    }

    /// The client has the rows of employee 5, and each has the business database's text.
    private func agree(_ business: Business, _ client: Stranger) async throws {
      let mine = Set(
        try business.connection().rows("SELECT OrderID FROM Orders WHERE EmployeeID = 5")
          .compactMap { $0[0].integer })
      var expected: Rows = [:]
      for (name, rows) in try business.rows() {
        guard let entity = business.package.entity(named: name),
          let position = entity.position(of: "orderID"), name.hasPrefix("Order")
        else {
          expected[name] = rows
          continue
        }
        let types = entity.attributes.map(\.type)
        expected[name] = try rows.filter { _, text in
          let values = try RowCoder.decode(Array(text.utf8), types: types)
          guard case .integer(let order) = values[position] else { return false }
          return mine.contains(order)
        }
      }
      let actual = try await client.rows()
      #expect(expected["Orders"]?.isEmpty == false)
      for (name, rows) in expected where actual[name] != rows {
        Issue.record("the client's \(name) are \(actual[name] ?? [:]), not \(rows)")
      }
    }

    /// The first order of employee 5.
    private func order(_ business: Business) throws -> Int64 {
      try business.value("SELECT min(OrderID) FROM Orders WHERE EmployeeID = 5")
    }

    private func update(_ key: Int64, _ values: String) -> String {
      #"{"operation":"update","entity":"Orders","key":"\#(key)","values":\#(values)}"#
    }

    /// A new order, which others of its chain name `$order`.
    private func create(_ values: String) -> String {
      #"{"operation":"create","entity":"Orders","as":"order","values":\#(values)}"#
    }

    /// A line of the new order.
    private func line(_ product: Int) -> String {
      """
      {"operation":"create","entity":"OrderDetails","values":{"orderID":"$order",\
      "productID":\(product),"unitPrice":"14.5","quantity":2,"discount":0.25}}
      """
    }
  }
}
