import Dispatch

/// Hashes and compares passwords on a thread apart, one after the other.
///
/// So a herd of logins costs one core and 19 MB at a time, and nobody else waits.
package actor PasswordDesk {
  private let executor = PasswordExecutor()

  package init() {}

  nonisolated package var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// As `PasswordHash.make`.
  package func make(password: String, salt: [UInt8]) throws(PasswordError) -> String {
    try PasswordHash.make(password: password, salt: salt)
  }

  /// As `PasswordHash.verify`.
  package func verify(password: String, hash: String) throws(PasswordError) -> Bool {
    try PasswordHash.verify(password: password, hash: hash)
  }
}

/// One thread at a time, none while there is nothing to do.
private final class PasswordExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "ferry.passwords")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
