import FerryWorld
import Synchronization

/// What `/metrics` says of the server as a whole.
final class ServerMeter: Sendable {
  /// Of the program; empty where it is not known.
  let version: String
  let started: Timestamp
  private let refused = Mutex<[String: Int64]>([:])
  private let otherTroubles = Mutex<[String: String]>([:])

  init(_ world: World, version: String = "") {
    self.version = version
    started = world.clock.now
  }

  /// A login or a request was refused with this code.
  func refuse(_ code: String) { refused.withLock { $0[code, default: 0] += 1 } }

  var refusals: [String: Int64] { refused.withLock { $0 } }

  /// Parts of the program beside the packages that do not work, with the reason.
  var troubles: [String: String] {
    get { otherTroubles.withLock { $0 } }
    set { otherTroubles.withLock { $0 = newValue } }
  }
}
