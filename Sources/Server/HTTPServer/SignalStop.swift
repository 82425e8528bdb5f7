import Glibc
import Synchronization

/// Where a signal is to be heard; read by the signal handler, so nothing but an atomic.
private let heard = Atomic<CInt>(-1)

/// SIGTERM and SIGINT stop a server with its configured grace; the second one at once.
///
/// One server per process can be stopped so. It must live until the process ends.
package enum SignalStop {
  /// Takes both signals from whoever had them before.
  package static func install(for server: HTTPServer) {
    heard.store(server.engine.stopEvent, ordering: .sequentiallyConsistent)
    var action = sigaction()
    action.sa_flags = SA_RESTART
    action.__sigaction_handler.sa_handler = { _ in
      // Only what POSIX allows in a handler: one write, and errno as it was.
      let kept = errno
      var one: UInt64 = 1
      _ = write(heard.load(ordering: .relaxed), &one, 8)
      errno = kept
    }
    sigaction(SIGTERM, &action, nil)
    sigaction(SIGINT, &action, nil)
  }

  /// Restores what the system does at both signals.
  package static func uninstall() {
    signal(SIGTERM, SIG_DFL)
    signal(SIGINT, SIG_DFL)
    heard.store(-1, ordering: .sequentiallyConsistent)
  }
}
