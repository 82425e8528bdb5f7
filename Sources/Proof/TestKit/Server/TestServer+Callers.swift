import FerryServer

extension TestServer {
  /// Where another program asks for a user's rows, and sends operations.
  package var callers: CallerDesk { host.callers }

  /// Makes a user known who has no device.
  package func addUser(_ name: String, claims: [String: [String]] = [:]) {
    users.add(name, claims: claims)
  }
}
