import FerryCrypto
import FerryWorld
import Synchronization

/// The keys under one name, newest last: what was sealed with an older one is still good, so a key is
/// changed without logging anyone out. Any thread.
///
/// The first is in the secret of this name, each further one in `<name>.2`, `<name>.3`, …
package final class KeyRing: Sendable {
  /// Keys that still open: those of eight changes, which a device silent for 60 days may have met.
  static let kept: Int = 9
  /// How long a new key only opens: the other nodes of the store must have it before one seals with
  /// it.
  static let delay: Duration = .seconds(10)

  private struct State {
    var keys: [[UInt8]]
    /// Before then the key before the last one seals.
    var sealsFrom: Timestamp?
  }

  private let name: String
  private let state: Mutex<State>

  /// One key, for tests.
  package init(_ key: [UInt8]) {
    name = ""
    state = Mutex(State(keys: [key], sealsFrom: nil))
  }

  /// Those of a store; the first is made by `make` where there is none.
  package init(
    _ name: String, _ store: any Store, make: () -> [UInt8]
  ) throws(ServerError) {
    self.name = name
    state = Mutex(State(keys: [try store.secret(name, make: make)], sealsFrom: nil))
    _ = try load(store, now: nil)
  }

  /// What seals now.
  func current(now: Timestamp) -> [UInt8] {
    state.withLock { state in
      if let from = state.sealsFrom, now < from, state.keys.count > 1 {
        return state.keys[state.keys.count - 2]
      }
      return state.keys[state.keys.count - 1]
    }
  }

  /// All that open, newest first.
  var all: [[UInt8]] { state.withLock { $0.keys.suffix(KeyRing.kept).reversed() } }

  /// Whether one of them made the seal.
  func opens(_ seal: [UInt8], of text: [UInt8]) -> Bool {
    all.contains { equalInConstantTime(seal, SHA256Digest.authenticate(text, key: $0)) }
  }

  /// Takes up keys that another node has made; returns whether there were any.
  package func load(_ store: any Store, now: Timestamp?) throws(ServerError) -> Bool {
    var isNew = false
    while let key = try store.knownSecret(KeyRing.name(name, count + 1)) {
      add(key, now)
      isNew = true
    }
    return isNew
  }

  /// Makes another one.
  package func rotate(
    _ store: any Store, now: Timestamp, make: () -> [UInt8]
  ) throws(ServerError) {
    _ = try load(store, now: now)
    add(try store.secret(KeyRing.name(name, count + 1), make: make), now)
  }

  /// Changes whenever there is another key, and an old one may open no more.
  var generation: Int { count }

  private var count: Int { state.withLock { $0.keys.count } }

  private func add(_ key: [UInt8], _ now: Timestamp?) {
    state.withLock { state in
      state.keys.append(key)
      state.sealsFrom = now?.advanced(by: KeyRing.delay)
    }
  }

  private static func name(_ name: String, _ number: Int) -> String { "\(name).\(number)" }
}
