import Dispatch
import Synchronization

/// Between a connector, which blocks, and the client, which does not. Only for a connector's own thread:
/// a thread that runs tasks must not wait for a task.
package enum Bridge {
  /// Blocks until `body` has ended on other threads.
  package static func wait<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value
  {
    begin(body).wait()
  }

  /// Begins `body` on other threads and returns at once.
  package static func begin<Value: Sendable>(
    _ body: @escaping @Sendable () async -> Value
  ) -> Pending<Value> {
    let pending = Pending<Value>()
    Task.detached { pending.end(await body()) }
    return pending
  }

  /// What is still under way.
  package final class Pending<Value: Sendable>: Sendable {
    private let done = DispatchSemaphore(value: 0)
    private let result = Mutex<Value?>(nil)

    fileprivate func end(_ value: Value) {
      result.withLock { $0 = value }
      done.signal()
    }

    /// Blocks until it has ended. Call it once.
    package func wait() -> Value {
      done.wait()
      guard let value = result.withLock({ $0 }) else { preconditionFailure("no result of a task") }
      return value
    }
  }

  package static func get<Value: Sendable>(
    _ body: @escaping @Sendable () async -> Result<Value, ConnectorError>
  ) throws(ConnectorError) -> Value {
    try wait(body).get()
  }
}
