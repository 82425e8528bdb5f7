import FerryWire

/// The parts of a server's address.
struct ServerAddress: Sendable, Equatable {
  var networkProtocol: NetworkProtocol
  var name: String
  /// nil: the one of the protocol.
  var port: Int?
  /// Without `/` at both ends; empty for none.
  var path: String

  /// Of an address that `ConnectionProfile` has checked.
  init(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    networkProtocol = parts[0].lowercased() == "http:" ? .http : .https
    let authority = parts.count > 2 ? parts[2] : ""
    let end = authority.lastIndex(of: ":")
    let isBracketed = authority.hasSuffix("]")
    if let end, !isBracketed, let number = Int(authority[authority.index(after: end)...]) {
      name = String(authority[..<end])
      port = number
    } else {
      name = String(authority)
      port = nil
    }
    var rest = parts.count > 3 ? parts[3] : ""
    while rest.hasSuffix("/") { rest.removeLast() }
    path = String(rest)
  }

  var text: String {
    let end = (port.map { ":\($0)" } ?? "") + (path.isEmpty ? "" : "/\(path)")
    return "\(networkProtocol.rawValue)://\(name)\(end)"
  }

  /// With what others say in place of single parts.
  func overridden(by parts: AddressParts) -> ServerAddress {
    var address = self
    if let networkProtocol = parts.networkProtocol, networkProtocol != address.networkProtocol {
      address.networkProtocol = networkProtocol
      address.port = nil
    }
    if let name = parts.name { address.name = name }
    if let port = parts.port { address.port = port }
    if let path = parts.path { address.path = path }
    return address
  }
}

/// Some parts of an address.
struct AddressParts: Sendable, Equatable {
  var networkProtocol: NetworkProtocol?
  var name: String?
  var port: Int?
  var path: String?

  var isEmpty: Bool { self == AddressParts() }
}

extension AddressParts {
  /// What a connection template says.
  init(_ settings: ApplicationSettings) {
    networkProtocol = settings.text("connection.protocol").flatMap(NetworkProtocol.init)
    name = settings.text("connection.server")
    port = settings.integer("connection.port").flatMap { Int(exactly: $0) }
    path = settings.text("connection.path")
  }

  /// What the app has put in its place.
  init(_ transaction: Transaction) throws(FerryError) {
    networkProtocol = try transaction.setting(.profileProtocol).flatMap(NetworkProtocol.init)
    name = try transaction.setting(.profileServer)
    port = try transaction.setting(.profilePort).flatMap { Int($0) }
    path = try transaction.setting(.profilePath)
  }
}

/// Where requests go: to the address that the app gave when it opened the database, with what the
/// server's template says in place of its parts, and what the profile says in place of those (sync/I2,
/// I3).
///
/// A template that names a server that does not answer strands nobody: then each second try goes to
/// the app's own address.
struct ServerAddresses {
  private let profile: ConnectionProfile
  private var version = -1
  private var address: String
  private var mayTurn = false
  private var isTurned = false

  init(_ profile: ConnectionProfile) {
    self.profile = profile
    address = profile.server
  }

  /// The address for the next request.
  var current: String { isTurned ? profile.server : address }

  /// Nobody answered there.
  mutating func failed() { if mayTurn { isTurned.toggle() } }

  /// Reads it again where the profile or the settings have changed.
  mutating func renew(_ session: Session) throws(FerryError) {
    guard version != session.profileVersion else { return }
    version = session.profileVersion
    let (template, own) = try session.store.withSnapshot { transaction throws(FerryError) in
      (AddressParts(try ApplicationSettings.kept(transaction)), try AddressParts(transaction))
    }
    let first = ServerAddress(profile.server)
    isTurned = false
    mayTurn = false
    if !template.isEmpty {
      let text = first.overridden(by: template).overridden(by: own).text
      do throws(FerryError) {
        try profile.check(text)
        address = text
        mayTurn = own.isEmpty && text != profile.server
        return
      } catch {
        session.store.world.log.warn(
          "the template's server cannot be used", ("server", text), ("reason", error.message))
      }
    }
    address = own.isEmpty ? profile.server : first.overridden(by: own).text
  }
}

extension SessionRunner {
  /// Where a request goes; `path` is below the server's address.
  func address(of path: String) -> String {
    do throws(FerryError) { try addresses.renew(session) } catch {
      world.log.warn("the profile cannot be read", ("reason", error.description))
    }
    var base = addresses.current
    while base.hasSuffix("/") { base.removeLast() }
    return "\(base)/ferry/1/\(path)"
  }
}
