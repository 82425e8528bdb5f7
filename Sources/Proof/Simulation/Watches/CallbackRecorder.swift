import Ferry
import FerryModel
import FerryReference
import Synchronization

/// Keeps what the app was told.
final class CallbackRecorder: CallbackHandler {
  /// What a callback tells of.
  struct Told: Hashable {
    enum Kind: String { case success, failure, unknown }

    let kind: Kind
    let entity: String
    let key: ObjectKey
    var text: String { "\(kind) of \(entity) \(key)" }
  }

  /// What a callback that was not made will tell of.
  struct Owed: Hashable {
    let kind: Told.Kind
    let entity: String
  }

  private struct State {
    var told: [Told: Int] = [:]
    var counts: [Told.Kind: Int] = [:]
    var imports = 0
  }

  private let state = Mutex(State())

  var told: [Told: Int] { state.withLock { $0.told } }
  var imports: Int { state.withLock { $0.imports } }
  func count(of kind: Told.Kind) -> Int { state.withLock { $0.counts[kind] ?? 0 } }

  func onImportSuccess(group: String) { state.withLock { $0.imports += 1 } }
  func onReplaySuccess(_ object: ReplayedObject) { add(.success, object) }
  func onReplayFailure(_ object: ReplayedObject) { add(.failure, object) }
  func onReplayUnknown(_ object: ReplayedObject) { add(.unknown, object) }

  private func add(_ kind: Told.Kind, _ object: ReplayedObject) {
    state.withLock { state in
      state.told[Told(kind: kind, entity: object.entity, key: object.key), default: 0] += 1
      state.counts[kind, default: 0] += 1
    }
  }
}
