import FerryConnector
import FerryWorld

/// Reads again what was touched while it was read, or what somebody may have changed. It belongs to the
/// actor that owns the connector, and is used on its thread only.
final class ReadBacks {
  private let connector: any Connector
  /// Nil: of whatever connection.
  private let connection: Int?
  private let service: ServiceHost
  private let world: World
  private let executor: ThreadExecutor
  private var trouble: LastingTrouble

  init(
    _ connector: any Connector, of connection: Int?, _ service: ServiceHost, _ world: World,
    _ executor: ThreadExecutor
  ) {
    self.connector = connector
    self.connection = connection
    self.service = service
    self.world = world
    self.executor = executor
    trouble = LastingTrouble(
      "rows could not be read again; tried again", over: "rows can be read again",
      connection.map { service.rules.connections.fields($0) } ?? [])
  }

  /// All that waits to be read.
  func run(isolation: isolated (any Actor)? = #isolation) async throws(ServerError) {
    while let task = try await service.nextReadBack(of: connection) { try await read(task) }
  }

  private func read(
    _ task: ReadBackTask, isolation: isolated (any Actor)? = #isolation
  ) async throws(ServerError) {
    let rows: [RowImage]
    do throws(ConnectorError) { rows = try connector.read(task.entity, keys: task.keys) } catch {
      await service.abandon(task)
      trouble.tell(error.description, world.log)
      await executor.sleep(for: .seconds(1))
      return
    }
    trouble.tell(nil, world.log)
    try await service.finish(task, rows)
  }
}

/// Reads again what a connection of several has, on a thread of its own: a load of another one, however
/// long, keeps nobody waiting.
actor ReadHost {
  private let executor: ThreadExecutor
  private let reads: ReadBacks
  private let connection: Int
  private let service: ServiceHost
  private let world: World
  private var isStopped = false

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(connector: sending any Connector, of connection: Int, service: ServiceHost, world: World) {
    executor = ThreadExecutor(name: "ferry-read")
    reads = ReadBacks(connector, of: connection, service, world, executor)
    self.connection = connection
    self.service = service
    self.world = world
  }

  func run() async {
    while !isStopped {
      do throws(ServerError) { try await reads.run() } catch {
        guard error.code != .replacedPackage else { return }
        world.log.error("the store failed during a reading", ("reason", error.description))
        await executor.sleep(for: .seconds(1))
      }
      if !isStopped {
        await service.waitForReading(of: connection, patience: .seconds(1))
      }
    }
  }

  func stop() { isStopped = true }
}
