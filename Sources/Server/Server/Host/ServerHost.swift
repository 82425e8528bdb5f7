import FerryHTTP
import FerryModel
import FerryWorld
import Synchronization

/// The packages of one server behind one address: whoever asks is passed to the package that the
/// request names. Packages come and go while it runs.
package final class ServerHost: Sendable {
  private let doorkeeper: Doorkeeper
  private let audit: AuditLog
  private let proxies: Set<String>
  private let turns = ExchangeTurns()
  private let meter: ServerMeter
  private let world: World
  private let state = Mutex(State())

  private struct State {
    /// In the order in which they came.
    var hosts: [(id: String, host: PackageHost?)] = []
    /// Of those that are there; nil while there is none.
    var router: Router?
    var deployment: (any Deployment)?
  }

  /// `version`: of the program, for its operator.
  package init(
    doorkeeper: Doorkeeper, audit: AuditLog, proxies: Set<String>, world: World,
    version: String = ""
  ) {
    meter = ServerMeter(world, version: version)
    self.doorkeeper = doorkeeper
    self.audit = audit
    self.proxies = proxies
    self.world = world
  }

  /// From now on `host` serves the package; nil: nobody does for the moment, as while a node begins
  /// to lead.
  package func set(_ id: String, _ host: PackageHost?) {
    change { hosts in
      if let index = hosts.firstIndex(where: { $0.id == id }) {
        hosts[index].host = host
      } else {
        hosts.append((id, host))
      }
    }
  }

  /// Who changes the packages where an operator asks for it; nobody before this is called.
  package func deploy(through deployment: any Deployment) {
    state.withLock { $0.deployment = deployment }
  }

  var deployment: (any Deployment)? { state.withLock { $0.deployment } }
  var router: Router? { state.withLock { $0.router } }

  /// The package is served no more.
  package func remove(_ id: String) {
    change { hosts in hosts.removeAll { $0.id == id } }
  }

  private func change(_ body: (inout [(id: String, host: PackageHost?)]) -> Void) {
    state.withLock { state in
      body(&state.hosts)
      let served = state.hosts.compactMap { $0.host?.served }
      state.router =
        served.isEmpty
        ? nil
        : Router(
          served, absent: Set(state.hosts.filter { $0.host == nil }.map(\.id)),
          doorkeeper: doorkeeper, audit: audit, proxies: proxies, turns: turns, meter: meter,
          world: world,
          desk: { [weak self] router, request in
            await self?.operate(request, router) ?? ServerHost.notReady
          })
    }
  }

  private static let notReady = HTTPResponse(status: 503, headers: ["Retry-After": "1"])

  /// Judges a request by its head, before its body is read; any thread, and at once.
  package func admit(_ request: HTTPRequest) -> HTTPAdmission {
    guard let router else { return .refuse(ServerHost.notReady) }
    return router.admit(request).counted(for: router.caller(of: request))
  }

  package func answer(_ request: HTTPRequest) async -> HTTPResponse {
    guard let router else { return ServerHost.notReady }
    return await router.answer(request)
  }

  /// The connection templates have changed: devices of each package hear of newer settings.
  package func templatesChanged() async {
    for host in state.withLock({ $0.hosts.compactMap(\.host) }) { await host.templatesChanged() }
  }

  /// What parts beside the packages do not do, by part with the reason; `/health` shows it to operators.
  ///
  /// Any thread.
  package func tell(troubles: [String: String]) { meter.troubles = troubles }

  /// What `/metrics` says, for who sends it elsewhere; nothing while no package is served.
  ///
  /// Any thread, and at once.
  package var metrics: [MetricFamily] { router?.metricFamilies ?? [] }

  /// Looks at users again whose records may have changed, in each package.
  package func recordsChanged() async {
    for host in state.withLock({ $0.hosts.compactMap(\.host) }) { await host.recordsChanged() }
  }
}
