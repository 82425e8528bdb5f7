import FerryJSON
import FerryModel

/// The connections of a server to business systems, from a JSON file that only its owner can read.
/// Documentation/Connections.md shows one.
package struct ConnectionsFile: Sendable {
  /// One connection as the file has it.
  package struct Named: Sendable {
    package let name: String
    /// As it was written.
    package let address: String
    package let database: BusinessDatabase
    /// Where the passwords of its users are; nil where changes are not sent with them.
    package let passwords: SealedPasswords?
  }

  /// In the order of the file.
  package let connections: [Named]
  /// That of entities without a name; nil where the file has several and names none.
  package let defaultName: String?

  /// Reads the file, and what `ferry check` has proved of its services.
  package init(path: String) throws(ConnectionsError) {
    try self.init(try SecretFile.read(path, "the connections file"), name: path)
    let proofs = try ConnectionProofs(beside: path)
    for connection in connections {
      connection.database.take(proofs.of(connection.name, at: connection.address))
    }
  }

  package init(_ bytes: [UInt8], name: String) throws(ConnectionsError) {
    let root: JSONNode
    do { root = try JSONNode.parse(bytes) } catch {
      let place = TextPlace(offset: error.offset, in: bytes)
      throw ConnectionsError("\(name):\(place): \(error.problem)", hint: "Correct the file.")
    }
    let reader = ConnectionReader(name: name, bytes: bytes)
    try reader.check(root, ConnectionKey.file, "the connections file")
    guard let node = root["connections"], let members = node.object, !members.isEmpty else {
      throw reader.fault(
        root["connections"] ?? root, "no connection is named",
        hint: "Write \"connections\": {\"erp\": {\"address\": …}}.")
    }
    var connections: [Named] = []
    for member in members {
      guard ReservedName.isIdentifier(member.key) else {
        throw reader.fault(
          member.value, "the connection name \"\(member.key)\" is not an identifier",
          hint: "Use letters, digits and underscores, a letter first.")
      }
      guard !connections.contains(where: { $0.name == member.key }) else {
        throw reader.fault(member.value, "the connection \"\(member.key)\" is there twice")
      }
      connections.append(try reader.connection(member.key, member.value))
    }
    self.connections = connections
    let named = try reader.text(root, "default")
    if let named, !connections.contains(where: { $0.name == named }) {
      throw reader.fault(
        root["default"] ?? root, "there is no connection \"\(named)\"",
        hint: NearestWord.cure(named, among: connections.map(\.name)))
    }
    defaultName = named ?? (connections.count == 1 ? connections[0].name : nil)
  }

  /// Nil where the file has no connection of this name.
  package subscript(name: String) -> Named? { connections.first { $0.name == name } }
}
