import Foundation
import Synchronization

/// Something that blocks, on a thread of its own: a test looks at it from outside meanwhile.
final class Aside<Answer: Sendable>: Sendable {
  private let condition = NSCondition()
  private let answer = Mutex<Answer?>(nil)

  init(_ body: @escaping @Sendable () -> Answer) {
    Thread { [self] in
      let found = body()
      condition.lock()
      answer.withLock { $0 = found }
      condition.broadcast()
      condition.unlock()
    }.start()
  }

  /// Waits for it.
  var value: Answer {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let found = answer.withLock({ $0 }) { return found }
      condition.wait()
    }
  }
}
