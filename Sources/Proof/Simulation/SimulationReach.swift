import Ferry
import FerryModel

/// A deed, and the state in which it met the pending changes of an object.
package struct ReachedPair: Sendable, Hashable, CustomStringConvertible {
  /// What is done to an object, or happens while changes of it are pending.
  package enum Deed: String, Sendable, CaseIterable {
    // The app.
    case edit, delete, cancel, submit
    // The session: a change leaves the device; its answer comes; another image of its row comes.
    case sent, accepted, refused, notTried, unknown, imported
    // The device: its process or machine dies, it is ended in order, it goes on from a backup, a
    // copy of it goes on beside it.
    case died, ended, restored, copied
    // The server, while it may have the changes.
    case serverDied, serverEnded, serverRestored
    // Others change the row.
    case changedByOthers
  }

  /// The changes of an object on one device, in their order.
  package enum State: Sendable, Hashable, CustomStringConvertible {
    case none
    case one(OperationKind, StatedAct.State)
    /// Two or more: the first and the last.
    case several(StatedAct.State, StatedAct.State)

    init(_ operations: [PendingOperation]) {
      guard let first = operations.first, let last = operations.last else {
        self = .none
        return
      }
      self =
        operations.count == 1
        ? .one(first.kind, first.stage) : .several(first.stage, last.stage)
    }

    package var description: String {
      switch self {
      case .none: "no change"
      case .one(let kind, let stage): "\(kind.rawValue) \(stage)"
      case .several(let first, let last): "\(first), then \(last)"
      }
    }

    /// The states in which its changes are.
    fileprivate var stages: Set<StatedAct.State> {
      switch self {
      case .none: []
      case .one(_, let stage): [stage]
      case .several(let first, let last): [first, last]
      }
    }

    /// From 0, which is met all the time, to 3. A guided run draws by it.
    var rarity: Int {
      switch self {
      case .none, .one(.create, .waiting), .one(.update, .waiting): 0
      case .one(.create, .sent), .one(.update, .sent): 1
      case .one(_, .unknown), .one(_, .withdrawn): 3
      case .one(.delete, _): 2
      case .one: 2
      case .several(.sent, _): 2
      case .several: 3
      }
    }

    static let all: [State] =
      [.none]
      + [OperationKind.create, .update, .delete].flatMap { kind in
        StatedAct.State.allCases.map { State.one(kind, $0) }
      }
      + StatedAct.State.allCases.flatMap { first in
        StatedAct.State.allCases.map { State.several(first, $0) }
      }
  }

  package let deed: Deed
  package let state: State

  /// `edit: update waiting`.
  package var description: String { "\(deed): \(state)" }

  /// All that can be, by the rules of the device: see `isPossible`.
  package static let all: [ReachedPair] = Deed.allCases.flatMap { deed in
    State.all.map { ReachedPair(deed: deed, state: $0) }
  }.filter(\.isPossible)

  /// What no rule of the device excludes. Only an app finds an object without changes; what is open
  /// takes further edits in, so that nothing stands behind it; only what is sealed is sent, and only
  /// what has left, or waits for another answer, is answered.
  package var isPossible: Bool {
    if case .none = state { return deed == .edit || deed == .delete }
    if case .several(let first, let last) = state {
      guard first != .waiting, first != .replayFailed, last == .waiting || last == .wanted else {
        return false
      }
      // Once submitted, edits behind it are submitted with it.
      if first == .wanted, last == .wanted { return false }
    }
    switch deed {
    case .changedByOthers:
      // Nobody else knows the key of a new object.
      if case .one(.create, _) = state { return false }
      return true
    case .edit, .delete:
      // A deleted object is not visible, nor a new one that was cancelled.
      switch state {
      case .one(.delete, let stage): return stage == .replayFailed || stage == .withdrawn
      case .one(.create, .withdrawn): return false
      default: return true
      }
    case .sent:
      switch state {
      case .one(_, let first), .several(let first, _): return [.submitted, .wanted].contains(first)
      case .none: return false
      }
    // Outcomes stay unknown only where the server is never restored: see `Backups`.
    case .serverRestored: return !state.stages.contains(.unknown)
    case .accepted, .notTried:
      return !state.stages.isDisjoint(with: [.sent, .withdrawn, .unknown])
    case .refused: return !state.stages.isDisjoint(with: [.sent, .withdrawn, .unknown, .wanted])
    case .unknown: return !state.stages.isDisjoint(with: [.sent, .withdrawn])
    default: return true
    }
  }
}

extension PendingOperation {
  /// Where it is on its way.
  var stage: StatedAct.State {
    switch state {
    case .waiting: wanted == .no ? .waiting : .wanted
    case .submitted: isSent ? .sent : .submitted
    case .replayFailed: .replayFailed
    case .unknown: .unknown
    case .withdrawn: .withdrawn
    }
  }
}

extension DeviceWatch {
  /// The states of all objects that have changes, as they were at the last look.
  var states: [ObjectNumber: ReachedPair.State] {
    Dictionary(grouping: operations.values, by: \.name).mapValues { operations in
      ReachedPair.State(operations.sorted { $0.sequence < $1.sequence })
    }
  }

  /// Something happens to an object; `isKnown`: one without changes counts too.
  func reach(_ deed: ReachedPair.Deed, _ name: ObjectNumber, isKnown: Bool = false) {
    let own = operations.values.filter { $0.name == name }.sorted { $0.sequence < $1.sequence }
    guard isKnown || !own.isEmpty else { return }
    reach[ReachedPair(deed: deed, state: ReachedPair.State(own)), default: 0] += 1
  }

  /// Something happens to the whole device.
  func reach(_ deed: ReachedPair.Deed) {
    for state in states.values { reach[ReachedPair(deed: deed, state: state), default: 0] += 1 }
  }

  /// Others have changed a row.
  func reach(_ deed: ReachedPair.Deed, _ row: RowName) {
    let pending = operations.values.first { $0.entity == row.entity && $0.key == row.key }?.object
    guard let object = pending ?? tables.lazy.compactMap({ $0.objects[row] }).first else { return }
    reach(deed, ObjectNumber(entity: row.entity, number: object))
  }

  /// Images of rows that have changes and are others now.
  func reachImported(_ before: [DeviceTable]) {
    guard case .session? = cause, !operations.isEmpty else { return }
    for (old, new) in zip(before, tables) where old !== new {
      for name in states.keys where name.entity == new.entity.name {
        if old.images[name.number] != new.images[name.number] { reach(.imported, name) }
      }
    }
  }
}

extension Simulation {
  /// What was met so far, on all devices.
  func reach(_ pair: ReachedPair) -> Int {
    devices.reduce(counts.reach[pair, default: 0]) { $0 + $1.watch.reach[pair, default: 0] }
  }

  /// Something happens to the server, and so to what devices have sent and not heard of.
  func reachAll(_ deed: ReachedPair.Deed) { for device in devices { device.watch.reach(deed) } }
}
