import FerryHTTP
import FerryHTTPClient
import FerryJSON
import FerryWorld

/// Why a gateway's file cannot be used.
package struct GatewayError: Error, Sendable, Equatable, CustomStringConvertible {
  package let message: String
  package let hint: String

  package init(_ message: String, hint: String) {
    self.message = message
    self.hint = hint
  }

  package var description: String { "\(message). \(hint)" }
}

/// The services behind the door, from a JSON file that only its owner can read:
///
///     {"door": "https://gate.example.com",
///      "services": [{"name": "flights", "address": "http://10.0.0.7:8000/odata/",
///                    "networks": ["private"],
///                    "credentials": {"user": "FERRY", "password": "…"}}]}
package struct GatewayFile: Sendable {
  /// The address under which callers see the door; links lead there. Nil: none is rewritten.
  package let door: String?
  /// By name, in the order of the file.
  package let services: [BackEnd]
  /// Where trusted proxies say who their client is.
  package let proxyField: TrustedProxies.Field
  /// Nil where nobody looks at certificates of callers.
  package let clientCertificates: ClientCertificates?

  /// Whose certificates callers may show.
  package struct ClientCertificates: Sendable, Equatable {
    /// Files in PEM.
    package let authorities: String
    package let revocations: String?
    /// Nil: nobody has to show one. Empty: everybody. Else callers at these addresses.
    package let requiredFrom: Set<String>?
    /// Whether trusted proxies pass them on in `SSL_CLIENT_CERT`.
    package let comeThroughProxies: Bool
  }

  /// Services that are not read from a file.
  package init(door: String?, services: [BackEnd]) {
    self.door = door
    self.services = services
    proxyField = .xForwardedFor
    clientCertificates = nil
  }

  /// Reads the file. It holds passwords: others must not be able to read it.
  package init(path: String) throws(GatewayError) {
    let bytes: [UInt8]
    do throws(PrivateFile.Fault) { bytes = try PrivateFile.read(path) } catch {
      throw
        switch error
      {
      case .unreadable:
        GatewayError(
          "the gateway file \(path) cannot be read", hint: "Name a file that exists (--gateway).")
      case .noFile: GatewayError("\(path) is not a file", hint: "Name a file (--gateway).")
      case .open:
        GatewayError(
          "others can read the gateway file \(path), and it may hold passwords",
          hint: "Type: chmod 600 \(path)")
      case .tooLarge:
        GatewayError("the gateway file \(path) is too large", hint: "Shorten it to 1 MB.")
      }
    }
    try self.init(bytes, name: path)
  }

  package init(_ bytes: [UInt8], name: String) throws(GatewayError) {
    let root: JSONNode
    do { root = try JSONNode.parse(bytes) } catch {
      let place = TextPlace(offset: error.offset, in: bytes)
      throw GatewayError("\(name):\(place): \(error.problem)", hint: "Correct the file.")
    }
    let reader = GatewayFileReader(name: name, bytes: bytes)
    try reader.check(
      root, ["door", "services", "proxyField", "clientCertificates"], "the gateway file")
    if let word = try reader.text(root, "proxyField") {
      guard let field = TrustedProxies.Field(rawValue: word) else {
        throw reader.fault(
          root["proxyField"] ?? root, "proxies are not believed in the field \(word)",
          hint: "Write X-Forwarded-For or Forwarded.")
      }
      proxyField = field
    } else {
      proxyField = .xForwardedFor
    }
    clientCertificates = try reader.clientCertificates(root["clientCertificates"])
    door = try reader.text(root, "door")
    if let door {
      guard HTTPAddress(door) != nil, !door.contains(where: { "?#@\\ %".contains($0) }) else {
        throw reader.fault(
          root["door"] ?? root,
          "the door is not an address such as https://host or https://host/path")
      }
    }
    var services: [BackEnd] = []
    for node in root["services"]?.array ?? [] {
      let service = try reader.service(node)
      guard !services.contains(where: { $0.name == service.name }) else {
        throw reader.fault(node, "there are two services named \(service.name)")
      }
      services.append(service)
    }
    guard !services.isEmpty else {
      throw reader.fault(root, "no service is named", hint: "Write \"services\": [{…}].")
    }
    self.services = services
  }
}
