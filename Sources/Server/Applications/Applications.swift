import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryPush
import FerryRegistration
import FerryServer
import FerryWorld

/// The register of connections over HTTP: apps register, read and change their settings, and get what
/// services push; and each service of the gateway that belongs to an application asks for a
/// connection.
package final class Applications: Sendable {
  let applications: [String: Application]
  /// The address under which callers see the server, with a slash at its end; nil: as they call it.
  let door: String?
  let logins: BasicLogins
  let sessions: WebSessions
  let waiters: PayloadWaiters
  let captchas: Captchas
  /// By application.
  let natives: [String: NativePush]
  /// Resource bundles by application.
  let shelves: [String: BundleShelf]
  let desk: PushDesk
  let audit: AuditLog
  let world: World
  /// How receivers of traces are reached; nil: no application has one.
  let traceTransport: (any Transport)?
  /// Who has the register; nil for the moment.
  let register: @Sendable () -> ServiceHost?

  /// `door`: the address under which callers see the server. `register`: the host of any package, as
  /// all of them have the same register. `transport`: how push services are reached; by HTTP/2 of the
  /// system unless set otherwise.
  package init(
    _ file: ApplicationsFile, door: String?, logins: BasicLogins,
    provider: any AuthenticationProvider, audit: AuditLog, world: World,
    push transport: (any Transport)? = nil, desk: PushDesk? = nil,
    register: @escaping @Sendable () -> ServiceHost?
  ) {
    applications = Dictionary(uniqueKeysWithValues: file.applications.map { ($0.id, $0) })
    self.door = door.map { $0.hasSuffix("/") ? $0 : $0 + "/" }
    self.logins = logins
    sessions = WebSessions(provider, world: world)
    waiters = PayloadWaiters(world.clock)
    captchas = Captchas(world)
    natives = Dictionary(
      uniqueKeysWithValues: file.applications.compactMap { application in
        application.push.map { (application.id, NativePush($0, transport, world.clock)) }
      })
    shelves = Dictionary(
      uniqueKeysWithValues: file.applications.compactMap { application in
        application.bundles.map { (application.id, BundleShelf(folder: $0, log: world.log)) }
      })
    let takesTraces = file.applications.contains { $0.traces != nil }
    traceTransport = takesTraces ? transport ?? SystemTransport.make() : nil
    self.desk = desk ?? PushDesk(world)
    self.audit = audit
    self.world = world
    self.register = register
  }

  /// Properties of a connection with tokens of push services.
  static let bodyBytes: Int = 64 << 10

  /// Whether a request is for this.
  package static func isMeant(by request: HTTPRequest) -> Bool {
    [
      "/odata/applications/", "/public/odata/applications/", "/Notification/", "/restnotification/",
      "/bundles/", "/apps/",
    ].contains { request.path.hasPrefix($0) } || request.path == "/btx"
  }

  /// Judges a request by its head: who is unknown sends no body.
  ///
  /// Any thread, and at once.
  package func admit(_ request: HTTPRequest) -> HTTPAdmission {
    let format = AnswerFormat(request)
    guard let place = ApplicationsPlace(request) else {
      return .refuse(ApplicationsRefusal(.registrationNotFound).response(format))
    }
    let isOpen: Bool
    switch place.target {
    case .notification, .pushRegistration, .pushApplication, .trace: isOpen = false
    default:
      guard let application = applications[place.application] else {
        return .refuse(
          ApplicationsRefusal(.unknownApplication, String(place.application.prefix(90)))
            .response(format))
      }
      isOpen = application.isAnonymous || place.target == .packages
    }
    guard
      isOpen || BasicLogin(request) != nil || RequestIdentity(request).session != nil
        || RequestIdentity(request).token != nil
    else { return .refuse(ApplicationsRefusal(.wrongCredentials).response(format)) }
    if place.target == .trace { return .take(bodyBytes: Applications.traceBytes) }
    return .take(
      bodyBytes: place.isPush ? PushFields.mostBytes : Applications.bodyBytes)
  }

  /// Never throws: what goes wrong is an answer with number and cure.
  package func answer(_ request: HTTPRequest) async -> HTTPResponse {
    let format = AnswerFormat(request)
    do throws(ApplicationsRefusal) {
      guard let place = ApplicationsPlace(request) else {
        throw ApplicationsRefusal(.registrationNotFound)
      }
      switch place.target {
      case .notification(let id):
        if request.method == .post {
          return try await push(request, toConnection: id, isDocument: false)
        }
        return try await channel(request, of: id)
      case .pushRegistration(let id):
        return try await push(request, toConnection: id, isDocument: true)
      case .trace: return try await forwardTrace(request)
      case .pushApplication(let id, let user):
        return try await push(request, toApplication: id, user: user)
      default:
        guard let application = applications[place.application] else {
          throw ApplicationsRefusal(.unknownApplication, String(place.application.prefix(90)))
        }
        return try await serve(request, place, application, format)
      }
    } catch {
      return error.response(format)
    }
  }

  /// Silent channels say that they are alive. Call it each second.
  package func tick() async {
    let isShared = await register()?.sharesRegister ?? false
    waiters.tick(all: isShared)
  }

  /// Push services to which nothing is sent, with the reason; empty where all is well.
  package var troubles: [String: String] {
    get async { await desk.troubles }
  }

  func host() throws(ApplicationsRefusal) -> ServiceHost {
    guard let host = register() else {
      throw ApplicationsRefusal(.serverBusy, retryAfterSeconds: 1)
    }
    return host
  }

  /// The address of the server with a slash at its end.
  func base(_ request: HTTPRequest) -> String {
    if let door { return door }
    let host = request.headers["Host"] ?? ""
    let isHost =
      !host.isEmpty
      && host.utf8.allSatisfy { byte in
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "-._:[]".utf8.contains(byte)
      }
    return "http://\(isHost ? host : "localhost")/"
  }
}

