import FerryConnector
import FerryHTTPClient
import FerryTestTraits
import FerryWorld
import Foundation
import Testing

@testable import FerryConnections

@Suite("The access token of a connection", .timeLimit(.minutes(60)))
struct ClientTokensTests {
  private let service = TokenService()
  private let clock = HandClock()
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func tokens() throws -> ClientTokens {
    ClientTokens(
      ClientGrant(
        tokenAddress: "https://tokens.test/token", client: "ferry",
        clientSecret: .file(try folder.write("secret", "s3 cret")), scope: "shop", resource: nil),
      transport: service, clock: clock)
  }

  private func give(_ token: String, seconds: Int? = 300) {
    let life = seconds.map { ", \"expires_in\": \($0)" } ?? ""
    service.state.withLock { $0.body = "{\"access_token\": \"\(token)\"\(life)}" }
  }

  /// On so many threads at a time.
  private func ask(
    _ tokens: ClientTokens, threads: Int = 1, insteadOf rejected: Credential? = nil
  ) async throws -> [Credential?] {
    try await withThrowingTaskGroup(of: Credential?.self) { group in
      for number in 0..<threads {
        group.addTask {
          try await ThreadExecutor(name: "tokens-\(number)").run {
            Result { () throws(ConnectorError) in try tokens.credential(insteadOf: rejected) }
          }.get()
        }
      }
      var found: [Credential?] = []
      for try await one in group { found.append(one) }
      return found
    }
  }

  @Test("It is asked for with the client's name and secret, and kept")
  func asked() async throws {
    let tokens = try tokens()
    #expect(try await ask(tokens)[0]?.kind == .bearer("t-1"))
    #expect(service.form["grant_type"] == "client_credentials" && service.form["scope"] == "shop")
    let header = service.state.withLock { $0.requests[0].headers["Authorization"] }
    #expect(header == "Basic " + Data("ferry:s3%20cret".utf8).base64EncodedString())
    #expect(service.form["client_secret"] == nil)
    _ = try await ask(tokens)
    #expect(service.asked == 1)
  }

  @Test("It is renewed before it ends, once for all who ask meanwhile")
  func renewed() async throws {
    let tokens = try tokens()
    _ = try await ask(tokens)
    clock.move(.seconds(239))
    _ = try await ask(tokens)
    #expect(service.asked == 1)
    clock.move(.seconds(2))
    give("t-2")
    let found = try await ask(tokens, threads: 4)
    #expect(found.allSatisfy { $0?.kind == .bearer("t-2") })
    #expect(service.asked == 2)
  }

  @Test("Of a token of seconds not its last fifth is used, and one without an end stays")
  func short() async throws {
    give("short", seconds: 10)
    let tokens = try tokens()
    _ = try await ask(tokens)
    clock.move(.seconds(7))
    _ = try await ask(tokens)
    #expect(service.asked == 1)
    clock.move(.seconds(2))
    give("long", seconds: nil)
    _ = try await ask(tokens)
    #expect(service.asked == 2)
    clock.move(.seconds(1_000_000))
    _ = try await ask(tokens)
    #expect(service.asked == 2)
  }

  @Test("One that is not accepted is renewed once, and not again and again")
  func rejected() async throws {
    let tokens = try tokens()
    let first = try #require(try await ask(tokens)[0])
    #expect(try await ask(tokens, insteadOf: first)[0] == nil, "it is new")
    clock.move(.seconds(31))
    give("t-2")
    let second = try #require(try await ask(tokens, insteadOf: first)[0])
    #expect(second.kind == .bearer("t-2") && service.asked == 2)
    #expect(try await ask(tokens, insteadOf: second)[0] == nil)
    #expect(service.asked == 2)
  }

  @Test("A service that gives none is a fault of the connection, and is asked again")
  func refused() async throws {
    service.state.withLock {
      $0.status = 401
      $0.body = #"{"error": "invalid_client"}"#
    }
    let tokens = try tokens()
    await #expect(throws: ConnectorError.self) { try await ask(tokens) }
    service.state.withLock { $0.status = 200 }
    give("t-1")
    #expect(try await ask(tokens)[0]?.kind == .bearer("t-1"))
  }
}
