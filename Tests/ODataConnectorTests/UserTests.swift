import FerryConnector
import FerryHTTP
import FerryHTTPClient
import FerryModel
import FerryODataConnector
import FerryWorld
import Synchronization
import Testing

/// The fake service behind a login: each token is a user's, and what users do is noted.
private final class GuardedService: Transport {
  let service = FakeService()
  private let state = Mutex(State())

  struct State {
    /// The user of each token that is accepted.
    var users: [String: String] = ["t-ferry": "ferry"]
    /// Who changed something, or tried to.
    var writers: [String] = []
    var readers: Set<String> = []
    var strangers = 0
  }

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
  var writers: [String] { state.withLock { $0.writers } }
  var readers: Set<String> { state.withLock { $0.readers } }
  var strangers: Int { state.withLock { $0.strangers } }

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    let token = (request.headers["Authorization"] ?? "").replacing("Bearer ", with: "")
    let user = state.withLock { state -> String? in
      guard let user = state.users[token] else {
        state.strangers += 1
        return nil
      }
      if request.method == .get {
        state.readers.insert(user)
      } else {
        state.writers.append(user)
      }
      return user
    }
    guard user != nil else {
      return TransportResponse(status: 401, headers: [:], body: NoBody())
    }
    return try await service.send(request)
  }
}

private final class NoBody: TransportBody {
  func next() async throws(TransportError) -> [UInt8]? { nil }
  func cancel() {}
}

/// Tokens of users, as a test gives them.
private final class Tokens: CredentialSource {
  private let tokens: Mutex<[String: String]>
  init(_ tokens: [String: String]) { self.tokens = Mutex(tokens) }
  func set(_ user: String, _ token: String?) { tokens.withLock { $0[user] = token } }

  func credential(
    for user: String?, insteadOf rejected: Credential?
  ) throws(ConnectorError) -> Credential? {
    let found = tokens.withLock { $0[user ?? "ferry"] }.map { Credential(.bearer($0)) }
    return found == rejected ? nil : found
  }
}

@Suite("A service that is written to as the user")
struct UserTests {
  private let service = GuardedService()
  private let tokens = Tokens(["ferry": "t-ferry", "anna": "t-anna"])
  private let connection: ODataConnection
  private let thread = ThreadExecutor(name: "connector")

  init() {
    service.change { $0.users["t-anna"] = "anna" }
    service.service.change { $0.items[1] = FakeService.Row(id: 1, name: "tea", amount: 5) }
    connection = ODataConnection(
      FakeService.root, world: World(clock: HandClock(), chance: NoChance(), log: SilentLog()),
      credentials: tokens, sendsAsUser: true, transport: service)
  }

  private func update(
    _ user: String?, to amount: Int64, from base: Int64
  ) throws
    -> ConnectorOperation
  {
    let number = String(amount, radix: 16)
    let id = try #require(
      OperationID(String(repeating: "0", count: 32 - number.count) + number))
    return ConnectorOperation(
      id: id, entity: Bench.item, kind: .update, key: ObjectKey([.integer(1)]),
      changed: [2: .integer(amount)], base: [2: .integer(base)], user: user)
  }

  private func ask<Value: Sendable>(
    _ body: @escaping @Sendable (ODataConnector) -> Value
  ) async -> Value {
    let connection = connection
    return await withCheckedContinuation { continuation in
      thread.perform {
        continuation.resume(
          returning: body(ODataConnector(connection, package: Bench.package)))
      }
    }
  }

  private func perform(_ operation: ConnectorOperation) async -> PerformResult {
    await ask { $0.perform([operation]) }
  }

  @Test("A change is sent as its user, and rows are read as the technical user")
  func sent() async throws {
    let result = await perform(try update("anna", to: 6, from: 5))
    guard case .done(let outcomes, let touched) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(outcomes == [.accepted(key: ObjectKey([.integer(1)]))])
    #expect(touched.first?.values?[2] == .integer(6))
    #expect(Set(service.writers) == ["anna"])
    #expect(service.readers.contains("ferry"))
    _ = try await ask { connector in
      Result { () throws(ConnectorError) in
        try connector.read(Bench.item, keys: [ObjectKey([.integer(1)])])
      }
    }.get()
    #expect(Set(service.writers) == ["anna"])
  }

  @Test("A user without a credential waits, and nothing is sent as anybody")
  func waits() async throws {
    let operation = try update("bill", to: 6, from: 5)
    #expect(await perform(operation) == .waits(for: .credential("bill")))
    #expect(service.writers.isEmpty && service.service.items[1]?.amount == 5)
    tokens.set("bill", "t-bill")
    #expect(await perform(operation) == .waits(for: .credential("bill")), "nobody lets bill in")
    service.change { $0.users["t-bill"] = "bill" }
    guard case .done = await perform(operation) else {
      Issue.record("it waits for what is there")
      return
    }
    #expect(Set(service.writers) == ["bill"] && service.service.items[1]?.amount == 6)
  }

  @Test("A token that has ended is renewed once, and another one begins another session")
  func renewed() async throws {
    guard case .done = await perform(try update("anna", to: 6, from: 5)) else {
      Issue.record("not done")
      return
    }
    service.change { state in
      state.users["t-anna"] = nil
      state.users["t-new"] = "anna"
    }
    #expect(await perform(try update("anna", to: 7, from: 6)) == .waits(for: .credential("anna")))
    tokens.set("anna", "t-new")
    guard case .done = await perform(try update("anna", to: 7, from: 6)) else {
      Issue.record("not done with the new token")
      return
    }
    #expect(service.service.items[1]?.amount == 7 && Set(service.writers) == ["anna"])
  }

  @Test("Where nobody knows whose a change is, it is sent as nobody")
  func nobody() async throws {
    guard case .notDone = await perform(try update(nil, to: 6, from: 5)) else {
      Issue.record("it was sent")
      return
    }
    #expect(service.writers.isEmpty)
  }

  @Test(
    "An operator's proof changes nothing: a service that heeds conditions, and one that does not")
  func proof() async throws {
    let key = ObjectKey([.integer(1)])
    func prove() async throws -> ConditionProof {
      try await ask { connector in
        Result { () throws(ConnectorError) in
          try connector.proveConditions(of: Bench.item, key: key)
        }
      }.get()
    }
    let before = service.service.items[1]
    #expect(await ask { $0.abilities(of: Bench.item).conditionalWrites } == false)
    #expect(try await prove() == .heeded)
    #expect(await ask { $0.abilities(of: Bench.item).conditionalWrites })
    #expect(service.service.items[1] == before)
    service.service.change { $0.heedsConditions = false }
    #expect(try await prove() == .ignored)
    #expect(await ask { $0.areConditionsHeeded(by: Bench.item) } == false)
    #expect(service.service.items[1]?.amount == before?.amount)
    #expect(service.service.items[1]?.name == before?.name)
  }
}
