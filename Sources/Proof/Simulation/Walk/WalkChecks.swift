import Ferry
import FerryModel

/// The invariants, looked at after each deed, with rules of their own.
struct WalkChecks {
  let before: WalkWorld
  let after: WalkWorld
  let deed: WalkDeed
  /// The keys that new objects have got by this deed.
  private let keys: [Int8: Int8]
  /// Temporary keys that nothing has any more.
  private let gone: Set<Int8>

  init(_ before: WalkWorld, _ after: WalkWorld, _ deed: WalkDeed) {
    (self.before, self.after, self.deed) = (before, after, deed)
    var keys: [Int8: Int8] = [:]
    var gone: Set<Int8> = []
    for operation in before.device.operations
    where operation.kind == .create && operation.isTemporary {
      let entry = after.stored.first { $0.payload.id == operation.id }
      if let entry, entry.state == .answered, entry.outcome == .accepted,
        !after.device.operations.contains(where: { $0.id == operation.id })
      {
        keys[operation.key] = entry.key
      }
      if operation.state != .withdrawn,
        !after.device.operations.contains(where: {
          $0.key == operation.key && $0.state != .withdrawn
        }) || !after.device.operations.contains(where: { $0.key == operation.key })
      {
        gone.insert(operation.key)
      }
    }
    self.keys = keys
    self.gone = gone
  }

  func run(_ refusal: WalkRefusal?) throws(WalkProblem) {
    try checkOperations()
    try checkDone()
    try checkVisible()
    try checkBusiness(refusal)
    try checkAnswers()
    if deed.kind == .restore || deed.kind == .keep { return }
    if deed.kind == .receive { try checkImport() } else { try checkImages() }
    try checkKept()
  }

  private func fail(_ invariant: Int, _ problem: String) throws(WalkProblem) {
    throw WalkProblem(invariant: invariant, problem: problem)
  }

  /// What the app saved is so.
  private func checkDone() throws(WalkProblem) {
    let shown = { (world: WalkWorld) in
      world.device.objects.first { $0.number == deed.target }?.visible
    }
    switch deed.kind {
    case .create, .createReferring:
      let (old, new) = (before.device.objects, after.device.objects)
      if new.count(where: { $0.visible != nil }) != old.count(where: { $0.visible != nil }) + 1 {
        try fail(1, "what was created is not visible")
      }
    case .editValue:
      if let row = shown(before), shown(after)?.value != (row.value + 1) % 3 {
        try fail(1, "\(row.key) was edited and is \(text(shown(after)))")
      }
    case .editReference:
      if let row = shown(before), (shown(after)?.other == 0) != (row.other != 0) {
        try fail(1, "\(row.key) was edited and is \(text(shown(after)))")
      }
    case .delete:
      if shown(after) != nil { try fail(1, "what was deleted is visible") }
    default: break
    }
  }

  /// Of one object there are at most three: on its way, submitted, open; in this order.
  private func checkOperations() throws(WalkProblem) {
    for object in after.device.objects {
      let own = after.device.operations.filter { $0.object == object.number }
      let flying = own.filter(\.isInFlight)
      if Set(flying.map(\.chain)).count > 1 {
        try fail(3, "two chains of \(name(object)) are on their way")
      }
      if own.count(where: \.isOpen) > 1 {
        try fail(3, "the app has two changes of \(name(object)) in hand")
      }
      // What a chain that was recalled kept apart is joined when it is sealed again.
      if own.count(where: { !$0.isInFlight && $0.wanted == 1 }) > 1 {
        try fail(3, "two changes of \(name(object)) are submitted and wait")
      }
      let places = own.map { $0.isInFlight ? 0 : $0.isOpen ? 2 : 1 }
      if places != places.sorted() {
        try fail(3, "the changes of \(name(object)) are in the order \(places)")
      }
    }
    for operation in after.device.operations
    where operation.state == .submitted && operation.sealed == nil {
      try fail(1, "a submitted change of \(operation.key) has no bytes")
    }
  }

  private func name(_ object: WalkObject) -> String {
    let key =
      object.visible?.key ?? object.image?.key
      ?? after.device.operations.first { $0.object == object.number }?.key
    return key.map(String.init) ?? "?"
  }

