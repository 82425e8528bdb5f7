public import Ferry
import FerryHTTP
public import FerryHTTPClient
public import FerryWorld

/// How a user proves to the issuer who they are.
public enum OpenIDLogin: Sendable {
  /// On a page of the issuer, in the system's browser.
  case browser(any LoginBrowser)
  /// On another device, with a code that is shown here.
  case deviceCode(any DeviceCodePrompt)
}

/// Tokens of a company's issuer: Entra ID, Keycloak, or another that speaks OpenID Connect.
///
/// Give it to a connection profile:
///
/// ```swift
/// let tokens = OpenIDTokens(
///   issuer: "https://login.example.com/acme", app: OpenIDApp(clientID: "sales"),
///   login: .browser(browser), secrets: FileSecrets(folder: folder))
/// profile.tokenSource = tokens
/// try await database.onlineLogin()
/// ```
///
/// The first login shows a page or a code. Afterwards tokens are renewed without the user, also after
/// a start of the app: the issuer's refresh token is in `secrets`. Any number of tasks may ask at
/// once; the issuer is asked once.
public actor OpenIDTokens: TokenSource {
  private let issuer: String
  private let app: OpenIDApp
  private let login: OpenIDLogin
  private let secrets: any SecretStore
  private let secretName: String
  private let transport: any Transport
  private let world: World
  private var provider: OpenIDProvider?
  private var fresh: (token: String, end: Timestamp)?
  /// In memory where the secrets could not be written.
  private var unwritten: String?
  private var renewing: Task<Result<String, OpenIDError>, Never>?
  private var loggingIn: Task<Result<String, OpenIDError>, Never>?

  /// `name` separates the secrets of several users. `transport` must trust the issuer.
  public init(
    issuer: String, app: OpenIDApp, login: OpenIDLogin, secrets: any SecretStore,
    name: String = "openid", transport: any Transport = SystemTransport.make(),
    world: World = .system()
  ) {
    self.issuer = issuer
    self.app = app
    self.login = login
    self.secrets = secrets
    secretName = name
    self.transport = transport
    self.world = world
  }

  /// A token that is valid for at least one minute.
  ///
  /// With `renewal` no page is shown. With `login` a page or a code is shown if there is no other
  /// way. Errors: `FerryError` with the code `offline` if the issuer does not answer, `secrets` if
  /// the secrets cannot be read, `cancelled` if the user closed the page, and `notLoggedIn`; its
  /// `cause` is an `OpenIDError`.
  public func token(for use: TokenUse) async throws -> String {
    do throws(OpenIDError) {
      return use == .login ? try await tokenByLogin() : try await tokenSilently()
    } catch {
      throw FerryError(error)
    }
  }

  /// Forgets the user: the next login shows the page. The user's login in the browser belongs to
  /// the issuer and stays.
  public func forget() throws {
    fresh = nil
    unwritten = nil
    try secrets.removeSecret(secretName)
  }

  private func tokenByLogin() async throws(OpenIDError) -> String {
    do throws(OpenIDError) {
      return try await tokenSilently()
    } catch {
      guard error.code == .needsLogin else { throw error }
    }
    if let task = loggingIn { return try await task.value.get() }
    let task = Task { () -> Result<String, OpenIDError> in
      do throws(OpenIDError) { return .success(try await self.logIn()) } catch {
        return .failure(error)
      }
    }
    loggingIn = task
    defer { loggingIn = nil }
    let result = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    return try result.get()
  }

  private func tokenSilently() async throws(OpenIDError) -> String {
    if let fresh, world.clock.now.advanced(by: OpenIDTokens.margin) < fresh.end {
      return fresh.token
    }
    if let task = renewing { return try await task.value.get() }
    let task = Task { () -> Result<String, OpenIDError> in
      do throws(OpenIDError) { return .success(try await self.renew()) } catch {
        return .failure(error)
      }
    }
    renewing = task
    let result = await task.value
    renewing = nil
    return try result.get()
  }

  /// A token that ends sooner is not sent: it may end on its way.
  private static let margin: Duration = .seconds(60)

  private func renew() async throws(OpenIDError) -> String {
    var tried: String?
    while let refresh = try refreshToken(), refresh != tried {
      do throws(OpenIDError) {
        let provider = try await known()
        let fields = [
          ("grant_type", "refresh_token"), ("refresh_token", refresh), ("client_id", app.clientID),
        ]
        let bytes = try await TokenEndpoint(transport: transport).post(
          fields, to: provider.tokenAddress)
        return try take(TokenAnswer(bytes, from: provider.tokenAddress), nil, provider)
      } catch {
        guard error.code == .needsLogin else { throw error }
        // Another process of this app may have renewed meanwhile: then there is a newer one.
        tried = refresh
      }
    }
    if tried != nil {
      unwritten = nil
      do { try secrets.removeSecret(secretName) } catch {
        world.log.warn("an old token of the issuer cannot be removed", ("reason", "\(error)"))
      }
    }
    throw OpenIDError(
      .needsLogin, "the device has no token of \(issuer): a login is needed", hint: "Log in.")
  }

  private func refreshToken() throws(OpenIDError) -> String? {
    if let unwritten { return unwritten }
    do {
      return try secrets.secret(secretName).map { String(decoding: $0, as: UTF8.self) }
    } catch {
      throw OpenIDError(
        .secrets, "the issuer's token cannot be read now: \(error)",
        hint: "Unlock the place of the secrets (the vault), then try again.")
    }
  }

  private func logIn() async throws(OpenIDError) -> String {
    let provider = try await known()
    switch login {
    case .browser(let browser): return try await logIn(browser, provider)
    case .deviceCode(let prompt): return try await logIn(prompt, provider)
    }
  }

  private func logIn(
    _ browser: any LoginBrowser, _ provider: OpenIDProvider
  ) async throws(OpenIDError) -> String {
    let request: AuthorizationRequest
    let answer: String
    do {
      request = AuthorizationRequest(
        provider, app, redirect: try await browser.redirect(), random: world.chance.bytes)
      answer = try await browser.show(request.address, until: request.redirect)
    } catch {
      throw OpenIDTokens.failure(of: error)
    }
    let fields = [
      ("grant_type", "authorization_code"), ("code", try request.code(from: answer)),
      ("redirect_uri", request.redirect), ("client_id", app.clientID),
      ("code_verifier", request.verifier),
    ]
    let bytes = try await TokenEndpoint(transport: transport).post(
      fields, to: provider.tokenAddress)
    return try take(TokenAnswer(bytes, from: provider.tokenAddress), request.nonce, provider)
  }

  private static func failure(of error: any Error) -> OpenIDError {
    if let error = error as? OpenIDError { return error }
    if error is CancellationError {
      return OpenIDError(.cancelled, "the app ended the login", hint: "Log in again.")
    }
    return OpenIDError(
      .refused, "the login page cannot be shown: \(error)",
      hint: "Check that the device can open a browser, then log in again.")
  }

  private func logIn(
    _ prompt: any DeviceCodePrompt, _ provider: OpenIDProvider
  ) async throws(OpenIDError) -> String {
    guard let address = provider.deviceAddress else {
      throw OpenIDError(
        .notOffered, "\(issuer) does not offer logins with a code (device flow)",
        hint: "Log in on its page, or switch the device flow on at the issuer.")
    }
    let endpoint = TokenEndpoint(transport: transport)
    let given = try await endpoint.post(
      [("client_id", app.clientID), ("scope", app.scopes.joined(separator: " "))], to: address)
    let code = try DeviceCodeAnswer(given, from: address)
    let life: Duration = .seconds(code.validSeconds)
    var machine = DeviceCodeMachine(
      interval: code.interval, end: world.clock.moment.advanced(by: life))
    await prompt.show(
      DeviceCode(
        userCode: code.userCode, address: code.address, wholeAddress: code.wholeAddress,
        expires: world.clock.now.advanced(by: life)))
    var last: DeviceCodeMachine.Answer?
    while let wait = machine.next(after: last, now: world.clock.moment) {
      do { try await Task.sleep(for: wait) } catch { throw OpenIDTokens.failure(of: error) }
      switch try await ask(endpoint, code.deviceCode, provider) {
      case .given(let bytes):
        return try take(TokenAnswer(bytes, from: provider.tokenAddress), nil, provider)
      case .later(let answer): last = answer
      }
    }
    throw OpenIDTokens.codeEnded
  }

  private enum DeviceAnswer {
    case given([UInt8])
    case later(DeviceCodeMachine.Answer)
  }

  /// Whether the user has logged in with the code. An issuer that is away is asked again.
  private func ask(
    _ endpoint: TokenEndpoint, _ deviceCode: String, _ provider: OpenIDProvider
  ) async throws(OpenIDError) -> DeviceAnswer {
    let fields = [
      ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
      ("device_code", deviceCode), ("client_id", app.clientID),
    ]
    var later: DeviceCodeMachine.Answer?
    do throws(OpenIDError) {
      let bytes = try await endpoint.post(fields, to: provider.tokenAddress) { word in
        switch word {
        case "authorization_pending": later = .pending
        case "slow_down": later = .slowDown
        case "expired_token": return OpenIDTokens.codeEnded
        // Entra ID's word for it.
        case "authorization_declined":
          return AuthorizationRequest.failure("access_denied", nil)
        default: return nil
        }
        return OpenIDError.away("the user has not logged in yet")
      }
      return .given(bytes)
    } catch {
      // A request that is cut off by that looks like an issuer that is away.
      guard !Task.isCancelled else { throw OpenIDTokens.failure(of: CancellationError()) }
      guard error.code == .issuerAway else { throw error }
      return .later(later ?? .away)
    }
  }

  private static let codeEnded = OpenIDError(
    .expired, "nobody logged in with the code in time", hint: "Ask for a new code.")

  private func take(
    _ answer: TokenAnswer, _ nonce: String?, _ provider: OpenIDProvider
  ) throws(OpenIDError) -> String {
    let now = world.clock.now
    var end = now.advanced(by: .seconds(answer.validSeconds))
    if let text = answer.identityToken {
      let own = try IdentityToken.check(text, provider, app, nonce: nonce, now: now)
      if app.token == .identity { end = own }
    }
    let token: String
    switch app.token {
    case .access: token = answer.accessToken
    case .identity:
      guard let text = answer.identityToken else {
        throw OpenIDError.badDocument("the issuer gave no identity token")
      }
      token = text
    }
    if let refresh = answer.refreshToken {
      do {
        try secrets.setSecret(secretName, Array(refresh.utf8))
        unwritten = nil
      } catch {
        unwritten = refresh
        world.log.warn("a token of the issuer cannot be kept", ("reason", "\(error)"))
      }
    }
    fresh = (token, end)
    return token
  }

  private func known() async throws(OpenIDError) -> OpenIDProvider {
    if let provider { return provider }
    let found = try await OpenIDProvider.discover(issuer, over: transport)
    provider = found
    return found
  }
}
