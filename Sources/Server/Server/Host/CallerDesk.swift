import FerryHTTP
import FerryModel
import FerryWire
import FerryWorld

/// Where another program asks for the rows of a package, and sends operations, for a user.
package struct CallerDesk: Sendable {
  /// As it is served: without what only devices have.
  package let package: Package
  private let service: ServiceHost
  private let router: Router

  init(_ served: ServedPackage, _ router: Router) {
    package = served.package.served
    service = served.service
    self.router = router
  }

  /// Which of the server's packages may be used, and who may use them, is looked at by each call.
  package var world: World { service.world }

  /// Days for which the whole answer to an operation is kept, and for which its id is known.
  package static let answerDays: Int64 = ServiceLimits().programAnswerDays
  package static let memoryDays: Int64 = ServiceLimits().operationMemoryDays

  /// Where users of this package and of all others of the server log in.
  package var door: CallerDoor { CallerDoor(router) }

  func record(of caller: Caller) -> UserRecord? { service.provider?.record(of: caller.name) }

  /// Throws where the caller was removed, or may not use the package.
  package func check(_ caller: Caller) async throws(ServerError) {
    try await service.checkCaller(caller.name)
  }

  /// Whether there is an operation of the caller with this id.
  package func knows(_ id: OperationID, for caller: Caller) async throws(ServerError) -> Bool {
    try await service.knows(id, of: caller.name)
  }

  /// The operation that has this id already; nil where there is none.
  package func earlier(
    _ id: OperationID, for caller: Caller
  ) async throws(ServerError) -> EarlierOperation? {
    try await service.earlier(id, of: caller.name)
  }

  /// Rows of an entity behind a position, in an order that never changes.
  package func rows(
    of entity: Int, for caller: Caller, after position: CallerPosition?, count: Int
  ) async throws(ServerError) -> CallerPage {
    try await service.callerRows(of: entity, for: caller.name, after: position, count: count)
  }

  /// Rows by their names; what is not there, or not the caller's, is left out.
  package func rows(
    _ names: [RowName], for caller: Caller
  ) async throws(ServerError) -> [RowName: CallerRow] {
    try await service.callerRows(names, for: caller.name)
  }

  /// Where the changes of an entity begin that come from now on; nil where the caller has too many
  /// partitions to follow them.
  package func mark(
    of entity: Int, for caller: Caller
  ) async throws(ServerError) -> CallerMark? {
    try await service.callerMark(of: entity, for: caller.name)
  }

  /// Keys of rows that were changed since the mark. What they are now is read with `rows`, which
  /// leaves out what is not the caller's. At most `limit` changes are read.
  package func changes(
    of entity: Int, for caller: Caller, since mark: CallerMark, limit: Int
  ) async throws(ServerError) -> CallerChanges {
    try await service.callerChanges(of: entity, for: caller.name, since: mark, limit: limit)
  }

  /// What seals the marks that callers keep: the same on each node and after each start.
  package func key() async throws(ServerError) -> [UInt8] { try await service.callerKey() }

  /// Sends the operations of one chain, which are performed together or not at all, and waits for
  /// their answers.
  package func perform(
    _ chain: [Operation], for caller: Caller, patience: Duration, isKept: Bool
  ) async throws(ServerError) -> CallerOutcome {
    try await service.perform(chain, for: caller.name, patience: patience, isKept: isKept)
  }

  /// The answer to an operation that was sent before.
  package func answer(
    to id: OperationID, for caller: Caller, patience: Duration
  ) async throws(ServerError) -> Answer? {
    try await service.answer(to: id, of: caller.name, patience: patience)
  }
}

/// Where programs log in, before anything says which packages there are.
package struct CallerDoor: Sendable {
  private let router: Router

  init(_ router: Router) { self.router = router }

  /// Who asks, by name and password in the way in which devices log in: one at a time, and slowed
  /// down by wrong ones. A password that was right is not verified again for five minutes, unless the
  /// user's record has changed.
  package func login(
    user: String, password: String, _ request: HTTPRequest
  ) async throws(ServerError) -> Caller {
    let address = router.address(of: request)
    let user = try router.doorkeeper.provider.name(of: user, request.headers)
    let device = Callers.device(of: user)
    let clock = router.world.clock
    let logins = router.doorkeeper.logins
    if let stamp = router.doorkeeper.provider.record(of: user)?.stamp,
      logins.isVerified(user, password, stamp: stamp, now: clock.moment)
    {
      return Caller(name: user)
    }
    if let record = router.doorkeeper.provider.remembered(user: user, password: password),
      router.service.provider?.record(of: record.name) != nil
    {
      return Caller(name: record.name)
    }
    do throws(ServerError) {
      let record = try await router.doorkeeper.authenticate(
        LoginRequest(user: user, password: password, device: device), from: address)
      // Like `Router.session`: nobody can look this user up later.
      if router.doorkeeper.provider.isKnownByLoginOnly(record) {
        try await router.service.note(TokenLogin(record: record, issued: clock.now))
      }
      logins.note(record.name, password, stamp: record.stamp, now: clock.moment)
      router.audit.note(.login, user: record.name, device: device, address: address)
      return Caller(name: record.name)
    } catch {
      router.audit.noteStranger(
        .loginRefused, user: AuditLog.short(user), device: AuditLog.short(device),
        address: address, what: "a login was refused", reason: error)
      throw error
    }
  }

  /// The package of a name as it is served now; of several versions the newest one.
  package func desk(of name: String) -> CallerDesk? {
    let found = router.packages.filter {
      $0.package.name.lowercased() == name.lowercased()
    }
    let newest = found.max { left, right in
      let numbers = [left, right].map { served in
        served.package.version.split(separator: ".").compactMap { Int($0) }
      }
      return numbers[0].lexicographicallyPrecedes(numbers[1])
    }
    return newest.map { CallerDesk($0, router) }
  }
}

/// A user who has proved to be one. Only `CallerDoor` makes it.
package struct Caller: Sendable {
  package let name: String

  fileprivate init(name: String) { self.name = name }
}

extension PackageHost {
  /// For tests, and for a server with this package alone.
  package var callers: CallerDesk { CallerDesk(served, router) }
}

extension ServerHost {
  /// Nil while no package is served.
  package var callerDoor: CallerDoor? { router.map { CallerDoor($0) } }
}