/// What a path of this service means.
struct ApplicationsPlace {
  enum Target: Equatable {
    case service, metadata, connections, endpoints, capabilities
    case endpoint(String)
    case connection(String)
    case property(String, String, isValue: Bool)
    case notification(String)
    case pushRegistration(String)
    case pushApplication(String, user: String?)
    /// Its `name:version`; nil: the one that the connection has.
    case bundle(String?)
    /// Where devices get the app.
    case packages
    /// Where traces are sent on.
    case trace
  }

  let target: Target
  let application: String
  /// The path of the service with a slash at its end, without the slash at its beginning.
  let root: String

  var isPush: Bool {
    switch target {
    case .notification, .pushRegistration, .pushApplication: true
    default: false
    }
  }

  /// Nil where there is nothing at this path.
  init?(_ request: HTTPRequest) {
    guard var parts = request.pathSegments else { return nil }
    if parts.first == "Notification" {
      guard parts.count == 2 else { return nil }
      (target, application, root) = (.notification(parts[1]), "", "")
      return
    }
    if parts.first == "restnotification" {
      (application, root) = ("", "")
      switch (parts.count, parts.count > 1 ? parts[1] : "") {
      case (3, "registration"): target = .pushRegistration(parts[2])
      case (3, "application"): target = .pushApplication(parts[2], user: nil)
      case (5, "application") where parts[3] == "user":
        target = .pushApplication(parts[2], user: parts[4])
      default: return nil
      }
      return
    }
    if parts.first == "bundles" {
      if parts.last == "" { parts.removeLast() }
      guard (2...3).contains(parts.count) else { return nil }
      target = .bundle(parts.count == 3 ? parts[2] : nil)
      (application, root) = (parts[1], "")
      return
    }
    if parts == ["btx"] {
      (target, application, root) = (.trace, "", "")
      return
    }
    if parts.first == "apps" {
      guard parts.count == 2 else { return nil }
      (target, application, root) = (.packages, parts[1], "")
      return
    }
    let isPublic = parts.first == "public"
    if isPublic { parts.removeFirst() }
    guard parts.count >= 4, parts[0] == "odata", parts[1] == "applications",
      ["v1", "latest"].contains(parts[2])
    else { return nil }
    application = parts[3]
    root = (isPublic ? "public/" : "") + "odata/applications/\(parts[2])/\(parts[3])/"
    let rest = Array(parts.dropFirst(4))
    switch (rest.count, rest.first ?? "") {
    case (0, _): target = .service
    case (1, "$metadata"): target = .metadata
    case (1, "Connections"): target = .connections
    case (1, "Endpoints"): target = .endpoints
    case (1, "Capabilities"): target = .capabilities
    case (1, let text):
      if let name = ApplicationsPlace.key(text, of: "Endpoints") {
        target = .endpoint(name)
      } else if let id = ApplicationsPlace.key(text, of: "Connections") {
        target = .connection(id)
      } else {
        return nil
      }
    case (2...3, let text):
      guard let id = ApplicationsPlace.key(text, of: "Connections"),
        rest.count == 2 || rest[2] == "$value"
      else { return nil }
      target = .property(id, rest[1], isValue: rest.count == 3)
    default: return nil
    }
  }

  /// The key in `Set('key')` and `Set(Name='key')`, where a quote is written twice.
  private static func key(_ text: String, of set: String) -> String? {
    let name = set == "Connections" ? "ApplicationConnectionId" : "EndpointName"
    let (bytes, quote) = (Array(text.utf8), UInt8(ascii: "'"))
    guard
      let start = ["\(set)('", "\(set)(\(name)='"].map({ Array($0.utf8) })
        .first(where: { bytes.starts(with: $0) }),
      bytes.count >= start.count + 2, bytes.suffix(2).elementsEqual("')".utf8)
    else { return nil }
    var key: [UInt8] = []
    var isQuote = false
    for byte in bytes[start.count..<bytes.count - 2] {
      if byte == quote {
        if isQuote { key.append(quote) }
        isQuote.toggle()
      } else {
        guard !isQuote else { return nil }
        key.append(byte)
      }
    }
    return isQuote ? nil : String(decoding: key, as: UTF8.self)
  }
}
