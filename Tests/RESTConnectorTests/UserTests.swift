import FerryConnector
import FerryHTTPClient
import FerryModel
import FerryRESTConnector
import Synchronization
import Testing

/// Changes are sent as the users who made them, or not at all.
@Suite(.timeLimit(.minutes(60)))
struct UserTests {
  /// Some users have a token; the technical user has one of its own.
  private final class Tokens: CredentialSource {
    let users: Mutex<[String: String]>
    init(_ users: [String: String]) { self.users = Mutex(users) }

    func credential(
      for user: String?, insteadOf rejected: Credential?
    ) throws(ConnectorError) -> Credential? {
      let token = user.map { name in users.withLock { $0[name] } } ?? "technical"
      let made = token.map { Credential(.bearer($0)) }
      return made == rejected ? nil : made
    }
  }

  private func update(_ bench: Bench, _ user: String?) -> ConnectorOperation {
    bench.operation(
      .update, Bench.item, 1, [2: .integer(6)], base: [2: .integer(5)], user: user)
  }

  private func senders(_ bench: Bench, _ method: (TransportRequest) -> Bool) -> Set<String> {
    Set(bench.service.requests.filter(method).compactMap { $0.headers["Authorization"] })
  }

  @Test func aChangeIsSentAsItsUserAndRowsAreReadAsTheTechnicalOne() async throws {
    let bench = try Bench([.one], users: Tokens(["anna": "a-1"]))
    guard case .accepted? = await bench.outcomes(update(bench, "anna")).first else {
      Issue.record("it is not accepted")
      return
    }
    #expect(senders(bench) { $0.method != .get } == ["Bearer a-1"])
    #expect(bench.service.requests.last?.headers["Authorization"] == "Bearer technical")
    #expect(bench.service.rows("items")[1]?.amount == 6)
  }

  @Test func aUserWithoutACredentialWaitsAndNothingIsSent() async throws {
    let tokens = Tokens(["anna": "a-1"])
    let bench = try Bench([.one], users: tokens)
    let change = update(bench, "bill")
    #expect(await bench.perform(change) == .waits(for: .credential("bill")))
    #expect(bench.service.requests.isEmpty)
    tokens.users.withLock { $0["bill"] = "b-1" }
    guard case .accepted? = await bench.outcomes(change).first else {
      Issue.record("it is not accepted")
      return
    }
    #expect(senders(bench) { $0.method != .get } == ["Bearer b-1"])
  }

  @Test func aCredentialThatTheServiceDoesNotAcceptMakesItsUserWait() async throws {
    let bench = try Bench([.one], users: Tokens(["anna": "a-1"]))
    bench.service.change {
      $0.readFaults = [.status(401, isDone: false), .status(401, isDone: false)]
    }
    #expect(await bench.perform(update(bench, "anna")) == .waits(for: .credential("anna")))
    #expect(bench.service.writes == 0)
  }

  @Test func aChangeOfNobodyIsSentAsNobody() async throws {
    let bench = try Bench([.one], users: Tokens(["anna": "a-1"]))
    guard case .notDone = await bench.perform(update(bench, nil)) else {
      Issue.record("it is sent")
      return
    }
    #expect(bench.service.requests.isEmpty)
  }
}
