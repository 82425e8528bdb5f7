import FerryHTTP
import FerryJSON

/// What an operator asks of the packages, and does with them.
extension ServerHost {
  static let packagesPath: String = "/ferry/1/operator/packages"
  /// The text of a model, and what JSON adds to it.
  static let deployBytes: Int = 32 << 20

  /// `GET` lists the packages and the devices that use each. `POST` takes `verb`: with `deploy`
  /// `model`, `file` and perhaps `database` and `policies`, with `withdraw` `package` and perhaps `force`.
  func operate(_ request: HTTPRequest, _ router: Router) async -> HTTPResponse {
    do throws(ServerError) {
      if request.method == .get { return router.json(200, try await list(PackageOrder.Done())) }
      guard let order = PackageOrder(request.body) else {
        return router.unreadable(
          "packages takes verb; deploy takes model and file, withdraw takes package")
      }
      guard let deployment else { throw ServerHost.notReadyToDeploy }
      let done = try await perform(order, deployment, router, router.address(of: request))
      return router.json(200, try await list(done))
    } catch {
      return router.refusal(ServerHost.status(of: error.code), error)
    }
  }

  private static let notReadyToDeploy = ServerError(
    .badRequest, "the server has just started and cannot change its packages yet",
    hint: "Try again in a moment.", isTransient: true)

  private static func status(of code: ServerError.Code) -> Int {
    switch code {
    case .badModel, .changedModel: 422
    case .badRequest: 409
    default: 503
    }
  }

  private func perform(
    _ order: PackageOrder, _ deployment: any Deployment, _ router: Router, _ address: String
  ) async throws(ServerError) -> PackageOrder.Done {
    var done = PackageOrder.Done()
    switch order {
    case .deploy(let order):
      let deployed = try await deployment.deploy(order)
      (done.package, done.outcome) = (deployed.package, deployed.outcome.rawValue)
      if deployed.outcome != .unchanged {
        router.audit.note(
          .packageDeployed, address: address,
          reason: "\(deployed.package) \(deployed.outcome.rawValue)")
      }
    case .withdraw(let id, let isForced):
      try await requireUnused(id, router, isForced: isForced)
      done.notice = try await deployment.withdraw(id)
      (done.package, done.outcome) = (id, "withdrawn")
      router.audit.note(.packageWithdrawn, address: address, reason: id)
    }
    return done
  }

  /// Throws where a device needs the package, unless the operator forces it.
  private func requireUnused(
    _ id: String, _ router: Router, isForced: Bool
  ) async throws(ServerError) {
    guard let served = router.package(id) else {
      let known = router.packages.map(\.package.id).joined(separator: ", ")
      throw ServerError(
        .badRequest, "this server has no package \(id); it serves \(known)",
        hint: "`ferry deploy --list` shows all.")
    }
    guard router.packages.count > 1 else {
      throw ServerError(
        .badRequest, "\(id) is the only package of this server",
        hint: "Deploy another one first, or stop ferryd.")
    }
    guard !isForced else { return }
    let users = try await router.service.devices().filter { $0.needs(id) }
    guard users.isEmpty else {
      let names = users.prefix(5).map { "\($0.user) \($0.device.prefix(8))" }
      let more = users.count > 5 ? " and \(users.count - 5) more" : ""
      throw ServerError(
        .badRequest,
        "\(users.count == 1 ? "1 device uses" : "\(users.count) devices use") \(id): "
          + names.joined(separator: ", ") + more,
        hint: "Wait until they have the new app, forget those that never come again "
          + "(`ferry device forget`), or add --force.")
    }
    let waiting = try await served.service.waitingOperations()
    guard waiting == 0 else {
      throw ServerError(
        .badRequest, "\(waiting) changes of \(id) wait for the business system",
        hint: "Wait until they are performed, or add --force.")
    }
  }

  private func list(_ done: PackageOrder.Done) async throws(ServerError) -> [UInt8] {
    let packages = router?.packages ?? []
    let devices = try await packages.first?.service.devices() ?? []
    var entries: [PackageEntry] = []
    for served in packages {
      let id = served.package.id
      entries.append(
        PackageEntry(
          id: id, database: await deployment?.database(of: id) ?? "",
          waiting: try await served.service.waitingOperations(),
          report: served.service.pulse.report, devices: devices.filter { $0.needs(id) }))
    }
    var writer = JSONWriter()
    writer.beginObject()
    done.write(to: &writer)
    writer.key("packages")
    writer.array(entries) { writer, entry in entry.write(to: &writer) }
    writer.endObject()
    return writer.bytes
  }
}

/// What an operator wants to be done with the packages of a server.
private enum PackageOrder {
  case deploy(DeployOrder)
  case withdraw(String, isForced: Bool)

  /// nil where it cannot be read.
  init?(_ body: [UInt8]) {
    guard let node = try? JSONNode.parse(body) else { return nil }
    switch node["verb"]?.string {
    case "deploy":
      guard let model = node["model"]?.string, let file = node["file"]?.string else { return nil }
      self = .deploy(
        DeployOrder(
          model: Array(model.utf8), file: file, database: node["database"]?.string,
          mapping: node["mapping"]?.string.map { Array($0.utf8) },
          policies: Array((node["policies"]?.string ?? "").utf8)))
    case "withdraw":
      guard let id = node["package"]?.string else { return nil }
      self = .withdraw(id, isForced: node["force"]?.boolean ?? false)
    default: return nil
    }
  }

  /// What has been done; empty where the packages were only listed.
  struct Done {
    var package: String?
    var outcome: String?
    var notice: String?

    func write(to writer: inout JSONWriter) {
      if let package { writer.field("package", package) }
      if let outcome { writer.field("outcome", outcome) }
      if let notice { writer.field("notice", notice) }
    }
  }
}

/// A package as the operator sees it.
private struct PackageEntry {
  let id: String
  let database: String
  let waiting: Int
  let report: Pulse.Report
  let devices: [RegisteredDevice]

  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("package", id)
    writer.field("database", database)
    report.write(to: &writer)
    writer.field("waitingOperations", waiting)
    writer.key("devices")
    writer.array(devices) { writer, device in
      writer.beginObject()
      writer.field("user", device.user)
      writer.field("device", device.device)
      writer.field("state", device.state.rawValue)
      writer.field("lastSeen", device.lastSeen)
      if let pending = device.pending { writer.field("pending", pending) }
      writer.endObject()
    }
    writer.endObject()
  }
}

extension RegisteredDevice {
  /// Whether it used this package when it was last here, and may come again.
  fileprivate func needs(_ package: String) -> Bool { model == package && state != .wiped }
}
