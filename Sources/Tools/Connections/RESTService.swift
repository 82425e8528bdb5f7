import FerryConnector
import FerryHTTP
import FerryHTTPClient
import FerryModel
import FerryRESTConnector
import FerryWorld
import Foundation
import Synchronization

/// The text of a mapping.
package struct MappingText: Sendable, Equatable {
  package let bytes: [UInt8]
  /// As messages name it.
  package let name: String
  /// In which files of secrets are that it names; nil for one that came from elsewhere.
  package let folder: String?

  package init(bytes: [UInt8], name: String, folder: String?) {
    self.bytes = bytes
    self.name = name
    self.folder = folder
  }

  /// The mapping beside a model; nil where there is none.
  package init?(of package: Package, besideModel file: String) {
    let folder = URL(filePath: file).deletingLastPathComponent().path
    self.init(file: "\(folder)/\(RESTMapping.fileName(of: package))")
  }

  /// Nil where the file cannot be read.
  init?(file: String) {
    guard let bytes = FileManager.default.contents(atPath: file) else { return nil }
    self.init(
      bytes: [UInt8](bytes), name: file,
      folder: URL(filePath: file).deletingLastPathComponent().path)
  }
}

/// A service of REST as a connection names it. Each package has a mapping of its own for it.
package final class RESTService: Sendable {
  package let address: String
  private let settings: ServiceSettings
  private let world: World
  private let transport: any Transport
  /// One for all packages: a token is renewed once.
  private let source: (any CredentialSource)?
  private let proofs = Mutex<[String: Bool]>([:])

  init(_ address: String, _ settings: ServiceSettings) throws(ConnectionsError) {
    self.address = address
    self.settings = settings
    world = World.system()
    transport = try settings.transport()
    source = try settings.source(world, transport: transport)
  }

  /// What was found out of a set before.
  func take(_ set: String, _ isHeeded: Bool) { proofs.withLock { $0[set] = isHeeded } }

  /// Why it does not answer at all; nil where it does. Blocks.
  package func trouble() -> ConnectorError? {
    let nothing = MappingText(bytes: Array(#"{"entities": {}}"#.utf8), name: "", folder: nil)
    let package = Package(name: "Check", version: "1.0", entities: [], groups: [])
    do throws(ConnectionsError) {
      return try connection(for: package, with: nothing).trouble()
    } catch {
      return ConnectorError(error.message, hint: error.hint, isTransient: false)
    }
  }

  /// `beside`: the mapping that came with the model.
  func connection(
    for package: Package, beside: MappingText?
  ) throws(ConnectionsError) -> RESTConnection {
    try connection(for: package, with: try mappingText(of: package, beside))
  }

  private func connection(
    for package: Package, with text: MappingText
  ) throws(ConnectionsError) -> RESTConnection {
    let mapping: RESTMapping
    do throws(RESTMappingFault) { mapping = try RESTMapping(text.bytes, for: package) } catch {
      throw ConnectionsError(
        "\(text.name) is wrong at \(error.place): \(error.problem)", hint: error.cure)
    }
    if mapping.hasCredential {
      guard source == nil else {
        throw ConnectionsError(
          "both the connection and \(text.name) have a credential",
          hint: "Leave out \"credential\" in the mapping.")
      }
      guard text.folder != nil || mapping.namesCredentialWholly else {
        throw ConnectionsError(
          "the secret that \(text.name) names is beside no file",
          hint: "Write its whole path, or put \"credentials\" into a connections file.")
      }
    }
    do throws(ConnectorError) {
      let connection = try RESTConnection(
        place(mapping), mapping: mapping, folder: text.folder ?? "/", world: world,
        credentials: source, sendsAsUser: settings.users != nil, transport: transport,
        deadlines: settings.deadlines, late: settings.late ?? .zero, requests: settings.requests)
      for (set, isHeeded) in proofs.withLock({ $0 }) { connection.prove(set, isHeeded) }
      return connection
    } catch {
      throw ConnectionsError(error.message, hint: error.hint)
    }
  }

  private func mappingText(
    of package: Package, _ beside: MappingText?
  ) throws(ConnectionsError) -> MappingText {
    if let file = settings.mapping {
      if let text = MappingText(file: file) { return text }
      throw ConnectionsError(
        "the mapping \(file) cannot be read", hint: "Correct \"mapping\" of the connection.")
    }
    if let beside { return beside }
    throw ConnectionsError(
      "\(package.id) has a REST service, and there is no mapping "
        + "\(RESTMapping.fileName(of: package)) beside the model",
      hint: "Make it with `ferry new --from openapi:http://…`, or write it by hand.")
  }

  /// A mapping may say where below the host the service begins. It cannot lead to another host: what
  /// is secret is for this one.
  private func place(_ mapping: RESTMapping) -> String {
    guard let named = mapping.service, let own = HTTPAddress(address),
      let other = HTTPAddress(named), own.path == "/", own.origin == other.origin
    else { return address }
    return named
  }
}
