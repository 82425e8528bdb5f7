import FerryServer

extension TestServer {
  /// Where another program asks for a user's rows, and sends operations.
  package var callers: CallerDesk { host.callers }

  /// Where another program says what was changed in the business system.
  package var notices: NoticeDesk { host.notices }

  /// How many operations were taken in and have no answer yet.
  package func waitingOperations() async -> Int { await host.waitingOperations() }

  /// Returns when what was committed in the business system before the call is in the cache, and
  /// nothing of it waits to be read.
  package func becomeCurrent() async { await host.becomeCurrent() }

  /// Makes a user known who has no device.
  package func addUser(
    _ name: String, claims: [String: [String]] = [:], roles: [String] = []
  ) {
    users.add(name, claims: claims, roles: roles)
  }
}
