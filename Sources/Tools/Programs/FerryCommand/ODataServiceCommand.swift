import FerryArguments
import FerryHTTPClient
import FerryJSON
import FerryOData
import FerryODataClient
import Foundation

/// `ferry odata get | create | update | delete`: entries of a service on the network, as JSON.
enum ODataServiceCommand {
  static let verbs: Set<String> = ["get", "create", "update", "delete"]

  /// Runs one call; throws `UsageError` where words are missing, and `ODataTerminalError`.
  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let verb = arguments.operands.first ?? ""
    let isWriting = verb == "create" || verb == "update"
    let words =
      isWriting
      ? try arguments.operands(verb, "address", "json") : try arguments.operands(verb, "address")
    let address = TypedAddress(words[1])
    let named = try arguments.value("service")
    let root = named ?? address.root
    let session = try session(arguments)
    let service: ODataService
    do throws(ODataClientError) {
      service = try await ODataService.open(root, session: session)
    } catch {
      throw ODataTerminalError(error, guessed: named == nil ? root : nil)
    }
    do {
      if verb == "get" {
        try await ODataReading(service: service).show(address)
      } else {
        try await change(verb, address, isWriting ? words[2] : "", service)
      }
    } catch let error as ODataClientError {
      if case .conflict(let conflict) = error.cause, let theirs = conflict.theirs {
        Terminal.error(
          "the object at the service: "
            + "\(text(of: theirs, service) ?? "(it cannot be shown as JSON)")"
        )
      }
      throw ODataTerminalError(error, guessed: nil)
    }
    return .success
  }

  private static func change(
    _ verb: String, _ address: TypedAddress, _ json: String, _ service: ODataService
  ) async throws(ODataClientError) {
    let set = set(of: address)
    switch verb {
    case "create":
      let made = try await service.create(entry(json, set, service), in: set)
      try show(made, service)
    case "update":
      var change = try entry(json, set, service)
      let now = try await service.entry(address.text)
      change.etag = now.etag
      change.links = now.links.filter { $0.role == .edit }
      change.id = now.id ?? address.text
      _ = try await service.update(change)
      try show(try await service.entry(address.text), service)
    default: try await service.delete(try await service.entry(address.text))
    }
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

  static func showSets(of service: ODataService) {
    for collection in service.document.collections {
      var writer = JSONWriter()
      writer.beginObject()
      writer.field("name", collection.name)
      writer.field("url", collection.href)
      writer.endObject()
      Terminal.show(writer.text, asJSON: true)
    }
  }

  /// The last step of the path without a key: the name of the set.
  private static func set(of address: TypedAddress) -> String {
    let step = address.path.split(separator: "/").last ?? ""
    return decoded(step.prefix { $0 != "(" })
  }

  /// The text that a percent-encoded step stands for.
  static func decoded(_ step: some StringProtocol) -> String {
    step.removingPercentEncoding ?? String(step)
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

  static func show(
    _ entry: ODataEntry, _ service: ODataService
  ) throws(ODataClientError) {
    Terminal.show(String(decoding: try service.json(of: entry), as: UTF8.self), asJSON: true)
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
