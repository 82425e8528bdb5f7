import FerryHTTPClient
import FerryJSON
import FerryServer
import FerryWorld

/// The security configurations of a server, from a JSON file that only its owner can read.
package struct SecurityFile: Sendable {
  package let configurations: [SecurityConfigurations.Configuration]
  package let roles: [String: [String: [String: RoleMapping.Rule]]]

  /// What other parts of a server give to providers of the file.
  package struct Sources: Sendable {
    /// The users of the user file; nil: there is none.
    package var userFile: (any AuthenticationProvider)?
    /// Users who log in with certificates of the authorities in a file.
    package var certificates:
      @Sendable (_ authorities: String) throws(ServerError) -> any AuthenticationProvider

    package init(
      userFile: (any AuthenticationProvider)?,
      certificates:
        @escaping @Sendable (_ authorities: String) throws(ServerError) ->
        any AuthenticationProvider
    ) {
      self.userFile = userFile
      self.certificates = certificates
    }
  }

  /// Reads the file. It may hold passwords: others must not be able to read it. Throws `badUserFile`.
  package init(path: String, _ sources: Sources) throws(ServerError) {
    let bytes: [UInt8]
    do throws(PrivateFile.Fault) { bytes = try PrivateFile.read(path) } catch {
      throw
        switch error
      {
      case .unreadable:
        SecurityFile.fault(
          "the security file \(path) cannot be read", "Name a file that exists (--security).")
      case .noFile, .tooLarge:
        SecurityFile.fault(
          "\(path) is not a file of at most 1 MB", "Name a file (--security).")
      case .open:
        SecurityFile.fault(
          "others can read the security file \(path), and it may hold passwords",
          "Type: chmod 600 \(path)")
      }
    }
    try self.init(bytes, name: path, sources)
  }

  package init(_ bytes: [UInt8], name: String, _ sources: Sources) throws(ServerError) {
    let root: JSONNode
    do { root = try JSONNode.parse(bytes) } catch {
      throw SecurityFile.fault(
        "\(name):\(TextPlace(offset: error.offset, in: bytes)): \(error.problem)")
    }
    let reader = SecurityFileReader(name: name, bytes: bytes, sources: sources)
    try reader.check(root, ["configurations", "roles"], "the security file")
    var configurations: [SecurityConfigurations.Configuration] = []
    for node in root["configurations"]?.array ?? [] {
      let configuration = try reader.configuration(node)
      guard !configurations.contains(where: { $0.name == configuration.name }) else {
        throw reader.fault(node, "there are two configurations named \(configuration.name)")
      }
      configurations.append(configuration)
    }
    guard !configurations.isEmpty else {
      throw reader.fault(root, "no configuration is named")
    }
    self.configurations = configurations
    roles = try reader.roles(root["roles"], domains: Set(configurations.map(\.domain)))
  }

  static func fault(_ text: String, _ hint: String = "Correct the file.") -> ServerError {
    ServerError(.badUserFile, text, hint: hint)
  }
}
