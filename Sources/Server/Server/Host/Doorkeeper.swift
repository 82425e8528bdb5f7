import FerryWorld

/// Asks who someone is, on a thread of its own: a password takes long to verify on purpose.
///
/// `LoginQueue` says whose turn it is, `LoginGuard` who has to wait after wrong passwords. A client
/// that hangs up waits no longer.
package actor Doorkeeper {
  private typealias Outcome = Result<UserRecord, ServerError>

  private struct Waiting {
    let password: String
    /// Nil until the request waits, and its outcome may come before that.
    var continuation: CheckedContinuation<Outcome, Never>?
    var outcome: Outcome?
  }

  private let executor = ThreadExecutor(name: "ferry-passwords")
  nonisolated let provider: any AuthenticationProvider
  nonisolated let tokens: any TokenProvider
  /// What devices get by which they are registered.
  nonisolated let templates: Templates
  /// Which roles of a model a user's roles are.
  nonisolated let roles: RoleMapping
  /// Slows down who sends refresh tokens that are none.
  nonisolated let renewals: RenewalGuard
  /// Passwords that were right a moment ago.
  nonisolated let logins: VerifiedLogins
  private let clock: any WorldClock
  private var loginGuard = LoginGuard()
  private var queue = LoginQueue()
  private var waiting: [LoginQueue.Number: Waiting] = [:]
  private var isWorking = false

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// `provider`: who knows passwords. `tokens`: the issuers whose tokens let users in.
  package init(
    _ provider: any AuthenticationProvider, tokens: any TokenProvider = TokenProviders([]),
    templates: Templates = Templates(), roles: RoleMapping = RoleMapping(), world: World
  ) {
    self.templates = templates
    self.roles = roles
    self.provider = provider
    self.tokens = tokens
    clock = world.clock
    logins = VerifiedLogins(chance: world.chance)
    renewals = RenewalGuard(clock: world.clock)
  }

  /// What a token of an issuer says. Nobody can guess one, so nobody is slowed down.
  nonisolated func login(token: String) async throws(ServerError) -> TokenLogin {
    guard let login = try await tokens.login(token: token, now: clock.now) else {
      throw ServerError(
        .refusedToken, "this server does not accept tokens of the token's issuer",
        hint: "Start ferryd with --issuer and this issuer, or log in with another issuer.")
    }
    return login
  }

  /// Errors: `wrongLogin`; `tooManyGuesses` and `tooManyLogins`, which say when to come again.
  func authenticate(
    _ login: LoginRequest, from address: String
  ) async throws(ServerError) -> UserRecord {
    let attempt = LoginGuard.Attempt(user: login.user, device: login.device, address: address)
    if let end = loginGuard.lockEnd(attempt, now: clock.moment) { throw tooManyGuesses(end) }
    guard case .waits(let number, let other) = queue.add(attempt) else {
      throw Doorkeeper.tooManyLogins
    }
    if let other { finish(other, Result.failure(Doorkeeper.tooManyLogins)) }
    // Known before the first suspension: a task that prefers an executor may leave the actor between
    // these lines, and its turn may come meanwhile.
    waiting[number] = Waiting(password: login.password)
    work()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiting[number]?.continuation = continuation
        if let outcome = waiting[number]?.outcome { finish(number, outcome) }
        if Task.isCancelled { letGo(number) }
      }
    } onCancel: {
      executor.perform { self.assumeIsolated { keeper in keeper.letGo(number) } }
    }
    return try result.get()
  }

  /// Whether an activation code may be tried now. Throws `tooManyGuesses`.
  func mayTry(_ login: LoginRequest, from address: String) throws(ServerError) {
    let attempt = LoginGuard.Attempt(user: login.user, device: login.device, address: address)
    if let end = loginGuard.lockEnd(attempt, now: clock.moment) { throw tooManyGuesses(end) }
  }

  /// An activation code was tried.
  func tried(_ login: LoginRequest, from address: String, isRight: Bool) {
    let attempt = LoginGuard.Attempt(user: login.user, device: login.device, address: address)
    if isRight {
      loginGuard.succeeded(attempt)
    } else {
      loginGuard.failed(attempt, now: clock.moment)
    }
  }

  private func letGo(_ number: LoginQueue.Number) {
    queue.remove(number)
    finish(number, .failure(Doorkeeper.hungUp))
  }

  private func finish(_ number: LoginQueue.Number, _ outcome: Outcome) {
    guard let continuation = waiting[number]?.continuation else {
      waiting[number]?.outcome = outcome
      return
    }
    waiting[number] = nil
    continuation.resume(returning: outcome)
  }

  /// One password at a time; whoever came meanwhile is looked at before the next.
  private func work() {
    guard !isWorking, !queue.isEmpty else { return }
    isWorking = true
    executor.perform { self.assumeIsolated { keeper in keeper.verifyNext() } }
  }

  private func verifyNext() {
    isWorking = false
    if let (number, attempt) = queue.next(loginGuard, now: clock.moment),
      let password = waiting[number]?.password
    {
      finish(number, verify(attempt, password))
    }
    work()
  }

  private func verify(_ attempt: LoginGuard.Attempt, _ password: String) -> Outcome {
    // Those that failed while it waited count too.
    if let end = loginGuard.lockEnd(attempt, now: clock.moment) {
      return .failure(tooManyGuesses(end))
    }
    do throws(ServerError) {
      let record = try provider.authenticate(user: attempt.user.text, password: password)
      loginGuard.succeeded(attempt)
      return .success(record)
    } catch {
      if error.code == .wrongLogin { loginGuard.failed(attempt, now: clock.moment) }
      return .failure(error)
    }
  }

  private func tooManyGuesses(_ end: Timestamp) -> ServerError {
    let seconds = max(1, (end.milliseconds - clock.moment.milliseconds + 999) / 1_000)
    return ServerError(
      .tooManyGuesses, "too many wrong passwords came for this user or from this address",
      hint: "Try again in \(seconds) s.", isTransient: true, retryAfterSeconds: seconds)
  }

  private static let hungUp = ServerError(
    .tooManyLogins, "the client disconnected before its login was checked", hint: "Log in again.",
    isTransient: true)

  private static let tooManyLogins = ServerError(
    .tooManyLogins, "too many logins are waiting", hint: "Try again in a few seconds.",
    isTransient: true)
}