  /// What is visible is what was downloaded with the pending changes on top.
  private func checkVisible() throws(WalkProblem) {
    var seen: Set<Int8> = []
    for object in after.device.objects {
      if let row = object.visible, !seen.insert(row.key).inserted {
        try fail(5, "\(row.key) is visible twice")
      }
      let live = after.device.operations.filter {
        $0.object == object.number && $0.state != .withdrawn
      }
      var row = object.image
      var isKnown = true
      for operation in live {
        switch operation.kind {
        case .delete:
          if operation.state != .replayFailed || operation.counter > operation.failure { row = nil }
        case .create, .update:
          if row == nil, operation.kind == .update { isKnown = false }
          var laid = row ?? WalkRow(key: operation.key)
          if operation.changed.value != WalkValues.absent { laid.value = operation.changed.value }
          if operation.changed.hasReference { laid.other = operation.changed.other }
          row = laid
        }
      }
      if isKnown, row != object.visible {
        try fail(
          5, "\(name(object)) is visible as \(text(object.visible)) and must be \(text(row))")
      }
    }
  }

  private func text(_ row: WalkRow?) -> String {
    row.map { "(\($0.key), value \($0.value), other \($0.other))" } ?? "nothing"
  }

  private func checkBusiness(_ refusal: WalkRefusal?) throws(WalkProblem) {
    for row in after.business {
      if row.key <= 0 || row.other < 0 {
        try fail(3, "a temporary key reached the business system: \(text(row))")
      }
      if row.other != 0, !after.business.contains(where: { $0.key == row.other }) {
        try fail(3, "\(row.key) refers to \(row.other), which the business system does not have")
      }
    }
    if let refusal, !before.isTroubled, !isOfApp(refusal) {
      try fail(3, "nobody interfered, and the business system says \(refusal)")
    }
  }

  /// The app itself submitted a change that refers to what it had deleted, or a delete of what it
  /// still referred to. What it has changed since does not count.
  private func isOfApp(_ refusal: WalkRefusal) -> Bool {
    let shown = before.device.objects.compactMap(\.visible)
    let operations = before.device.operations
    switch refusal {
    case .missing(let key):
      let sent = operations.filter { $0.isSent && $0.changed.other == key }.map(\.counter).max()
      return !shown.contains { $0.key == key }
        || operations.contains {
          $0.kind == .create && $0.key == key && $0.counter > sent ?? .max
        }
    case .referred(let key):
      let sent = operations.filter { $0.isSent && $0.kind == .delete && $0.key == key }
        .map(\.counter).max()
      return shown.contains { $0.other == key }
        || operations.contains { $0.base.other == key && $0.counter > sent ?? .max }
    case .exists, .gone, .changed: return false
    }
  }

  /// What is answered once stays so.
  private func checkAnswers() throws(WalkProblem) {
    for entry in before.stored where entry.state == .answered {
      guard let now = after.stored.first(where: { $0.payload.id == entry.payload.id }) else {
        continue
      }
      if now.state != .answered || now.outcome != entry.outcome {
        try fail(2, "an operation that was answered is answered once more")
      }
    }
    for entry in after.stored where entry.state == .answered {
      if entry.isPerformed != (entry.outcome == .accepted) {
        try fail(2, "an operation is answered \(entry.outcome), and that is not so")
      }
    }
  }

  /// Between imports nothing that was downloaded changes.
  private func checkImages() throws(WalkProblem) {
    for object in before.device.objects {
      let now = after.device.objects.first { $0.number == object.number }
      if object.image != now?.image {
        try fail(4, "what was downloaded of \(text(object.image)) is gone without an import")
      }
    }
  }

  private func checkImport() throws(WalkProblem) {
    let images = after.device.objects.compactMap(\.image).sorted { $0.key < $1.key }
    if images != after.cache {
      try fail(
        4, "after an import the device has \(images.map(text)), not \(after.cache.map(text))")
    }
    for operation in before.device.operations where operation.isInFlight && operation.isSent {
      guard let entry = answer(to: operation) else { continue }
      if after.device.operations.contains(where: { $0.id == operation.id }) {
        try fail(entry.outcome == .accepted ? 6 : 7, "an answered change is pending as before")
      }
      guard operation.state != .withdrawn, entry.outcome != .accepted else { continue }
      let rest = after.device.operations.filter { $0.object == operation.object }
      guard rest.isEmpty, !refersToGone(operation) else { continue }
      let object = after.device.objects.first { $0.number == operation.object }
      if object?.visible != object?.image {
        try fail(7, "a refused change of \(operation.key) is on the device no more")
      }
    }
  }

  private func answer(to operation: WalkOperation) -> WalkStored? {
    after.stored.first { $0.payload.id == operation.id && $0.state == .answered }
  }

  private func refersToGone(_ operation: WalkOperation) -> Bool {
    gone.contains(operation.key) || gone.contains(operation.changed.other)
  }

