/// Equal worlds get equal bytes: ids, places and counters are numbered anew in a fixed order.
extension WalkWorld {
  mutating func canonicalize() {
    device.canonicalize()
    backup?.canonicalize()
    forgetEnded()
    cache.sort { $0.key < $1.key }
    business.sort { $0.key < $1.key }
    var ids = WalkNames()
    var births = WalkNames()
    device.rename(&ids, &births)
    backup?.rename(&ids, &births)
    for place in stored.indices {
      stored[place].payload.rename(&ids)
      stored[place].birth = births.name(stored[place].birth)
    }
    performed = performed.compactMap { births.known($0) }.sorted()
    nextID = max(ids.next, births.next)
  }

  /// What was answered and what neither the device nor its copy has any more is of no use.
  private mutating func forgetEnded() {
    guard stored.contains(where: { $0.state == .answered }) else { return }
    func holds(_ device: WalkDevice, _ payload: WalkPayload) -> Bool {
      device.operations.contains {
        $0.id == payload.id || $0.chain == payload.chain || $0.sealed?.chain == payload.chain
      }
    }
    // What is remembered of a group is remembered as one.
    let chains = Set(
      stored.filter { entry in
        entry.state != .answered || holds(device, entry.payload)
          || backup.map { holds($0, entry.payload) } ?? false
      }.map(\.payload.chain))
    stored.removeAll { !chains.contains($0.payload.chain) }
  }

  /// The bytes of a canonical world.
  func encode(into bytes: inout [UInt8]) {
    bytes.removeAll(keepingCapacity: true)
    bytes.append((isTroubled ? 1 : 0) | (isRestored ? 2 : 0) | (backup == nil ? 0 : 4))
    device.encode(into: &bytes)
    backup?.encode(into: &bytes)
    bytes.append(UInt8(stored.count))
    for entry in stored {
      entry.payload.encode(into: &bytes)
      bytes.append(entry.birth)
      bytes.append(entry.state.rawValue | entry.outcome.rawValue << 4)
      bytes.append(UInt8(bitPattern: entry.key))
      bytes.append(
        (entry.mayHaveRun ? 1 : 0) | (entry.wasClaimed ? 2 : 0) | (entry.isNamed ? 4 : 0)
          | (entry.isAbandoned ? 8 : 0) | (entry.wasAskedFor ? 16 : 0)
          | (entry.isPerformed ? 32 : 0))
      bytes.append(UInt8(bitPattern: entry.performedKey))
      entry.written.encode(into: &bytes)
    }
    for rows in [cache, business] {
      bytes.append(UInt8(rows.count))
      for row in rows { row.encode(into: &bytes) }
    }
    bytes.append(UInt8(performed.count))
    bytes += performed
  }
}

/// New names for numbers, in the order in which they are met.
struct WalkNames {
  private var names: [UInt8: UInt8] = [:]
  private(set) var next: UInt8 = 1
  /// The id of what a circle parts from a change is that of the change, with this bit; where a part
  /// is parted again, the other way round.
  private static let partBit: UInt8 = 128

  static func part(of id: UInt8) -> UInt8 { id ^ partBit }

  mutating func name(_ old: UInt8) -> UInt8 {
    let part = old & WalkNames.partBit
    let whole = old & ~WalkNames.partBit
    if let known = names[whole] { return known | part }
    names[whole] = next
    next += 1
    return (next - 1) | part
  }

  func known(_ old: UInt8) -> UInt8? {
    names[old & ~WalkNames.partBit].map { $0 | old & WalkNames.partBit }
  }
}

extension WalkDevice {
  fileprivate mutating func canonicalize() {
    operations.sort { $0.sequence < $1.sequence }
    objects.removeAll { object in
      object.visible == nil && object.image == nil
        && !operations.contains { $0.object == object.number }
    }
    objects.sort { $0.number < $1.number }
    var numbers: [UInt8: UInt8] = [:]
    for place in objects.indices {
      numbers[objects[place].number] = UInt8(place + 1)
      objects[place].number = UInt8(place + 1)
    }
    var counters: Set<UInt8> = [0]
    for operation in operations { counters.formUnion([operation.counter, operation.failure]) }
    let ranks = counters.sorted()
    for place in operations.indices {
      let operation = operations[place]
      operations[place].sequence = UInt8(place + 1)
      operations[place].object = numbers[operation.object] ?? 0
      operations[place].counter = UInt8(ranks.firstIndex(of: operation.counter) ?? 0)
      operations[place].failure = UInt8(ranks.firstIndex(of: operation.failure) ?? 0)
    }
  }

  fileprivate mutating func rename(_ ids: inout WalkNames, _ births: inout WalkNames) {
    for place in operations.indices {
      operations[place].id = ids.name(operations[place].id)
      operations[place].chain = ids.name(operations[place].chain)
      operations[place].birth = births.name(operations[place].birth)
      operations[place].sealed?.rename(&ids)
    }
  }

  fileprivate func encode(into bytes: inout [UInt8]) {
    bytes.append(UInt8(objects.count))
    for object in objects {
      bytes.append((object.visible == nil ? 0 : 1) | (object.image == nil ? 0 : 2))
      object.visible?.encode(into: &bytes)
      object.image?.encode(into: &bytes)
    }
    bytes.append(UInt8(operations.count))
    for operation in operations {
      bytes += [
        operation.id, operation.birth, operation.object,
        operation.kind.rawValue | operation.state.rawValue << 2 | operation.wanted << 5,
        UInt8(bitPattern: operation.key), operation.chain,
        (operation.isTemporary ? 1 : 0) | (operation.isSent ? 2 : 0)
          | (operation.isAcknowledged ? 4 : 0) | (operation.mayHaveRun ? 8 : 0)
          | (operation.sealed == nil ? 0 : 16),
        operation.counter, operation.failure,
      ]
      operation.changed.encode(into: &bytes)
      operation.base.encode(into: &bytes)
      operation.sealed?.encode(into: &bytes)
    }
  }
}

extension WalkPayload {
  fileprivate mutating func rename(_ ids: inout WalkNames) {
    id = ids.name(id)
    chain = ids.name(chain)
  }

  fileprivate func encode(into bytes: inout [UInt8]) {
    bytes += [id, chain, position, count, kind.rawValue, UInt8(bitPattern: key)]
    changed.encode(into: &bytes)
    base.encode(into: &bytes)
  }
}

extension WalkRow {
  fileprivate func encode(into bytes: inout [UInt8]) {
    bytes.append(UInt8(bitPattern: key))
    bytes.append(UInt8(bitPattern: value))
    bytes.append(UInt8(bitPattern: other))
  }
}

extension WalkValues {
  fileprivate func encode(into bytes: inout [UInt8]) {
    bytes.append(UInt8(bitPattern: key))
    bytes.append(UInt8(bitPattern: value))
    bytes.append(UInt8(bitPattern: other))
  }
}
