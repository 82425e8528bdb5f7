import FerryModel
import FerryWorld

/// Where another program says what was changed in the business system of a package.
package struct NoticeDesk: Sendable {
  /// As it is served: without what only devices have.
  package let package: Package
  private let service: ServiceHost
  private let load: @Sendable () -> Void

  init(_ served: ServedPackage) {
    package = served.package.served
    service = served.service
    load = served.load
  }

  package var world: World { service.world }

  /// Takes notices in their order and in one transaction; what must be read is read at once. Gives what
  /// became of each.
  package func take(_ notices: [Notice]) async throws(ServerError) -> [NoticeOutcome] {
    let (outcomes, needsLoad) = try await service.take(notices)
    if needsLoad { load() }
    return outcomes
  }

  /// For an operation that somebody sends without one.
  package var newOperationID: OperationID {
    let digits = Array("0123456789abcdef")
    let text = String(
      world.chance.bytes(16).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    guard let id = OperationID(text) else { preconditionFailure("\(text) is no id") }
    return id
  }

  /// Everything may have been changed.
  package func loadAll() { load() }
}

extension ServiceHost {
  func take(
    _ notices: [Notice]
  ) throws(ServerError) -> (outcomes: [NoticeOutcome], needsLoad: Bool) {
    guard !isStopped else { throw ServiceHost.stopped }
    guard leads else {
      throw ServerError(
        .badRequest, "this server follows another one, which takes notices",
        hint: "Send it again: another server answers, or this one leads by then.",
        isTransient: true, retryAfterSeconds: 1)
    }
    defer { callReaders() }
    return try service.take(notices)
  }
}

extension Service {
  /// Notices of changes in the business system; gives what became of each, and whether a load must begin.
  package func take(
    _ notices: [Notice]
  ) throws(ServerError) -> (outcomes: [NoticeOutcome], needsLoad: Bool) {
    defer { handOut() }
    return try intake.take(notices, unwritten: operations.unwritten)
  }

  /// Once a second.
  package func advanceNotices() {
    guard intake.hasNoticeMarks else { return }
    do throws(ServerError) { try intake.advanceNoticeMarks(isNotice: false) } catch {
      core.world.log.warn("notices are read back for a while", ("reason", error.description))
    }
  }
}

extension PackageHost {
  /// For tests, and for a server with this package alone.
  package var notices: NoticeDesk { NoticeDesk(served) }
}

extension CallerDesk {
  /// The roles of who has logged in, as they are now.
  package func roles(of caller: Caller) -> [String] { record(of: caller)?.roles ?? [] }
}

extension ServerHost {
  /// Of any package, where it only matters who asks.
  package var anyCallers: CallerDesk? {
    router.flatMap { router in router.packages.first.map { CallerDesk($0, router) } }
  }

  /// The packages of this name that are served now, every version.
  package func notices(of name: String) -> [NoticeDesk] {
    (router?.packages ?? []).filter { $0.package.name.lowercased() == name.lowercased() }
      .map { NoticeDesk($0) }
  }
}
