import Ferry
import FerryModel

/// What may happen in a walk. The names that people know are in `word`.
struct WalkDeed: Hashable {
  enum Kind: UInt8, CaseIterable {
    case create, createReferring, createPair
    case editValue, editReference, editPair
    case delete, deletePair
    case cancel, submit
    case send, sendLost, sendUnheard, receive
    case accept, refuse, unknownDone, unknownNotDone, decide
    case crashBefore, crashAfter
    case keep, restore
  }

  let kind: Kind
  /// The object, the key or the chain.
  var target: UInt8 = 0
  /// Of the operation that is refused.
  var place: UInt8 = 0

  /// How the deed is counted.
  var word: String {
    switch kind {
    case .create, .createReferring, .createPair: "save"
    case .editValue, .editReference, .editPair: "edit"
    case .delete, .deletePair: "delete"
    case .cancel: "cancel"
    case .submit: "submit"
    case .send: "send"
    case .receive: "receive"
    case .accept: "accepted"
    case .refuse: "refused"
    case .unknownDone, .unknownNotDone: "unknown"
    case .decide: "decided"
    case .sendLost, .sendUnheard, .crashBefore, .crashAfter: "crash"
    case .keep: "keep"
    case .restore: "restore"
    }
  }
}

extension WalkStep {
  /// Every deed that may happen now, in a fixed order.
  func deeds() -> [WalkDeed] {
    var deeds: [WalkDeed] = []
    let visible = world.device.objects.filter { $0.visible != nil }
    if visible.count < 2, world.device.objects.count < 3 {
      let keys: [UInt8] =
        model.kind.keyOrigin == .app
        ? [1, 2].filter { key in !visible.contains { $0.visible?.key == Int8(key) } } : [0]
      let isFull = model.kind.keyOrigin != .app && world.business.count > 1
      for key in keys where !isFull {
        deeds.append(WalkDeed(kind: .create, target: key))
        if !visible.isEmpty { deeds.append(WalkDeed(kind: .createReferring, target: key)) }
      }
      if visible.isEmpty, model.kind.keyOrigin == .app || world.business.isEmpty {
        deeds.append(WalkDeed(kind: .createPair))
      }
    }
    for object in visible {
      deeds.append(WalkDeed(kind: .editValue, target: object.number))
      if object.visible?.other != 0 || visible.count > 1 {
        deeds.append(WalkDeed(kind: .editReference, target: object.number))
      }
      deeds.append(WalkDeed(kind: .delete, target: object.number))
    }
    if visible.count == 2 {
      deeds += [WalkDeed(kind: .editPair), WalkDeed(kind: .deletePair)]
    }
    for object in world.device.objects {
      let own = operations(of: object.number)
      if own.contains(where: { $0.state != .withdrawn }) {
        deeds.append(WalkDeed(kind: .cancel, target: object.number))
      }
      if own.contains(where: { !$0.isInFlight }) {
        deeds.append(WalkDeed(kind: .submit, target: object.number))
      }
    }
    if world.device.operations.contains(where: { $0.wanted > 0 || isOutgoing($0) }) {
      deeds += [
        WalkDeed(kind: .send), WalkDeed(kind: .sendLost), WalkDeed(kind: .sendUnheard),
      ]
    }
    deeds.append(WalkDeed(kind: .receive))
    for (number, chain) in chains().enumerated() {
      let target = UInt8(number)
      deeds.append(WalkDeed(kind: .accept, target: target))
      for place in chain.operations.indices {
        deeds.append(WalkDeed(kind: .refuse, target: target, place: UInt8(place)))
      }
      deeds += [
        WalkDeed(kind: .unknownDone, target: target),
        WalkDeed(kind: .unknownNotDone, target: target),
        WalkDeed(kind: .crashBefore, target: target), WalkDeed(kind: .crashAfter, target: target),
      ]
    }
    for (place, entry) in world.stored.enumerated() where entry.state == .unknown {
      deeds.append(WalkDeed(kind: .decide, target: UInt8(place)))
    }
    if !world.isRestored {
      deeds.append(WalkDeed(kind: world.backup == nil ? .keep : .restore))
    }
    return deeds
  }