  /// No change of the app is taken but by the app, or by its answer.
  private func checkKept() throws(WalkProblem) {
    let isOwn = { (number: UInt8) -> Bool in
      switch deed.kind {
      case .createPair, .editPair, .deletePair: true
      case .editValue, .editReference, .delete, .cancel: number == deed.target
      default: false
      }
    }
    for object in before.device.objects where !isOwn(object.number) {
      let live = before.device.operations.filter {
        $0.object == object.number && $0.state != .withdrawn
      }
      guard let last = live.last else { continue }
      // A key that comes back takes its object along.
      if object.visible == nil, deed.kind == .create || deed.kind == .createReferring { continue }
      guard let now = after.device.objects.first(where: { $0.number == object.number }) else {
        // Two rows that turned out to be one object.
        if keys.isEmpty, !live.contains(where: refersToGone) {
          try fail(1, "a change of \(last.key) is gone and nobody answered it")
        }
        continue
      }
      let isRefused =
        live.contains { (answer(to: $0)?.outcome ?? .accepted) != .accepted }
        || after.device.operations.contains {
          $0.object == object.number && $0.state == .replayFailed
        }
      let isAccepted = live.allSatisfy { answer(to: $0)?.outcome == .accepted }
      let rest = after.device.operations.filter { $0.object == object.number }
      if rest.isEmpty, !isRefused, !isAccepted, !live.contains(where: refersToGone),
        deed.kind != .submit || object.visible != now.visible
      {
        try fail(1, "a change of \(last.key) is gone and nobody answered it")
      }
      // A device that was set back hears of later changes of its own.
      if after.isRestored, live.contains(where: { answer(to: $0) != nil }) { continue }
      try checkValues(object, now, live, isRefused)
    }
  }

  private func checkValues(
    _ object: WalkObject, _ now: WalkObject, _ live: [WalkOperation], _ isRefused: Bool
  ) throws(WalkProblem) {
    guard let row = object.visible else {
      if now.visible != nil, live.last?.kind == .delete, !isRefused {
        try fail(6, "\(name(now)) was deleted and is visible")
      }
      return
    }
    // A row that gave way to this one has brought its own changes.
    let isOne = before.device.objects.allSatisfy { other in
      after.device.objects.contains { $0.number == other.number }
        || other.visible == nil && other.image == nil
    }
    guard isOne || keys.isEmpty else { return }
    guard let visible = now.visible else {
      if !live.contains(where: refersToGone), !gone.contains(row.other) {
        try fail(1, "\(name(now)) was visible with a pending change and is gone")
      }
      return
    }
    if live.contains(where: { $0.changed.value != WalkValues.absent }), visible.value != row.value {
      try fail(6, "the value of \(visible.key) was \(row.value) and is \(visible.value)")
    }
    let other = keys[row.other] ?? row.other
    if live.contains(where: \.changed.hasReference), visible.other != other,
      !gone.contains(row.other)
    {
      try fail(6, "\(visible.key) referred to \(other) and refers to \(visible.other)")
    }
  }
}

extension WalkStep {
  /// Nothing is sent before what it depends on has ended.
  func checkSent(_ outgoing: [WalkOperation]) throws(WalkProblem) {
    for operation in outgoing where !operation.isSent && operation.state == .submitted {
      guard let sealed = operation.sealed else { continue }
      // What was changed since it was submitted is not waited for.
      for other in world.device.operations
      where other.chain != operation.chain && other.counter < operation.counter {
        let isEarlier =
          (other.object == operation.object || other.key == operation.key)
          && other.sequence < operation.sequence
        let isMaker =
          other.kind == .create && sealed.changed.hasReference
          && sealed.changed.other == other.key
        if isEarlier || isMaker || isLeft(by: other, operation) {
          throw WalkProblem(
            invariant: 3,
            problem: "the \(WalkModel.kind(operation.kind).rawValue) of \(operation.key) is sent "
              + "before the \(WalkModel.kind(other.kind).rawValue) of \(other.key) has ended")
        }
      }
    }
  }

  /// Whether `other` ends a reference to what `operation` deletes.
  private func isLeft(by other: WalkOperation, _ operation: WalkOperation) -> Bool {
    guard operation.kind == .delete, other.kind != .create else { return false }
    guard other.kind == .delete || other.changed.hasReference else { return false }
    let led = [other.base.other, object(other.object).image?.other ?? 0]
    return led.contains(operation.key)
      && (other.kind == .delete || other.changed.other != operation.key)
  }
}
