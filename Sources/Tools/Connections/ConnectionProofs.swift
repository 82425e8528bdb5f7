import FerryJSON
import FerryWorld
import Foundation

/// What operators have found out about the conditions of services, beside the file of connections.
package struct ConnectionProofs: Sendable {
  /// Whether a set of a service heeds conditions.
  package struct Proof: Sendable, Equatable {
    package let connection: String
    /// Of the service when it was asked: another one is another service.
    package let address: String
    package let set: String
    package let isHeeded: Bool
    package let at: Timestamp

    package init(
      connection: String, address: String, set: String, isHeeded: Bool, at: Timestamp
    ) {
      self.connection = connection
      self.address = address
      self.set = set
      self.isHeeded = isHeeded
      self.at = at
    }
  }

  package private(set) var proofs: [Proof]
  private let path: String

  /// Those beside a file of connections; none where there is no such file.
  package init(beside file: String) throws(ConnectionsError) {
    path = "\(file).proved"
    guard FileManager.default.fileExists(atPath: path) else {
      proofs = []
      return
    }
    let bytes = try SecretFile.read(path, "the file of what was proved")
    guard let root = try? JSONNode.parse(bytes), let entries = root["proofs"]?.array else {
      throw ConnectionsError(
        "the file \(path) cannot be read",
        hint: "Remove it, and run `ferry check --connections` with --row again.")
    }
    proofs = entries.compactMap { node in
      guard let connection = node["connection"]?.string, let address = node["address"]?.string,
        let set = node["set"]?.string, let isHeeded = node["conditions"]?.boolean,
        let moment = node["at"]?.integer
      else { return nil }
      return Proof(
        connection: connection, address: address, set: set, isHeeded: isHeeded,
        at: Timestamp(milliseconds: moment))
    }
  }

  /// Of a connection at this address.
  func of(_ connection: String, at address: String) -> [Proof] {
    proofs.filter { $0.connection == connection && $0.address == address }
  }

  /// Takes the place of what was proved of the set before.
  package mutating func add(_ proof: Proof) {
    proofs.removeAll { $0.connection == proof.connection && $0.set == proof.set }
    proofs.append(proof)
  }

  /// Writes the file as a whole, for its owner alone.
  package func write() throws(ConnectionsError) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("proofs")
    writer.array(proofs) { writer, proof in
      writer.beginObject()
      writer.field("connection", proof.connection)
      writer.field("address", proof.address)
      writer.field("set", proof.set)
      writer.field("conditions", proof.isHeeded)
      writer.field("at", proof.at.milliseconds)
      writer.endObject()
    }
    writer.endObject()
    try SecretFile.write(writer.bytes + [0x0A], to: path)
  }
}
