import FerryTestSupport
import Synchronization

/// A gate that holds the answers of a service until the test opens it.
final class Gate: Sendable {
  private let isOpen = Mutex(false)

  func open() { isOpen.withLock { $0 = true } }

  func wait() {
    let patience = Patience()
    while !isOpen.withLock({ $0 }), patience.lasts() {}
  }
}

func eventually(_ isSo: () async -> Bool) async -> Bool {
  let patience = Patience()
  while await !isSo() { guard await patience.lasts() else { return false } }
  return true
}
