import FerryHTTP

/// What answers a request about the packages of a server.
typealias PackageDesk = @Sendable (Router, HTTPRequest) async -> HTTPResponse

/// Something that a server answers: where it is, how much of a body it reads, and who may ask.
struct Route: Sendable {
  /// Who may ask, and what answers. Where a user is asked for there is no way around a
  /// `CheckedIdentity`: a token by itself says nothing that can be served.
  enum Access: Sendable {
    /// The body says who asks, or everybody may.
    case anybody(@Sendable (Router, HTTPRequest) async -> HTTPResponse)
    /// Who has a token of a login.
    case user(@Sendable (Router, HTTPRequest, TokenIdentity) async -> HTTPResponse)
    /// Who has the operator's key.
    case keyHolder(@Sendable (Router, HTTPRequest) async -> HTTPResponse)
  }

  /// Nil: any.
  let method: HTTPMethod?
  /// One that ends with a slash has more behind it.
  let path: String
  let bodyBytes: Int
  let access: Access

  init(_ method: HTTPMethod?, _ path: String, bodyBytes: Int, _ access: Access) {
    self.method = method
    self.path = path
    self.bodyBytes = bodyBytes
    self.access = access
  }

  func isMeant(by request: HTTPRequest) -> Bool {
    (method == nil || method == request.method)
      && (path.hasSuffix("/") ? request.path.hasPrefix(path) : request.path == path)
  }

  /// All that a server answers; nothing else is.
  static let all: [Route] = [
    Route(.get, "/health", bodyBytes: 0, .anybody { $0.health($1) }),
    Route(.get, "/metrics", bodyBytes: 0, .keyHolder { router, _ in router.metrics() }),
    Route(.post, "/ferry/1/login", bodyBytes: Router.loginBytes, .anybody { await $0.login($1) }),
    Route(.post, "/ferry/1/token", bodyBytes: Router.loginBytes, .anybody { await $0.renew($1) }),
    Route(
      .post, "/ferry/1/logout", bodyBytes: Router.passwordBytes, .anybody { await $0.logout($1) }),
    Route(
      .post, "/ferry/1/wiped", bodyBytes: Router.passwordBytes, .anybody { await $0.receipt($1) }),
    Route(
      .post, "/ferry/1/exchange", bodyBytes: .max,
      .user { await $0.exchange($1, of: $2, isChannel: false) }),
    Route(
      .post, "/ferry/1/channel", bodyBytes: .max,
      .user { await $0.exchange($1, of: $2, isChannel: true) }),
    Route(.get, "/ferry/1/content", bodyBytes: .max, .user { await $0.give($1, to: $2) }),
    Route(.put, "/ferry/1/content/", bodyBytes: .max, .user { await $0.take($1, from: $2) }),
    Route(
      .post, "/ferry/1/logs", bodyBytes: DeviceUploads.bodyBytes,
      .user { await $0.keep($1, .logs, of: $2) }),
    Route(
      .post, "/ferry/1/traces", bodyBytes: DeviceUploads.bodyBytes,
      .user { await $0.keep($1, .traces, of: $2) }),
    Route(
      nil, "/ferry/1/operator/devices", bodyBytes: Router.loginBytes,
      .keyHolder { await $0.operate($1) }),
    Route(
      nil, "/ferry/1/operator/device", bodyBytes: Router.loginBytes,
      .keyHolder { await $0.operate($1) }),
    Route(
      nil, "/ferry/1/operator/operations", bodyBytes: 0, .keyHolder { await $0.decide($1) }),
    Route(
      nil, "/ferry/1/operator/operation", bodyBytes: Router.loginBytes,
      .keyHolder { await $0.decide($1) }),
    Route(
      nil, "/ferry/1/operator/cache", bodyBytes: Router.loginBytes,
      .keyHolder { await $0.operateCache($1) }),
    Route(
      nil, "/ferry/1/operator/activation", bodyBytes: Router.loginBytes,
      .keyHolder { await $0.operate($1) }),
    Route(
      nil, "/ferry/1/operator/keys", bodyBytes: Router.loginBytes,
      .keyHolder { await $0.operate($1) }),
    Route(
      nil, ServerHost.packagesPath, bodyBytes: ServerHost.deployBytes,
      .keyHolder { router, request in
        await router.desk?(router, request) ?? router.nothing(at: request)
      }),
  ]
}

extension Router {
  /// Judges a request by its head: who has no good token sends no body, and a login is short.
  ///
  /// Any thread; asks no other.
  package func admit(_ request: HTTPRequest) -> HTTPAdmission {
    guard let route = Route.all.first(where: { $0.isMeant(by: request) }) else {
      return .refuse(nothing(at: request))
    }
    switch route.access {
    case .anybody: break
    case .user: if case .failure(let no) = identity(of: request) { return .refuse(no.answer) }
    case .keyHolder: if !isOperator(request) { return .refuse(notOperator) }
    }
    return .take(bodyBytes: route.bodyBytes)
  }

  /// Never throws: what goes wrong is an answer with code, message and hint.
  package func answer(_ request: HTTPRequest) async -> HTTPResponse {
    guard let route = Route.all.first(where: { $0.isMeant(by: request) }) else {
      return nothing(at: request)
    }
    switch route.access {
    case .anybody(let handle): return await handle(self, request)
    case .user(let handle):
      switch identity(of: request) {
      case .failure(let unknown): return unknown.answer
      case .success(let identity): return await handle(self, request, identity)
      }
    case .keyHolder(let handle):
      return isOperator(request) ? await handle(self, request) : notOperator
    }
  }
}
