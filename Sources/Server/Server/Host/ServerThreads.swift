import FerryWorld
import Synchronization

/// The threads of a server with several packages, and the users that its packages share.
///
/// All services are on one thread, as they have one store. Replays and loads, which wait for business
/// systems, have a thread each where the machine has a processor for it; more packages take turns. So
/// on two processors or more a server has at most four threads more than processors: these, that of
/// the contents, that of the network, and that of the passwords. Those that read for devices which are
/// far behind come on top, one for each processor and at most 4 where the operator says nothing.
package final class ServerThreads: Sendable {
  let service = ThreadExecutor(name: "ferry-service")
  let contents = ThreadExecutor(name: "ferry-contents")
  let readers: ReaderThreads?
  let users: Confined<SharedUsers>
  private let replays: [ThreadExecutor]
  private let loads: [ThreadExecutor]
  private let packages = Atomic<Int>(0)

  /// `readers`: how many threads read for devices that are far behind; 0: that of the services.
  package init(processors: Int, readers: Int? = nil) {
    let count = max(1, processors / 2)
    self.readers = ReaderThreads.make(readers ?? min(4, max(1, processors)))
    replays = (0..<count).map { _ in ThreadExecutor(name: "ferry-replay") }
    loads = (0..<count).map { _ in ThreadExecutor(name: "ferry-load") }
    users = Confined(SharedUsers(), on: service)
  }

  /// For the next package: who replays and who loads for it.
  func next() -> (replay: ThreadExecutor, load: ThreadExecutor) {
    let number = packages.wrappingAdd(1, ordering: .relaxed).oldValue
    return (replays[number % replays.count], loads[number % loads.count])
  }

  /// Makes a value that is used on the thread of the services only.
  package func confined<Value>(
    _ make: @escaping @Sendable () throws(ServerError) -> sending Value
  ) async throws(ServerError) -> Confined<Value> {
    let service = service
    return try await service.run { () -> Result<Confined<Value>, ServerError> in
      do throws(ServerError) { return .success(Confined(try make(), on: service)) } catch {
        return .failure(error)
      }
    }.get()
  }

  /// Returns after the time; it takes no thread. For what looks at something now and then.
  package func wait(for duration: Duration) async { await service.sleep(for: duration) }
}
