import Synchronization

/// Turns the steps that most apps need into events for those who follow them.
package final class EventBoard: StepHandler {
  /// Events that wait for a loop that is busy; of more the oldest are dropped.
  package static let waitingLimit = 1_000

  private let loops = StreamFollowers<DatabaseEvent, Void>()
  /// Entities of the import that is being reported.
  private let imported = Mutex<Set<String>>([])
  /// Whether the state of the database says that a login is needed: an event says the same.
  private let isLoginNeeded = Mutex<(@Sendable () -> Bool)?>(nil)

  init() {}

  func judge(_ isNeeded: @escaping @Sendable () -> Bool) {
    isLoginNeeded.withLock { $0 = isNeeded }
  }

  var isFollowed: Bool { loops.count > 0 }

  /// The events from now on.
  package func follow() -> AsyncStream<DatabaseEvent> {
    loops.follow((), keeping: EventBoard.waitingLimit)
  }

  /// Hears a step, if anybody follows.
  func hear(_ step: DatabaseStep) { if isFollowed { handle(step) } }

  /// The database is closed: every loop ends.
  package func close() { loops.close() }

  private func post(_ event: DatabaseEvent) { loops.post(event) }

  package func handle(_ step: DatabaseStep) {
    switch step {
    case .connected: post(.connected)
    case .disconnected(let error): post(.disconnected(error))
    case .signInFailed(let error): if !error.isTransient { postRefusedLogin(error) }
    case .helpNeeded(let error): post(.helpNeeded(error))
    case .downloading(let progress): post(.downloading(progress))
    case .imported(let changes):
      imported.withLock { imported in _ = imported.insert(changes.entity) }
    case .importEnded:
      let entities = imported.withLock { imported in
        defer { imported = [] }
        return imported
      }
      post(.imported(entities: entities))
    case .accepted(let object): post(.accepted(reference(object)))
    case .refused(let object): post(.refused(reference(object), Refusal(of: object.record)))
    case .unknown(let object): post(.unknown(reference(object)))
    case .waiting(let object, let reason): post(.waiting(reference(object), reason))
    case .storageLow: post(.storageLow)
    case .storageRecovered: post(.storageRecovered)
    default: break
    }
  }

  /// A login does not help a locked device, nor one that was wiped. Where another user, or a wrong
  /// password, was refused beside a user who stays signed in, the call has thrown it, and all goes on.
  private func postRefusedLogin(_ error: FerryError) {
    if error.code == .deviceLocked || error.code == .wiped {
      post(.helpNeeded(error))
    } else if isLoginNeeded.withLock({ $0 })?() ?? true {
      post(.signInNeeded(error))
    }
  }

  private func reference(_ object: ReplayedObject) -> ObjectReference {
    ObjectReference(entity: object.entity, key: object.key)
  }
}