  /// Does it. The business system's own refusal is returned, where it said no by itself.
  mutating func run(_ deed: WalkDeed) throws(WalkProblem) -> WalkRefusal? {
    let target = deed.target
    switch deed.kind {
    case .create: create(key: Int8(target), referringTo: 0)
    case .createReferring: create(key: Int8(target), referringTo: anyKey(but: 0))
    case .createPair:
      transaction = newID()
      let first = create(key: 1, referringTo: 0)
      let second = create(key: 2, referringTo: first)
      if let object = world.device.objects.first(where: { $0.visible?.key == first }),
        var row = object.visible
      {
        row.other = second
        edit(object.number, to: row)
      }
    case .editValue: edit(target, to: edited(target))
    case .editReference:
      if var row = object(target).visible {
        row.other = row.other == 0 ? anyKey(but: target) : 0
        edit(target, to: row)
      }
    case .editPair:
      transaction = newID()
      for object in visible { edit(object, to: edited(object)) }
    case .delete: delete(object: target)
    case .deletePair:
      transaction = newID()
      for object in visible { delete(object: object) }
    case .cancel: cancel(target)
    case .submit: _ = submit(target)
    case .send: try send(.whole)
    case .sendLost: try send(.requestLost)
    case .sendUnheard: try send(.responseLost)
    case .receive: receive()
    case .accept: return try replay(chains()[Int(target)], .performs)
    case .refuse: return try replay(chains()[Int(target)], .refuses(place: Int(deed.place)))
    case .unknownDone: return try replay(chains()[Int(target)], .isSilent(true))
    case .unknownNotDone: return try replay(chains()[Int(target)], .isSilent(false))
    case .crashBefore: return try replay(chains()[Int(target)], .crash(isPerformed: false))
    case .crashAfter: return try replay(chains()[Int(target)], .crash(isPerformed: true))
    case .decide: decide(Int(target))
    case .keep: world.backup = world.device
    case .restore:
      if let backup = world.backup { world.device = backup }
      world.backup = nil
      (world.isRestored, world.isTroubled) = (true, true)
    }
    return nil
  }

  private var visible: [UInt8] {
    world.device.objects.filter { $0.visible != nil }.map(\.number)
  }

  private func anyKey(but number: UInt8) -> Int8 {
    world.device.objects.first { $0.visible != nil && $0.number != number }?.visible?.key ?? 0
  }

  private func edited(_ number: UInt8) -> WalkRow {
    var row = object(number).visible ?? WalkRow(key: 0)
    row.value = (row.value + 1) % 3
    return row
  }

  /// The deed for people, in the world before it.
  func described(_ deed: WalkDeed) -> String {
    let shown = object(deed.target)
    let key = shown.visible?.key ?? shown.image?.key ?? operations(of: deed.target).first?.key ?? 0
    let chain: String = {
      guard Int(deed.target) < chains().count else { return "" }
      return chains()[Int(deed.target)].operations.compactMap { member in
        world.stored.first { model.id($0.payload.id) == member.id }.map { entry in
          let name = entry.payload.key == 0 ? "a new one" : String(entry.payload.key)
          return "\(WalkModel.kind(entry.payload.kind).rawValue) of \(name)"
        }
      }.joined(separator: " and ")
    }()
    switch deed.kind {
    case .create: return "save: create \(deed.target == 0 ? "a new one" : String(deed.target))"
    case .createReferring:
      return "save: create \(deed.target == 0 ? "a new one" : String(deed.target)), "
        + "referring to \(anyKey(but: 0))"
    case .createPair: return "save: create two that refer to each other, in one transaction"
    case .editValue: return "edit: the value of \(key)"
    case .editReference:
      return shown.visible?.other == 0
        ? "edit: \(key) refers to \(anyKey(but: deed.target))" : "edit: \(key) refers to nothing"
    case .editPair: return "edit: the values of both, in one transaction"
    case .delete: return "delete: \(key)"
    case .deletePair: return "delete: both, in one transaction"
    case .cancel: return "cancel: \(key)"
    case .submit: return "submit: \(key)"
    case .send: return "send"
    case .sendLost: return "crash: the device, when the request was marked as sent"
    case .sendUnheard: return "crash: the device, when the server had the request"
    case .receive: return "receive"
    case .accept: return "answer accepted: \(chain)"
    case .refuse: return "answer refused, number \(deed.place): \(chain)"
    case .unknownDone: return "answer unknown, and it was performed: \(chain)"
    case .unknownNotDone: return "answer unknown, and it was not performed: \(chain)"
    case .decide: return "the operator decides operation \(deed.target)"
    case .crashBefore: return "crash: the server, before it was performed: \(chain)"
    case .crashAfter: return "crash: the server, after it was performed: \(chain)"
    case .keep: return "the device's file is copied"
    case .restore: return "restore: the device's file"
    }
  }
}
