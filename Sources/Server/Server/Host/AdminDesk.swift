import FerryConnector
import FerryJSON
import FerryModel
import FerryWire
import FerryWorld

/// What the control center asks of a server, over all of its packages. Who may ask is decided before.
package struct AdminDesk: Sendable {
  private let router: Router

  init(_ router: Router) { self.router = router }

  package var packages: [Package] { router.packages.map(\.package.served) }
  package var audit: AuditLog { router.audit }
  package var world: World { router.world }

  /// Returns after the time; it takes no thread.
  package func wait(for duration: Duration) async { await router.service.wait(for: duration) }

  /// Operations of all packages, or of one, the newest first.
  package func operations(
    _ filter: DeskFilter, of package: String?, before sequence: Int64?, count: Int
  ) async throws(ServerError) -> AdminOperations {
    var found: [AdminOperations.Line] = []
    var isLast = true
    for served in router.packages where package.map({ served.package.id.hasBytes(of: $0) }) ?? true
    {
      let page = try await served.service.deskOperations(filter, before: sequence, count: count)
      isLast = isLast && page.isLast
      found += page.operations.map { operation in
        AdminOperations.Line(
          package: served.package.id, operation: operation,
          corrections: page.corrections[operation.id] ?? [])
      }
    }
    // They have their numbers from one store.
    found.sort { $0.operation.sequence > $1.operation.sequence }
    if found.count > count { isLast = false }
    return AdminOperations(lines: Array(found.prefix(count)), isLast: isLast)
  }

  /// Of each package; `accepted` since the start.
  package func counts() async throws(ServerError) -> [(
    package: String, counts: DeskCounts, accepted: Int64
  )] {
    var found: [(package: String, counts: DeskCounts, accepted: Int64)] = []
    for served in router.packages {
      found.append(
        (
          served.package.id, try await served.service.deskCounts(),
          served.service.meter.reading.counts.accepted
        ))
    }
    return found
  }

  package func deviceCounts() async throws(ServerError) -> DeviceCounts {
    try await router.service.deviceCounts()
  }

  /// What devices wrote into their logs, the newest first; of all packages, or of one.
  package func reports(
    _ question: DeviceReport.Question, of package: String?, before number: Int64?
  ) async throws(ServerError) -> [DeviceReport] {
    var found: [DeviceReport] = []
    for served in router.packages where package.map({ served.package.id.hasBytes(of: $0) }) ?? true
    {
      found += try await served.service.reports(question, before: number)
    }
    // They have their numbers from one store.
    found.sort { $0.number > $1.number }
    return Array(found.prefix(question.take))
  }

  package func entry(
    _ id: OperationID
  ) async throws(ServerError) -> (package: Package, entry: DeskEntry)? {
    guard let (served, entry) = try await found(id) else { return nil }
    return (served.package.served, entry)
  }

  private func found(
    _ id: OperationID
  ) async throws(ServerError) -> (ServedPackage, DeskEntry)? {
    for served in router.packages {
      if let entry = try await served.service.deskEntry(id) { return (served, entry) }
    }
    return nil
  }

  private func required(_ id: OperationID) async throws(ServerError) -> (ServedPackage, DeskEntry) {
    guard let found = try await found(id) else {
      throw ServerError(
        .badRequest, "there is no operation \(id)", hint: "The list shows all that are remembered.")
    }
    return found
  }

  package func correct(
    _ order: CorrectionOrder, isTrial: Bool
  ) async throws(ServerError) -> StoredCorrection {
    let (served, _) = try await required(order.operation)
    return try await served.service.correct(order, isTrial: isTrial)
  }

  package func withdraw(
    _ correction: OperationID, of operation: OperationID
  ) async throws(ServerError) -> StoredCorrection {
    let (served, _) = try await required(operation)
    return try await served.service.withdraw(correction, of: operation)
  }

  // Unknown outcomes.

  package func openOutcomes() async throws(ServerError) -> [(
    package: Package, outcome: OpenOutcome
  )] {
    var all: [(package: Package, outcome: OpenOutcome)] = []
    for served in router.packages {
      all += try await served.service.openOutcomes().map { (served.package.served, $0) }
    }
    return all
  }

  /// `verb`: again, refused or accepted; `key` as text.
  package func decide(
    _ id: OperationID, _ verb: String, key: String, message: String
  ) async throws(ServerError) {
    let (served, entry) = try await required(id)
    guard let entity = entry.entity else {
      throw ServerError(
        .badRequest, "the model has no entity \(entry.operation.entity)", hint: "Deploy it again.")
    }
    try await served.service.decide(
      id, try Router.decision(verb, key: key, message: message, entity))
  }

  // Devices.

  package func devices() async throws(ServerError) -> [RegisteredDevice] {
    try await router.service.devices()
  }

  package func decide(
    _ verb: DeviceVerb, _ owner: Owner, reason: String, withPending: Bool
  ) async throws(ServerError) -> RegisteredDevice {
    try await router.service.decide(verb, owner, reason: reason, withPending: withPending)
  }

  /// Says how much the app of a device logs; nil: what its template says.
  package func setLogLevel(_ level: String?, of owner: Owner) async throws(ServerError) {
    _ = try await router.service.setLogLevel(level, of: owner)
  }

  /// Changes the keys that seal tokens; tokens of before stay good.
  package func rotateKeys() async throws(ServerError) { try await router.service.rotateKeys() }

  /// Ends the sessions of a user, on one device or on all.
  package func signOut(user: String, device: String?) async throws(ServerError) {
    try await router.service.signOut(user: user, device: device)
  }

  // Data and systems.

  /// How each package is, as `/health` says it.
  package func writeHealth(to writer: inout JSONWriter) {
    writer.array(router.packages) { writer, served in
      let state = served.service.meter.reading
      let now = world.clock.moment
      writer.beginObject()
      writer.field("package", served.package.id)
      served.service.pulse.report.write(to: &writer)
      writer.field("channels", state.levels.channels)
      writer.field("waitingOperations", state.levels.waitingOperations)
      writer.field(
        "cacheAgeSeconds",
        max(0, (now.milliseconds - state.capturedUpTo.milliseconds) / 1_000))
      writer.field(
        "loadAgeSeconds", max(0, (now.milliseconds - state.loadedAt.milliseconds) / 1_000))
      writer.endObject()
    }
  }

  package func rejectedRows() async throws(ServerError) -> [(package: String, row: RejectedRow)] {
    var all: [(package: String, row: RejectedRow)] = []
    for served in router.packages {
      all += try await served.service.rejectedRows().map { (served.package.id, $0) }
    }
    return all
  }

  /// Asks for a load of the package; false: there is no such package.
  package func reload(_ package: String) -> Bool {
    guard let served = router.package(package) else { return false }
    served.load()
    return true
  }

  /// Why an object is on devices or not; nil: there is no such package.
  package func explain(
    _ package: String, _ entity: String, _ key: String
  ) async throws(ServerError) -> Explanation? {
    guard let served = router.package(package) else { return nil }
    return try await served.service.explain(entity, key)
  }
}

/// Some operations of several packages.
package struct AdminOperations: Sendable {
  package struct Line: Sendable {
    package let package: String
    package let operation: DeskOperation
    package let corrections: [StoredCorrection]
  }

  package let lines: [Line]
  package let isLast: Bool
}

extension PackageHost {
  /// For tests, and for a server with this package alone.
  package var adminDesk: AdminDesk { AdminDesk(router) }
}

extension ServerHost {
  /// Nil while no package is served.
  package var adminDesk: AdminDesk? { router.map { AdminDesk($0) } }
}
