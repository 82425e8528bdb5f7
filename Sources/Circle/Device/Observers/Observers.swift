import FerryModel
import FerrySQLite
import FerryWire
import Synchronization

/// Tells the app what has happened.
package final class Observers: Sendable {
  private struct Registration: Sendable {
    let handler: any StepHandler
    /// Only what concerns this entity; nil for the handler of the database.
    let entity: String?
    /// Where it is called; nil for the thread that tells.
    let actor: (any Actor)?
    let hearsEachObject: Bool
  }

  /// What is let go first while the app's actor is too far behind.
  package enum Weight {
    /// How something goes on.
    case passing
    case ordinary
    /// What the app must act on, or cannot ask for: login and subscription.
    case lasting
  }

  private enum Item {
    case step(Weight, DatabaseStep)
    /// A step that a later one of the same makes superfluous.
    case progress(Progress, DatabaseStep)
    case owed

    /// Nil for what is never let go.
    var weight: Weight? {
      switch self {
      case .step(let weight, _): weight
      case .progress: .passing
      case .owed: nil
      }
    }
  }

  /// Of what a progress is told.
  private enum Progress: Equatable {
    case rows
    case bigValue(entity: String, object: Int64, attribute: String)
  }

  private struct State {
    var registrations: [Registration] = []
    /// What waits to be told on an actor of the app's, in order.
    var items: [Item] = []
    var isDelivering = false
    var onWork: (@Sendable () -> Void)?
    var isSpaceLow = false
  }

  /// Calls that wait while the app's actor is busy; of more the oldest are let go, by their weight.
  /// What is owed waits in the database and is never let go.
  package static let waitingLimit = 1_000

  private let state = Mutex(State())
  /// Hears everything that a handler of the database hears, for those who follow events.
  package let events = EventBoard()

  package init() {}

  /// Takes the place of the handler before it, of the database or of this entity.
  package func register(
    _ handler: any StepHandler, of entity: String? = nil, on actor: (any Actor)? = nil
  ) {
    state.withLock { state in
      state.registrations.removeAll { $0.entity == entity }
      state.registrations.append(
        Registration(
          handler: handler, entity: entity, actor: actor,
          hearsEachObject: handler.hearsEachObject))
    }
  }

  /// Called when something waits for `deliver`.
  package func onWork(_ work: (@Sendable () -> Void)?) { state.withLock { $0.onWork = work } }

  /// Without a handler the data is processed all the same and nothing is told (sync/M3).
  package func tell(_ step: DatabaseStep, _ weight: Weight = .ordinary) {
    tell(.step(weight, step), step)
  }

  /// Of several that wait, the last is enough.
  package func tell(_ progress: ImportProgress) {
    let step: DatabaseStep = .downloading(progress)
    tell(.progress(.rows, step), step)
  }

  /// Of several that wait of one value, the last is enough.
  package func tell(_ progress: BigValueProgress) {
    let value = Progress.bigValue(
      entity: progress.entity, object: progress.surrogateKey, attribute: progress.attribute)
    let step: DatabaseStep = .bigValue(progress)
    tell(.progress(value, step), step)
  }

  private func tell(_ item: Item, _ step: DatabaseStep) {
    events.hear(step)
    guard let handler = registration(of: nil) else { return }
    if isDirect { handler.handler.handle(step) } else { put(item) }
  }

  /// Asks the handler of the database; without one, the answer is `otherwise`.
  package func ask<Answer: Sendable>(
    otherwise: Answer, _ question: @escaping @Sendable (any StepHandler) -> Answer
  ) async -> Answer {
    guard let registration = registration(of: nil) else { return otherwise }
    guard let actor = registration.actor else { return question(registration.handler) }
    return await Observers.make(question, registration.handler, on: actor)
  }

  /// Makes the callbacks that are owed, or has them made on the app's actor; each is forgotten after
  /// the handler of the database has returned from it. Without that handler it waits, and the handler
  /// of its entity hears it once. Of several processes on one database one tells at a time, so that
  /// each callback is made in one of them; what one leaves behind that is killed, another tells when
  /// it synchronizes.
  package func tellOwed(of store: Store) throws(FerryError) {
    guard try next(of: store) != nil else { return }
    guard isDirect else {
      put(.owed)
      return
    }
    guard try store.beginTelling() else { return }
    defer { store.endTelling() }
    while let (notice, handlers) = try next(of: store) {
      if store.world.has(.callbackKept), notice.kind == .replayFailure { return }
      if let step = try step(of: notice, store) {
        if !handlers.contains(where: isEvents), notice.hasCounts { events.hear(step) }
        for handler in handlers {
          if handler.hearsEachObject {
            for object in try Self.objects(of: notice, store) {
              handler.handler.handle(.importedObject(object))
            }
          }
          if notice.hasCounts { handler.handler.handle(step) }
        }
      }
      try forget(notice, of: store, isWhole: handlers.contains { $0.entity == nil })
    }
  }

  /// Makes what waits for the app's actors, on the caller's actor but for the callbacks themselves.
  package func deliver(
    of store: Store, isolation: isolated (any Actor)? = #isolation
  ) async throws(FerryError) {
    guard begin() else { return }
    while let item = next() {
      switch item {
      case .step(_, let step), .progress(_, let step):
        if let handler = registration(of: nil) { await report(step, to: handler) }
      case .owed:
        do throws(FerryError) { try await deliverOwed(of: store) } catch {
          state.withLock { $0.isDelivering = false }
          throw error
        }
      }
    }
  }

  private func deliverOwed(
    of store: Store, isolation: isolated (any Actor)? = #isolation
  ) async throws(FerryError) {
    guard try store.beginTelling() else { return }
    defer { store.endTelling() }
    while let (notice, handlers) = try next(of: store) {
      if let step = try step(of: notice, store) {
        if !handlers.contains(where: isEvents), notice.hasCounts { events.hear(step) }
        for handler in handlers {
          if handler.hearsEachObject {
            for object in try Self.objects(of: notice, store) {
              await report(.importedObject(object), to: handler)
            }
          }
          if notice.hasCounts { await report(step, to: handler) }
        }
      }
      try forget(notice, of: store, isWhole: handlers.contains { $0.entity == nil })
    }
  }

  private func report(
    _ step: DatabaseStep, to registration: Registration,
    isolation: isolated (any Actor)? = #isolation
  ) async {
    guard let actor = registration.actor else {
      registration.handler.handle(step)
      return
    }
    await Observers.make({ $0.handle(step) }, registration.handler, on: actor)
  }

  private static func make<Answer: Sendable>(
    _ call: @Sendable (any StepHandler) -> Answer, _ handler: any StepHandler,
    on actor: isolated any Actor
  ) -> Answer { call(handler) }

  /// Tells once that there is no space, and once that there is again.
  package func space(isLow: Bool) {
    let isNew = state.withLock { state in
      defer { state.isSpaceLow = isLow }
      return state.isSpaceLow != isLow
    }
    guard isNew else { return }
    tell(isLow ? .storageLow : .storageRecovered)
  }

  /// Whether a handler wants to hear of each object of an import.
  package var hearsEachObject: Bool {
    state.withLock { $0.registrations.contains(where: \.hearsEachObject) }
  }

  /// Whether there is a handler of the database.
  package var isHeard: Bool { registration(of: nil) != nil }

  // What waits.

  private var isDirect: Bool {
    state.withLock { $0.registrations.allSatisfy { $0.actor == nil } && $0.items.isEmpty }
  }

  private func put(_ item: Item) {
    let work = state.withLock { state in
      switch (item, state.items.last) {
      case (.progress(let progress, _), .progress):
        if let same = Observers.place(of: progress, in: state.items) {
          state.items.remove(at: same)
        }
        state.items.append(item)
      case (.owed, .owed): break
      default: state.items.append(item)
      }
      if state.items.count > Observers.waitingLimit { Observers.letGoOne(of: &state.items) }
      return state.onWork
    }
    work?()
  }

  private static func letGoOne(of items: inout [Item]) {
    for weight in [Weight.passing, .ordinary, .lasting] {
      guard let oldest = items.firstIndex(where: { $0.weight == weight }) else { continue }
      items.remove(at: oldest)
      return
    }
  }

  /// Where the same waits at the end, with nothing behind it that it must be told before.
  private static func place(of progress: Progress, in items: [Item]) -> Int? {
    for (place, item) in items.enumerated().reversed() {
      guard case .progress(let other, _) = item else { return nil }
      if other == progress { return place }
    }
    return nil
  }

  private func begin() -> Bool {
    state.withLock { state in
      guard !state.isDelivering else { return false }
      state.isDelivering = true
      return true
    }
  }

  private func next() -> Item? {
    state.withLock { state in
      guard !state.items.isEmpty else {
        state.isDelivering = false
        return nil
      }
      return state.items.removeFirst()
    }
  }

  // Who hears it.

  private func isEvents(_ registration: Registration) -> Bool {
    registration.handler is EventBoard
  }

  private func registration(of entity: String?) -> Registration? {
    state.withLock { $0.registrations.first { $0.entity == entity } }
  }

  /// The oldest pending notice that has a handler, and its handlers: of an import first the
  /// database's, of a replay first the entity's (facts/1.7).
  private func next(of store: Store) throws(FerryError) -> (Notice, [Registration])? {
    var known = state.withLock { $0.registrations }
    if events.isFollowed, !known.contains(where: { $0.entity == nil }) {
      // Those who follow events hear what is owed in place of a handler.
      known.append(
        Registration(handler: events, entity: nil, actor: nil, hearsEachObject: false))
    }
    guard !known.isEmpty else { return nil }
    let whole = known.first { $0.entity == nil }
    // Without the database's handler, what the entities' have not heard.
    let entities = whole == nil ? known.compactMap(\.entity) : nil
    let first = try store.read { connection throws(SQLiteError) in
      try NoticeTable.first(of: entities, connection)
    }
    guard let notice = first else { return nil }
    let own = notice.isHeard ? nil : known.first { $0.entity != nil && $0.entity == notice.entity }
    switch notice.kind {
    case .importSuccess: return (notice, [whole].compactMap(\.self))
    case .entityImported: return (notice, [whole, own].compactMap(\.self))
    case .replaySuccess, .replayFailure, .replayUnknown:
      return (notice, [own, whole].compactMap(\.self))
    }
  }

  /// It was told to everybody (`isWhole`), or to the handler of its entity alone.
  private func forget(
    _ notice: Notice, of store: Store, isWhole: Bool
  ) throws(FerryError) {
    try store.write { connection throws(SQLiteError) in
      if isWhole {
        try NoticeTable.remove(notice, connection)
      } else {
        try NoticeTable.hear(notice, connection)
      }
    }
  }

  /// Nil for what the model does not have any more.
  private func step(of notice: Notice, _ store: Store) throws(FerryError) -> DatabaseStep? {
    switch notice.kind {
    case .importSuccess: .importEnded(group: notice.content ?? "")
    case .entityImported: EntityChanges(notice).map { .imported($0) }
    case .replaySuccess: try replayed(notice, store).map { .accepted($0) }
    case .replayFailure: try replayed(notice, store).map { .refused($0) }
    case .replayUnknown: try replayed(notice, store).map { .unknown($0) }
    }
  }

  private func replayed(
    _ notice: Notice, _ store: Store
  ) throws(FerryError) -> ReplayedObject? {
    guard let entity = notice.entity.flatMap(store.model.entity(named:)),
      let object = notice.object, let key = notice.key,
      let operation = OperationKind(rawValue: notice.content ?? "")
    else { return nil }
    let record = try Records(store).of(entity, object: object)
    return ReplayedObject(
      entity: entity.name, key: record?.key ?? key, operation: operation, record: record)
  }
}

extension Observers {
  /// The objects of an import that are still there.
  private static func objects(
    of notice: Notice, _ store: Store
  ) throws(FerryError) -> [ImportedObject] {
    guard notice.kind == .entityImported,
      let entity = notice.entity.flatMap(store.model.entity(named:))
    else { return [] }
    var objects: [ImportedObject] = []
    for object in notice.objects {
      if let record = try Records(store).of(entity, object: object) {
        objects.append(ImportedObject(record))
      }
    }
    return objects
  }
}

extension EntityChanges {
  fileprivate init?(_ notice: Notice) {
    guard let entity = notice.entity, let counts = notice.counts else { return nil }
    self.init(entity: entity)
    (inserted, updated, deleted) = (counts[0], counts[1], counts[2])
  }
}
