import FerryCrypto
import FerryHTTP
public import FerryHTTPClient
import FerryJSON
public import FerryWorld

/// The connection of an app to its server: registered once, known by an id, with settings that both
/// sides read, and payloads that services push.
///
/// ```swift
/// let registration = ApplicationRegistration(profile, stateFile: path)
/// let settings = try await registration.register()
/// try await registration.update(["CustomCustom1": "gate 7"])
/// for try await payload in registration.payloads { show(payload.data) }
/// ```
///
/// Each call may be repeated after any failure, also one that ended the app: the id of the connection
/// is kept before the server hears of it.
public actor ApplicationRegistration {
  public nonisolated let profile: RegistrationProfile
  nonisolated let transport: any Transport
  nonisolated let world: World
  private let path: String
  nonisolated let files: any FileAccess
  private var known: RegistrationState?
  private var hasRead = false
  /// Makes calls that change the registration come one after the other.
  private var isBusy = false
  private var queue: [CheckedContinuation<Void, Never>] = []

  /// `stateFile`: where the id is kept, in a folder of the app. `transport`: how the server is
  /// reached; by the system unless set otherwise.
  public init(
    _ profile: RegistrationProfile, stateFile: String,
    transport: any Transport = SystemTransport.make(), files: any FileAccess = SystemFiles(),
    world: World = .system()
  ) {
    self.profile = profile
    self.transport = transport
    self.files = files
    self.world = world
    path = stateFile
  }

  /// The id of the connection; nil before it is registered.
  public var connectionID: String? {
    get throws(RegistrationError) {
      guard let state = try state(), state.isRegistered else { return nil }
      return state.connection
    }
  }

  /// Registers the app, or finds that it is registered, and returns its settings.
  ///
  /// `properties`: those that the connection has from its beginning. They are not sent again where it
  /// is registered already.
  ///
  /// Where the server asks for the text of a picture, there are two ways. `captcha` is called with each
  /// picture, three at most; nil as its answer ends the call. Without it the error has the picture, and
  /// the app calls again with `answering: picture.answer("text")`.
  @discardableResult
  public func register(
    _ properties: [String: PropertyValue] = [:], answering answer: CaptchaAnswer? = nil,
    captcha: (@Sendable (CaptchaChallenge) async -> String?)? = nil
  ) async throws(RegistrationError) -> ConnectionSettings {
    await enter()
    defer { leave() }
    var state: RegistrationState
    if let known = try self.state() {
      state = known
    } else {
      state = RegistrationState(connection: profile.connectionID ?? newID())
      // Kept before the server hears of it, as the id is.
      if profile.credentials == nil { state.token = hexadecimal(world.chance.bytes(32)) }
      try keep(state)
    }
    if state.isRegistered {
      do throws(RegistrationError) { return try await read(state) } catch {
        // Somebody has deleted it: it is registered anew, under its id.
        guard error.code == .notRegistered else { throw error }
        state.isRegistered = false
        state.received = 0
        try keep(state)
      }
    }
    var answer = answer
    for _ in 0..<3 {
      do throws(RegistrationError) {
        return try await register(&state, properties, answer)
      } catch {
        guard let picture = error.captcha, let captcha, let text = await captcha(picture) else {
          throw error
        }
        answer = picture.answer(text)
      }
    }
    return try await register(&state, properties, answer)
  }

  private func register(
    _ state: inout RegistrationState, _ properties: [String: PropertyValue],
    _ answer: CaptchaAnswer?
  ) async throws(RegistrationError) -> ConnectionSettings {
    var request = request("POST", profile.connections, state)
    if let answer {
      request.headers["X-SUP-CAPTCHA-ID"] = answer.id
      request.headers["X-SUP-CAPTCHA-TEXT"] = PercentEncoding.encode(answer.text)
    }
    if let code = profile.activationCode { request.headers["X-SUP-ACTIVATION-CODE"] = code }
    request.body = ApplicationRegistration.body(properties)
    let settings: ConnectionSettings
    do throws(RegistrationError) {
      let (response, body) = try await send(request)
      guard let made = ConnectionSettings(json: body, etag: response.headers["ETag"]) else {
        throw RegistrationError(
          .unreadableAnswer, "the answer to the registration is no connection",
          mayHaveArrived: true)
      }
      if let token = response.headers["X-SUP-SECTOKEN"] { state.token = token }
      settings = made
    } catch {
      // The answer to an earlier call was lost.
      guard error.code == .alreadyRegistered else { throw error }
      settings = try await read(state)
    }
    state.isRegistered = true
    try keep(state)
    return settings
  }

  /// All settings, as the server has them now.
  public func settings() async throws(RegistrationError) -> ConnectionSettings {
    try await read(try registered())
  }

  /// Changes several properties at once, or none of them. Nil gives a property its default.
  ///
  /// Throws `readOnlyProperties` before anything is sent where one of them is the administrator's.
  public func update(_ values: [String: PropertyValue?]) async throws(RegistrationError) {
    guard !values.isEmpty else {
      throw RegistrationError(.emptyParameters, "no property is named")
    }
    for name in values.keys.sorted() {
      guard let property = ConnectionProperty.named(name) else {
        throw RegistrationError(.unknownProperty, "there is no property \(name)")
      }
      guard !property.isReadOnly else {
        throw RegistrationError(.readOnlyProperties, "\(name) is read-only; nothing was changed")
      }
    }
    await enter()
    defer { leave() }
    let state = try registered()
    var request = request("MERGE", address(state), state)
    request.body = ApplicationRegistration.body(values)
    _ = try await send(request)
  }

  /// Deletes the connection at the server, and forgets it. Does nothing where it is not registered,
  /// or was deleted by somebody else.
  public func unregister() async throws(RegistrationError) {
    await enter()
    defer { leave() }
    guard let state = try state() else { return }
    do throws(RegistrationError) {
      _ = try await send(request("DELETE", address(state), state))
    } catch {
      guard error.code == .notRegistered else { throw error }
    }
    try RegistrationState.remove(path, files)
    known = nil
  }

  /// What services push, in its order, for as long as the connection is registered.
  ///
  /// A payload is taken out of the server's queue once the next one is asked for. An app that ends in
  /// between gets it again. A channel that breaks is opened again.
  public nonisolated var payloads: PayloadSequence { PayloadSequence(self) }

  /// The same with the settings of the connection: all of them at the beginning, and then each that
  /// changes. Listen to one of both.
  public nonisolated var events: ConnectionEventSequence { ConnectionEventSequence(self) }

  // What payloads need.

  func registered() throws(RegistrationError) -> RegistrationState {
    guard let state = try state(), state.isRegistered else {
      throw RegistrationError(.notRegistered, "the app is not registered")
    }
    return state
  }

  /// The app has the payload.
  func took(_ number: Int64) throws(RegistrationError) {
    guard var state = try state(), state.received < number else { return }
    state.received = number
    try keep(state)
  }

  nonisolated func request(
    _ method: String, _ url: String, _ state: RegistrationState
  ) -> TransportRequest {
    var request = TransportRequest(url: url, method: HTTPMethod(rawValue: method))
    request.headers["Accept"] = "application/json"
    request.headers["X-SUP-APPCID"] = state.connection
    if let token = state.token { request.headers["X-SUP-SECTOKEN"] = token }
    if let credentials = profile.credentials {
      let text = "\(credentials.user):\(credentials.password)"
      request.headers["Authorization"] = "Basic \(BasicText.encode(Array(text.utf8)))"
    }
    if let name = profile.securityConfiguration { request.headers["X-SUP-SC"] = name }
    if let domain = profile.domain { request.headers["X-SUP-DOMAIN"] = domain }
    if method == "POST" || method == "MERGE" {
      request.headers["Content-Type"] = "application/json;charset=utf-8"
    }
    request.deadlines.head = profile.patience
    return request
  }

  nonisolated func payloadAddress(_ state: RegistrationState) -> String {
    "\(profile.root)Notification/\(state.connection)"
  }

  /// The answer with its body; throws where it is a refusal.
  nonisolated func send(
    _ request: TransportRequest
  ) async throws(RegistrationError) -> (TransportResponse, [UInt8]) {
    let response: TransportResponse
    let body: [UInt8]
    do throws(TransportError) {
      response = try await transport.send(request)
      body = try await response.body.collect(limitBytes: 1 << 20)
    } catch { throw RegistrationError(error) }
    guard (200...299).contains(response.status) else {
      throw ApplicationRegistration.error(of: response, body)
    }
    return (response, body)
  }

  // The state.

  private func state() throws(RegistrationError) -> RegistrationState? {
    if !hasRead {
      known = try RegistrationState.read(path, files)
      hasRead = true
    }
    return known
  }

  private func keep(_ state: RegistrationState) throws(RegistrationError) {
    try state.keep(path, files)
    known = state
  }

  private func enter() async {
    guard isBusy else {
      isBusy = true
      return
    }
    await withCheckedContinuation { queue.append($0) }
  }

  private func leave() {
    guard !queue.isEmpty else {
      isBusy = false
      return
    }
    queue.removeFirst().resume()
  }

  private func newID() -> String {
    let digits = hexadecimal(world.chance.bytes(16))
    var rest = Substring(digits)
    var parts: [Substring] = []
    for count in [8, 4, 4, 4, 12] {
      parts.append(rest.prefix(count))
      rest = rest.dropFirst(count)
    }
    return "\(parts.joined(separator: "-"))__\(profile.application)"
  }

  // Requests and answers.

  private nonisolated func address(_ state: RegistrationState) -> String {
    "\(profile.connections)('\(state.connection)')"
  }

  private func read(
    _ state: RegistrationState
  ) async throws(RegistrationError) -> ConnectionSettings {
    let (response, body) = try await send(request("GET", address(state), state))
    guard let settings = ConnectionSettings(json: body, etag: response.headers["ETag"]) else {
      throw RegistrationError(.unreadableAnswer, "the answer is no connection")
    }
    return settings
  }

  private static func body(_ values: [String: PropertyValue?]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      writer.key(name)
      switch value {
      case nil: writer.null()
      case .text(let text): writer.string(text)
      case .integer(let number): writer.integer(number)
      case .boolean(let flag): writer.boolean(flag)
      }
    }
    writer.endObject()
    return writer.bytes
  }

  static func error(of response: TransportResponse, _ body: [UInt8]) -> RegistrationError {
    let error = (try? JSONNode.parse(body))?["error"]
    let code =
      error?["code"]?.string.flatMap { Int($0) }.flatMap(RegistrationCode.init)
      ?? .of(status: response.status)
    let message = error?["message"]?["value"]?.string ?? "the server answered \(response.status)"
    return RegistrationError(
      code, message, mayHaveArrived: true,
      retryAfterSeconds: response.headers["Retry-After"].flatMap { Int64($0) },
      captcha: CaptchaChallenge(response.headers))
  }
}

extension RegistrationError {
  init(_ error: TransportError) {
    let code: RegistrationCode =
      switch error.code {
      case .cannotConnect, .tls, .invalidURL: .serverUnreachable
      case .timedOut: .timedOut
      case .cancelled: .cancelled
      case .tooLarge: .unreadableAnswer
      default: .communicationFailed
      }
    self.init(code, "\(error.message). \(error.hint)", mayHaveArrived: error.requestWasSent)
  }
}

/// Base64 of `Authorization: Basic`.
enum BasicText {
  static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (number, bits) = (0, 0)
    for letter in text.utf8 where letter != UInt8(ascii: "=") {
      guard let value = letters.firstIndex(of: letter) else { return nil }
      number = (number << 6 | value) & 0xFFFF
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(number >> bits & 0xFF))
      }
    }
    return bytes
  }

  private static let letters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let part = bytes[start..<min(start + 3, bytes.count)]
      let number = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
      for place in 0..<4 {
        text.append(
          place <= part.count
            ? letters[number >> (18 - 6 * place) & 0x3F] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
