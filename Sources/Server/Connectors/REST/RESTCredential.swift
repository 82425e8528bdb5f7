import FerryConnector
import FerryHTTP
import FerryModel
import FerryWorld
import Foundation
import Synchronization

/// The one credential of a connection, read from a file or the environment when it is needed.
///
/// The secret is never in the mapping: that file stands beside the model and is read by many.
struct RESTCredential: Sendable, Equatable {
  enum Way: Sendable, Equatable {
    /// A key in a header of its own.
    case header(String)
    case basic(user: String)
    case bearer
  }

  enum Secret: Sendable, Equatable {
    /// A relative name is one beside the mapping.
    case file(String)
    case environment(String)
  }

  let way: Way
  let secret: Secret

  init(_ given: MappingNode) throws(RESTMappingFault) {
    let members = try given.members(["header", "basic", "bearer", "file", "environment"])
    switch (members["header"], members["basic"], members["bearer"]) {
    case (let header?, nil, nil): way = .header(try header.headerName())
    case (nil, let user?, nil): way = .basic(user: try user.string())
    case (nil, nil, let bearer?) where bearer.node.boolean == true: way = .bearer
    default:
      throw given.fault(
        "names no way, or several",
        "Write one of: \"header\": name, \"basic\": user, \"bearer\": true.")
    }
    switch (members["file"], members["environment"]) {
    case (let file?, nil): secret = .file(try file.string())
    case (nil, let name?): secret = .environment(try name.string())
    default:
      throw given.fault(
        "does not say where the secret is",
        "Write \"file\": name, or \"environment\": variable; never the secret itself.")
    }
  }
}

/// Reads the secret again where the service did not accept what it was.
struct SecretSource: CredentialSource {
  let credential: RESTCredential
  /// In which relative names of files are.
  let folder: String

  func credential(
    for user: String?, insteadOf rejected: Credential?
  ) throws(ConnectorError) -> Credential? {
    guard user == nil else { return nil }
    let secret = try secret()
    let made: Credential =
      switch credential.way {
      case .header(let name): Credential(.header(name: name, value: secret))
      case .basic(let user): Credential(.password(user: user, password: secret))
      case .bearer: Credential(.bearer(secret))
      }
    return made == rejected ? nil : made
  }

  private func secret() throws(ConnectorError) -> String {
    let text: String
    switch credential.secret {
    case .environment(let name):
      guard let value = ProcessInfo.processInfo.environment[name] else {
        throw ConnectorError(
          "The secret of the service is missing: the variable \(name) is not set",
          hint: "Set it for ferryd.", isTransient: true)
      }
      text = value
    case .file(let name):
      let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
      guard let bytes = FileManager.default.contents(atPath: path), bytes.count <= 16_384,
        let value = String(bytes: bytes, encoding: .utf8)
      else {
        throw ConnectorError(
          "The secret of the service cannot be read from \(path)",
          hint: "Write it there, readable by the user of ferryd alone.", isTransient: true)
      }
      text = value
    }
    let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !secret.isEmpty, secret.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw ConnectorError(
        "The secret of the service is empty, or has a line end in it",
        hint: "Write it as one line.", isTransient: true)
    }
    return secret
  }
}
