import FerryWorld
import Synchronization

/// Slows down who sends refresh tokens that are none, as `LoginGuard` slows down wrong passwords: by
/// device and address, by address, and by device. A device that has renewed its session from there is
/// never slowed down for what others do. Any thread.
final class RenewalGuard: Sendable {
  private let state = Mutex(LoginGuard())
  private let clock: any WorldClock

  init(clock: any WorldClock) { self.clock = clock }

  /// Throws `tooManyGuesses`, which says when to come again.
  func mayTry(_ device: String, from address: String) throws(ServerError) {
    let attempt = LoginGuard.Attempt(user: device, device: device, address: address)
    let now = clock.moment
    guard let end = state.withLock({ $0.lockEnd(attempt, now: now) }) else { return }
    let seconds = max(1, (end.milliseconds - now.milliseconds + 999) / 1_000)
    throw ServerError(
      .tooManyGuesses, "too many sessions that have ended were to be renewed from this address",
      hint: "Try again in \(seconds) s.", isTransient: true, retryAfterSeconds: seconds)
  }

  /// The device has logged in, or renewed its session.
  func succeeded(_ device: String, from address: String) {
    let attempt = LoginGuard.Attempt(user: device, device: device, address: address)
    state.withLock { $0.succeeded(attempt) }
  }

  /// A session was not renewed. Only a token that is none counts: all else is no guess.
  func failed(_ device: String, from address: String, _ reason: ServerError.Code) {
    guard reason == .revokedToken else { return }
    let attempt = LoginGuard.Attempt(user: device, device: device, address: address)
    let now = clock.moment
    state.withLock { $0.failed(attempt, now: now) }
  }
}
