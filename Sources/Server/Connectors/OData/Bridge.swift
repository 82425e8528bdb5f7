import Dispatch
import FerryConnector
import Synchronization

/// Between a connector, which blocks, and the client, which does not. Only for a connector's own thread:
/// a thread that runs tasks must not wait for a task.
enum Bridge {
  /// Blocks until `body` has ended on other threads.
  static func wait<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
    let done = DispatchSemaphore(value: 0)
    let result = Mutex<Value?>(nil)
    let store: @Sendable (Value) -> Void = { value in result.withLock { $0 = value } }
    Task.detached {
      store(await body())
      done.signal()
    }
    done.wait()
    guard let value = result.withLock({ $0 }) else { preconditionFailure("no result of a task") }
    return value
  }

  static func get<Value: Sendable>(
    _ body: @escaping @Sendable () async -> Result<Value, ConnectorError>
  ) throws(ConnectorError) -> Value {
    try wait(body).get()
  }
}
