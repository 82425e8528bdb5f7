import FerryConnector
import FerryWorld

/// Who works over one connection of a package: who replays, who asks for changes where that takes long,
/// and who reads again where there are several connections.
struct ConnectionHosts: Sendable {
  private let number: Int
  private let replay: ReplayHost
  /// Asks for changes where replay must not wait for the answer.
  private let looks: LookHost?
  private let reads: ReadHost?

  /// `thread`: for the first connection; another one has a thread of its own.
  init(
    _ number: Int, of count: Int, _ service: ServiceHost, _ world: World,
    on thread: ThreadExecutor?, connector: () -> sending any Connector
  ) {
    self.number = number
    let thread = number == 0 ? thread : nil
    let first = connector()
    if first.looksApart {
      looks = LookHost(connector: first, of: number, service: service, world: world)
      replay = ReplayHost(
        connector: connector(), of: number, service: service, world: world, on: thread)
    } else {
      looks = nil
      replay = ReplayHost(
        connector: first, of: number, service: service, world: world, on: thread)
    }
    reads =
      count > 1
      ? ReadHost(connector: connector(), of: number, service: service, world: world) : nil
  }

  /// Works until it is stopped. `looks`: whether changes of others are asked for again and again.
  func run(
    _ load: LoadHost, looks asksOften: Bool, on loop: (any TaskExecutor)?
  ) -> [Task<Void, Never>] {
    let (number, replay) = (number, replay)
    var work = [
      Task(executorPreference: loop) {
        await replay.run(load: { load.want(number) }, compare: { load.wantComparison(number) })
      }
    ]
    if let looks, asksOften {
      work.append(
        Task(executorPreference: loop) {
          await looks.run(load: { load.want(number) }, compare: { load.wantComparison(number) })
        })
    }
    if let reads { work.append(Task(executorPreference: loop) { await reads.run() }) }
    return work
  }

  /// Asks at once what others have changed. Gives whether a load must begin, and why it could not be
  /// asked. Nothing is done where replay asks by itself.
  func look() async -> (needsLoad: Bool, failure: String?) {
    await looks?.lookNow() ?? (false, nil)
  }

  func stop() async {
    looks?.stop()
    await replay.stop()
    await reads?.stop()
  }
}
