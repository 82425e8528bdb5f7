import Foundation

/// Where a secret is; the file of connections itself holds none.
package enum Secret: Sendable, Equatable {
  case environment(String)
  case file(String)

  /// Read anew each time: it may be changed while the server runs.
  package func read() throws(ConnectionsError) -> String {
    switch self {
    case .environment(let name):
      guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else {
        throw ConnectionsError(
          "the environment has no \(name)", hint: "Set it for the user of the program.")
      }
      return value
    case .file(let path):
      var bytes = try SecretFile.read(path, "the file of a secret")
      while bytes.last == 0x0A || bytes.last == 0x0D { bytes.removeLast() }
      guard !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self),
        !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
      else {
        throw ConnectionsError(
          "the file \(path) holds no secret", hint: "Write it as one line of text.")
      }
      return text
    }
  }
}
