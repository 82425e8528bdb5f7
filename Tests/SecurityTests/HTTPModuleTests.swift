import FerryHTTP
import FerryHTTPClient
import FerryHTTPServer
import FerryServer
import FerryTestSupport
import FerryTestTraits
import Foundation
import Synchronization
import Testing

@testable import FerrySecurity

@Suite("A service of HTTP that verifies logins", .reference("facts/2.9"))
struct HTTPModuleTests {
  /// Answers by the path, and only to anna with her password.
  private final class Service: Sendable {
    let server: HTTPServer
    private let hasEnded = Mutex(false)

    init() throws {
      server = try HTTPServer { request in
        let isAnna = request.headers["Authorization"] == "Basic YW5uYTpzZWNyZXQ="
        var response = HTTPResponse.text(isAnna ? 200 : 401, "")
        switch request.path {
        case "/roles": response.headers["X-Roles"] = "sales, clerk ,,"
        case "/cookie":
          response = HTTPResponse.text(isAnna ? 403 : 200, "")
          response.headers.add("Set-Cookie", isAnna ? "MYSAPSSO2=abc; Path=/" : "OTHER=abc")
        case "/taken":
          response = HTTPResponse.text(404, "")
          response.headers.add("Set-Cookie", "MYSAPSSO2=; Max-Age=0")
        case "/broken": response = HTTPResponse.text(503, "")
        case "/moved":
          response = HTTPResponse.text(302, "")
          response.headers["Location"] = "/roles"
        default: break
        }
        return response
      }
      try server.start()
      let thread = Thread { [self] in
        server.run()
        hasEnded.withLock { $0 = true }
      }
      thread.start()
    }

    func stop() {
      server.stop(grace: .milliseconds(100))
      let patience = Patience()
      while !hasEnded.withLock({ $0 }), patience.lasts() {}
    }
  }

  private static func judge(
    _ port: Int, _ path: String, _ user: String = "anna", _ password: String = "secret",
    _ change: (inout HTTPModule.Settings) -> Void = { _ in }
  ) async -> LoginOutcome {
    var settings = HTTPModule.Settings(address: "http://127.0.0.1:\(port)\(path)")
    settings.deadline = .seconds(300)
    change(&settings)
    let module = HTTPModule(settings, transport: CurlTransport(TransportOptions()))
    // It blocks, as on the thread of a server that verifies passwords.
    return await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(returning: module.judge(user: user, password: password))
      }
    }
  }

  @Test("A status lets in, a cookie whatever the status, and a field has the roles")
  func answers() async throws {
    let service = try Service()
    let port = service.server.boundPort
    let roles = await Self.judge(port, "/roles") { $0.rolesField = "X-Roles" }
    #expect(roles == .accepted(UserRecord(name: "anna", roles: ["sales", "clerk"])))
    #expect(await Self.judge(port, "/") == .accepted(UserRecord(name: "anna")))
    let cookie = await Self.judge(port, "/cookie") { $0.cookie = "MYSAPSSO2" }
    #expect(cookie == .accepted(UserRecord(name: "anna")))
    for (path, cookie) in [("/cookie", nil), ("/cookie", "OTHER"), ("/taken", "MYSAPSSO2")] {
      let outcome = await Self.judge(port, path) { $0.cookie = cookie }
      guard case .refused = outcome else {
        Issue.record("\(path): \(outcome)")
        continue
      }
    }
    for (user, password) in [("anna", "wrong"), ("berta", "secret"), ("", "x"), ("an:na", "x")] {
      guard case .refused = await Self.judge(port, "/", user, password) else {
        Issue.record("\(user)")
        continue
      }
    }
    // A redirect leads to another place, and is not followed.
    guard case .refused = await Self.judge(port, "/moved") else {
      Issue.record("a redirect let in")
      return
    }
    #expect(
      await Self.judge(port, "/moved") { $0.successStatus = 302 }
        == .accepted(UserRecord(name: "anna")))
    guard case .away = await Self.judge(port, "/broken") else {
      Issue.record("a broken service refused")
      return
    }
    service.stop()
    guard case .away = await Self.judge(port, "/") else {
      Issue.record("a service that is away refused")
      return
    }
  }
}

@Suite("Texts of a directory")
struct DirectoryTextTests {
  @Test("Nothing in a name ends or widens a filter")
  func escaped() {
    #expect(DirectoryText.escaped("anna") == "anna" && DirectoryText.escaped("änna") == "änna")
    #expect(DirectoryText.escaped("*)(uid=*") == "\\2a\\29\\28uid=\\2a")
    #expect(DirectoryText.escaped("a\\b\0\n") == "a\\5cb\\00\\0a")
  }

  @Test("Without name or password nobody is asked")
  func empty() {
    let module = DirectoryModule(.init(servers: ["ldap://127.0.0.1:1"], base: "dc=x"))
    for (user, password) in [("anna", ""), ("", "x"), ("an\0na", "x"), ("anna", "x\0")] {
      guard case .refused = module.judge(user: user, password: password) else {
        Issue.record("\(user) \(password)")
        continue
      }
    }
    guard case .away = module.judge(user: "anna", password: "x") else {
      Issue.record("a directory that is away refused")
      return
    }
  }
}
