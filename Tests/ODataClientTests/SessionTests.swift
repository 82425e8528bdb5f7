import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryODataClient
import FerryTestTraits
import Synchronization
import Testing

/// Gives its answers one after the other, and keeps the questions.
final class ScriptedSource: ODataCredentialSource {
  private let state: Mutex<(answers: [ODataCredentials], asked: [ODataCredentialQuestion])>

  init(_ answers: [ODataCredentials]) { state = Mutex((answers, [])) }

  var asked: [ODataCredentialQuestion] { state.withLock { $0.asked } }

  func credentials(for question: ODataCredentialQuestion) async -> ODataCredentials? {
    state.withLock { state in
      state.asked.append(question)
      return state.answers.isEmpty ? nil : state.answers.removeFirst()
    }
  }
}

@Suite("A session with a service")
struct SessionTests {
  static let challenge = [("WWW-Authenticate", #"Basic realm="Sales, north""#)]

  @Test("Without a source of credentials a 401 comes through", .reference("ios/LSN-2", "adr/TLS-4"))
  func noSource() async throws {
    let server = ScriptedService { _, _ in .status(401, "", Self.challenge) }
    let session = ODataSession(SystemTransport.make())
    let answer = try await session.send(ODataRequest(server.root))
    #expect(answer.status == 401)
    #expect(server.lines.count == 1)
  }

  @Test(
    "Credentials given at a challenge are sent again until the next one",
    .reference("ios/REQ-22", "adr/TLS-5"))
  func challenged() async throws {
    let server = ScriptedService { request, number in
      // The third request is asked anew, for another user.
      let wanted = number < 3 ? "Basic YTox" : "Basic YjoyOg=="
      return request.headers["Authorization"] == wanted
        ? .status(200) : .status(401, "", Self.challenge)
    }
    let source = ScriptedSource([
      .basic(user: "a", password: "1"), .basic(user: "b", password: "2:"),
    ])
    var options = ODataSessionOptions()
    options.credentialSource = source
    let session = ODataSession(SystemTransport.make(), options: options)
    for _ in 0..<3 {
      #expect(try await session.send(ODataRequest(server.root)).status == 200)
    }
    #expect(
      server.requests.map { $0.headers["Authorization"] ?? "" }
        == ["", "Basic YTox", "Basic YTox", "Basic YTox", "Basic YjoyOg=="])
    #expect(source.asked.map(\.lastUser) == ["", "a"])
    #expect(source.asked.map(\.realm) == ["Sales, north", "Sales, north"])
    #expect(source.asked.map(\.attempt) == [1, 1])
  }

  @Test("A source that answers nothing ends the request with its 401", .reference("ios/REQ-22"))
  func cancelled() async throws {
    let server = ScriptedService { _, _ in .status(401, "no", Self.challenge) }
    let source = ScriptedSource([.basic(user: "a", password: "wrong")])
    var options = ODataSessionOptions()
    options.credentialSource = source
    let session = ODataSession(SystemTransport.make(), options: options)
    let answer = try await session.send(ODataRequest(server.root))
    #expect(answer.status == 401 && answer.text == "no")
    #expect(source.asked.map(\.attempt) == [1, 2])
    #expect(server.requests.map { $0.headers["Authorization"] } == [nil, "Basic YTp3cm9uZw=="])
  }

  @Test(
    "The realm is empty where the service names none, and the last user is only of this run",
    .reference("adr/TLS-5")
  )
  func noRealm() async throws {
    let server = ScriptedService { request, _ in
      request.headers["Authorization"] == "Basic YTox"
        ? .status(200) : .status(401, "", [("WWW-Authenticate", "Basic")])
    }
    let store = TestStore()
    for _ in 0..<2 {
      let source = ScriptedSource([
        .basic(user: "b", password: "0"), .basic(user: "a", password: "1"),
      ])
      var options = ODataSessionOptions()
      options.credentialSource = source
      options.credentialStore = store
      let session = ODataSession(SystemTransport.make(), options: options)
      #expect(try await session.send(ODataRequest(server.root)).status == 200)
      #expect(source.asked.map(\.realm) == ["", ""])
      #expect(source.asked.map(\.lastUser) == ["", "b"])
      #expect(store.all.keys.map(\.realm) == [""])
      // As if the user had removed it: the next run asks, and knows nobody.
      for space in store.all.keys { await store.remove(space) }
    }
  }

  @Test("After three tries the 401 comes through")
  func threeTries() async throws {
    let server = ScriptedService { _, _ in .status(401, "", Self.challenge) }
    let wrong = ODataCredentials.basic(user: "a", password: "x")
    let source = ScriptedSource([wrong, wrong, wrong, wrong])
    var options = ODataSessionOptions()
    options.credentialSource = source
    let session = ODataSession(SystemTransport.make(), options: options)
    #expect(try await session.send(ODataRequest(server.root)).status == 401)
    #expect(source.asked.map(\.attempt) == [1, 2, 3])
    #expect(server.lines.count == 4)
  }

  @Test(
    "Credentials given before are sent before a challenge only where asked for",
    .reference("ios/REQ-5"))
  func before() async throws {
    for isBefore in [false, true] {
      let server = ScriptedService { request, _ in
        request.headers["Authorization"] == "Bearer t"
          ? .status(200) : .status(401, "", [("WWW-Authenticate", "bearer")])
      }
      var options = ODataSessionOptions()
      #expect(options.presentsCredentialsBeforeChallenge == false)
      options.credentials = .bearer("t")
      options.presentsCredentialsBeforeChallenge = isBefore
      let session = ODataSession(SystemTransport.make(), options: options)
      #expect(try await session.send(ODataRequest(server.root)).status == 200)
      #expect(server.lines.count == (isBefore ? 1 : 2))
    }
  }

  @Test("Credentials and headers of the app do not follow to another origin")
  func otherOrigin() async throws {
    let stranger = ScriptedService { _, _ in .status(200) }
    let location = stranger.root
    let server = ScriptedService { _, _ in .status(302, "", [("Location", location)]) }
    let session = ODataSession(SystemTransport.make())
    let error = await failure { () throws(ODataClientError) in
      _ = try await session.send(ODataRequest(server.root))
    }
    guard case .redirect(let shown) = error?.cause else {
      return #expect(Bool(false), "\(error as Any)")
    }
    #expect(shown == location)
    #expect(stranger.lines.isEmpty)
  }

  @Test("What the app gave for its service goes to no other origin, unless it names it")
  func foreignOrigin() async throws {
    for isNamed in [false, true] {
      let server = ScriptedService { request, _ in
        request.headers["Authorization"] == nil
          ? .status(401, "", Self.challenge) : .status(200, "", [("X-CSRF-Token", "home")])
      }
      let other = ScriptedService { _, _ in .status(401, "", Self.challenge) }
      var options = ODataSessionOptions()
      options.credentials = .basic(user: "a", password: "1")
      options.headers = ["X-Key": "secret"]
      options.usesCSRF = true
      options.presentsCredentialsBeforeChallenge = true
      if isNamed, let origin = HTTPAddress(other.root)?.origin { options.origins = [origin] }
      let session = ODataSession(SystemTransport.make(), options: options)
      #expect(try await session.send(ODataRequest(server.root)).status == 200)
      #expect(try await session.send(ODataRequest(other.root)).status == 401)
      _ = try await session.send(ODataRequest(other.root, method: .post))
      let sent = other.requests.map(\.headers)
      #expect(sent.contains { $0["X-Key"] != nil } == isNamed)
      #expect(sent.contains { $0["Authorization"] != nil } == isNamed)
      #expect(!sent.contains { $0["X-CSRF-Token"] == "home" }, "a token is of its own origin")
    }
  }

  @Test("A redirect is followed for GET within the origin, and never for a change")
  func redirects() async throws {
    let server = ScriptedService { request, _ in
      request.target == "/old" ? .status(307, "", [("Location", "/new")]) : .status(200)
    }
    let session = ODataSession(SystemTransport.make())
    let answer = try await session.send(ODataRequest(server.root + "old"))
    #expect(answer.status == 200)
    #expect(answer.address == server.root + "new")
    let error = await failure { () throws(ODataClientError) in
      _ = try await session.send(ODataRequest(server.root + "old", method: .post))
    }
    guard case .redirect = error?.cause else { return #expect(Bool(false), "\(error as Any)") }
    #expect(server.lines == ["GET /old", "GET /new", "POST /old"])
  }

  @Test("A circle of redirects ends with an error")
  func circle() async throws {
    let server = ScriptedService { request, _ in
      .status(302, "", [("Location", request.target == "/a" ? "/b" : "/a")])
    }
    let session = ODataSession(SystemTransport.make())
    let error = await failure { () throws(ODataClientError) in
      _ = try await session.send(ODataRequest(server.root + "a"))
    }
    guard case .redirect = error?.cause else { return #expect(Bool(false), "\(error as Any)") }
    #expect(server.lines.count <= 4)
  }

  @Test(
    "Headers of the app go with each request, which may set its own",
    .reference("ios/REQ-6", "adr/HDR-2"))
  func headers() async throws {
    let server = ScriptedService { _, _ in .status(200) }
    var options = ODataSessionOptions()
    options.headers = ["X-Requested-With": "XMLHttpRequest", "X-App": "a.1.0"]
    options.language = "de"
    let session = ODataSession(SystemTransport.make(), options: options)
    _ = try await session.send(ODataRequest(server.root))
    _ = try await session.send(ODataRequest(server.root, headers: ["x-app": "b"]))
    let requests = server.requests
    #expect(requests[0].headers.values("X-App") == ["a.1.0"])
    #expect(requests[1].headers.values("X-App") == ["b"])
    #expect(requests.allSatisfy { $0.headers["X-Requested-With"] == "XMLHttpRequest" })
    #expect(requests[0].headers["Accept-Language"] == "de")
    #expect(requests[0].headers["sap-language"] == "de")
  }

  @Test(
    "Each match type sets its own header", .reference("ios/REQ-20"),
    arguments: [
      (ODataETagMatch.ifMatch, "If-Match"), (.ifNoneMatch, "If-None-Match"), (.ifRange, "If-Range"),
    ])
  func matchTypes(_ match: ODataETagMatch, _ name: String) async throws {
    let server = ScriptedService { _, _ in .status(200) }
    var request = ODataRequest(server.root)
    request.setETag("\"1\"", match: match)
    request.setETag("\"2\"", match: match)
    _ = try await ODataSession(SystemTransport.make()).send(request)
    let sent = try #require(server.requests.first?.headers)
    for other in ["If-Match", "If-None-Match", "If-Range"] {
      #expect(sent.values(other) == (other == name ? ["\"2\""] : []))
    }
  }

  @Test("The token is fetched once for 100 writers and sent with each change")
  func token() async throws {
    let server = ScriptedService { request, _ in
      if request.method == "GET" {
        return request.headers["X-CSRF-Token"] == "Fetch"
          ? .status(200, "", [("X-CSRF-Token", "t1")]) : .status(200)
      }
      return request.headers["X-CSRF-Token"] == "t1"
        ? .status(204) : .status(403, "", [("X-CSRF-Token", "Required")])
    }
    var options = ODataSessionOptions()
    #expect(options.usesCSRF == false)
    options.usesCSRF = true
    let session = ODataSession(SystemTransport.make(), options: options)
    let root = server.root
    let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<100 {
        group.addTask {
          try await session.send(ODataRequest(root, method: .post)).status
        }
      }
      return try await group.reduce(into: [Int]()) { $0.append($1) }
    }
    #expect(statuses == Array(repeating: 204, count: 100))
    #expect(server.requests.filter { $0.method == "GET" }.count == 1)
    #expect(server.lines.first == "GET /")
    #expect(server.lines.count == 101)
  }

  @Test("The first GET brings the token; 403 Required fetches another, once")
  func renewed() async throws {
    let server = ScriptedService { request, number in
      if request.method == "GET" {
        return .status(200, "", [("X-CSRF-Token", number == 0 ? "t1" : "t2")])
      }
      return request.headers["X-CSRF-Token"] == "t2"
        ? .status(204) : .status(403, "", [("x-csrf-token", "required")])
    }
    var options = ODataSessionOptions()
    options.usesCSRF = true
    let session = ODataSession(SystemTransport.make(), options: options)
    _ = try await session.send(ODataRequest(server.root))
    let answer = try await session.send(ODataRequest(server.root, method: .delete))
    #expect(answer.status == 204)
    #expect(server.lines == ["GET /", "DELETE /", "GET /", "DELETE /"])
    #expect(
      server.requests.map { $0.headers["X-CSRF-Token"] ?? "" } == ["Fetch", "t1", "Fetch", "t2"])
  }

  @Test("A service that keeps on requiring a token gets two tries, and its 403 comes through")
  func refused() async throws {
    let server = ScriptedService { request, _ in
      request.method == "GET"
        ? .status(200, "", [("X-CSRF-Token", "t")])
        : .status(403, "", [("X-CSRF-Token", "Required")])
    }
    var options = ODataSessionOptions()
    options.usesCSRF = true
    let session = ODataSession(SystemTransport.make(), options: options)
    #expect(try await session.send(ODataRequest(server.root, method: .post)).status == 403)
    #expect(server.lines == ["GET /", "POST /", "GET /", "POST /"])
  }
}
