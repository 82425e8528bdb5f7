import FerryArguments
import FerryHTTPClient
import FerryJSON
import FerryOData
import FerryODataClient

/// `ferry odata get | create | update | delete`: entries of a service on the network, as JSON.
enum ODataServiceCommand {
  static let verbs: Set<String> = ["get", "create", "update", "delete"]

  /// Runs one call; throws `UsageError` where words are missing, and `ODataClientError`.
  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let verb = arguments.operands.first ?? ""
    let isWriting = verb == "create" || verb == "update"
    let words =
      isWriting
      ? try arguments.operands(verb, "address", "json") : try arguments.operands(verb, "address")
    let root = try arguments.value("service") ?? folder(of: words[1])
    let service = try await ODataService.open(root, session: try session(arguments))
    do throws(ODataClientError) {
      switch verb {
      case "create":
        let made = try await service.create(
          entry(words[2], path(words[1]), service), in: path(words[1]))
        try show(made, service)
      case "update":
        let now = try await service.entry(words[1])
        var change = try entry(words[2], path(words[1]), service)
        change.etag = now.etag
        change.links = now.links.filter { $0.role == .edit }
        change.id = now.id ?? words[1]
        _ = try await service.update(change)
        try show(try await service.entry(words[1]), service)
      case "delete": try await service.delete(try await service.entry(words[1]))
      default: try await get(words[1], service)
      }
    } catch {
      if case .conflict(let conflict) = error.cause, let theirs = conflict.theirs {
        Terminal.error(
          "the object at the service: "
            + "\(text(of: theirs, service) ?? "(it cannot be shown as JSON)")"
        )
      }
      throw error
    }
    return .success
  }

  private static func session(_ arguments: Arguments) throws -> ODataSession {
    let authority = try arguments.value("authority")
    var transport = TransportOptions(trust: authority.map { .file($0) } ?? .system)
    transport.trustListener = CertificateListener(try arguments.value("trust"))
    var options = ODataSessionOptions()
    options.usesCSRF = arguments.flag("csrf")
    if let user = try arguments.value("user") {
      let password =
        arguments.flag("password-stdin")
        ? readLine(strippingNewline: true) ?? "" : try PasswordPrompt.askOnce()
      options.credentials = .basic(user: user, password: password)
    }
    return ODataSession(transport: transport, options: options)
  }

  private static func get(
    _ address: String, _ service: ODataService
  ) async throws(ODataClientError) {
    if address == service.root {
      for collection in service.document.collections {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("name", collection.name)
        writer.field("url", collection.href)
        writer.endObject()
        print(writer.text)
      }
    } else if address.prefix(while: { $0 != "?" }).hasSuffix(")") {
      try show(try await service.entry(address), service)
    } else {
      for try await entry in service.entries(address) { try show(entry, service) }
    }
  }

  /// All up to the last step of the path: where the service of `…/Items(3)` begins.
  static func folder(of address: String) -> String {
    let path = address.prefix { $0 != "?" }
    guard let slash = path.lastIndex(of: "/") else { return String(path) }
    return String(path[...slash])
  }

  /// The last step of the path without a key: the name of the set.
  static func path(_ address: String) -> String {
    let path = address.prefix { $0 != "?" }
    return String(
      path.suffix(from: path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)
        .prefix { $0 != "(" })
  }

  private static func entry(
    _ json: String, _ set: String, _ service: ODataService
  ) throws(ODataClientError) -> ODataEntry {
    try service.entry(json: Array(json.utf8), in: set)
  }

  private static func text(of entry: ODataEntry, _ service: ODataService) -> String? {
    guard let bytes = try? service.json(of: entry) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func show(
    _ entry: ODataEntry, _ service: ODataService
  ) throws(ODataClientError) {
    print(String(decoding: try service.json(of: entry), as: UTF8.self))
  }
}

/// Shows the certificate of a server that nobody vouches for, and accepts the one that was named.
private final class CertificateListener: ServerTrustListener {
  private let fingerprint: String?

  init(_ fingerprint: String?) { self.fingerprint = fingerprint }

  func decide(_ question: ServerTrustQuestion) async -> ServerTrustDecision {
    guard let own = question.chain.first else { return .refuse }
    if let fingerprint, fingerprint.uppercased() == own.fingerprint { return .acceptOnce }
    Terminal.error(
      """
      \(question.server) is not trusted: \(question.problem)
        subject      \(own.subject)
        issuer       \(own.issuer)
        valid        \(own.validFrom) to \(own.validUntil)
        fingerprint  \(own.fingerprint)
      If it is the right certificate, write --authority <file of its issuer> or --trust <fingerprint>.
      """)
    return .refuse
  }
}
