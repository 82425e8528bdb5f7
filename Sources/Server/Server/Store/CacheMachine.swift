import FerryModel
import FerryWire

/// What the machine is told of the cache as it was before.
package protocol CacheSource {
  func row(_ name: RowName) throws(StoreError) -> CachedRow?
  func children(_ name: ParentName) throws(StoreError) -> [CachedRow]
  func parents(_ name: ParentName) throws(StoreError) -> [CachedRow]
  func partition(at place: Place) throws(StoreError) -> Int64?
  func place(of partition: Int64) throws(StoreError) -> Place?
}

/// Decides what images of the business system change in the cache: rows, who has them, and the sums
/// of the partitions. Rows as they were and images go in, one value of changes comes out.
package struct CacheMachine {
  private var rules: PartitionRules
  package private(set) var changes = CacheChanges()
  private var newPlaces: [Place: Int] = [:]
  /// Rows of `changes` by how they call their parent; one that calls it otherwise by now is here too.
  private var children: [ParentName: [RowName]] = [:]
  /// Rows of `changes` by the names under which children find them; the same holds.
  private var named: [ParentName: [RowName]] = [:]

  private typealias Row = CacheChanges.Row
  private typealias Partition = CacheChanges.Partition

  package init(_ rules: PartitionRules) { self.rules = rules }

  /// One row as it is now; nothing where it is so already. `values` nil: it is gone.
  package mutating func apply(
    _ name: RowName, _ values: [AttributeValue]?, _ source: some CacheSource
  ) throws(StoreError) {
    let known = try current(name, source)
    let before = known.flatMap { $0.isDeleted ? nil : $0 }
    guard let values else {
      if let before { try delete(before, source) }
      return
    }
    let body = RowCoder.encode(values)
    if let before, before.body == body { return }
    let entity = rules.package.entities[name.entity]
    let row = Row(
      name: name, id: known?.id, parentKey: rules.parentKey(of: name.entity, values),
      partition: try partition(of: name.entity, values, source), body: body,
      hash: RowHash.of(entity: entity.name, key: name.key, body: body), isDeleted: false,
      isChanged: true)
    let was = try before.map { row throws(StoreError) in try self.values(of: row) }
    put(row)
    let names = alternates(name, before: was, after: values)
    enter(name, from: before, to: row)
    try moveChildren(
      names, moved: before == nil || before?.partition != row.partition, source)
  }

  /// The values of a row behind the changes so far; nil where there is none.
  func values(
    of name: RowName, _ source: some CacheSource
  ) throws(StoreError) -> [AttributeValue]? {
    guard let row = try current(name, source), !row.isDeleted else { return nil }
    return try values(of: row)
  }

  private mutating func delete(_ before: Row, _ source: some CacheSource) throws(StoreError) {
    let was = try values(of: before)
    put(
      Row(
        name: before.name, id: before.id, parentKey: nil, partition: nil, body: [], hash: 0,
        isDeleted: true, isChanged: true))
    let names = alternates(before.name, before: was, after: nil)
    enter(before.name, from: before, to: nil)
    try moveChildren(names, moved: true, source)
  }

  // Rows.

  private func current(
    _ name: RowName, _ source: some CacheSource
  ) throws(StoreError) -> Row? {
    if let changed = changes.rows[name] { return changed }
    return try source.row(name).map(stored)
  }

  private func stored(_ row: CachedRow) -> Row {
    Row(
      name: row.name, id: row.id, parentKey: nil, partition: row.partition.map { .known($0) },
      body: row.body, hash: row.hash, isDeleted: row.isDeleted, isChanged: false)
  }

  private func values(of row: Row) throws(StoreError) -> [AttributeValue] {
    let entity = rules.package.entities[row.name.entity]
    do { return try RowCoder.decode(row.body, types: entity.attributes.map(\.type)) } catch {
      throw StoreError.damaged("the row \(entity.name) \(row.name.key) cannot be read: \(error)")
    }
  }

  private mutating func put(_ row: Row) {
    assert(
      !row.isDeleted || row.partition == nil && row.parentKey == nil && row.hash == 0,
      "the deleted row \(row.name.key) is still in a partition")
    if changes.rows.updateValue(row, forKey: row.name) == nil { changes.order.append(row.name) }
    guard let key = row.parentKey else { return }
    children[ParentName(row.name.entity, key), default: []].append(row.name)
  }

  // Partitions.

  /// Where a row with these values belongs by the rows that are here now; nil: nobody's.
  private mutating func partition(
    of entity: Int, _ values: [AttributeValue], _ source: some CacheSource
  ) throws(StoreError) -> Partition? {
    let place = try rules.place(of: entity, values: values) { name throws(StoreError) in
      switch try partition(ofParent: name, source) {
      case .known(let number): try source.place(of: number)
      case .new(let place): changes.places[place]
      case nil: nil
      }
    }
    guard let place else { return nil }
    if let known = newPlaces[place] { return .new(known) }
    if let number = try source.partition(at: place) { return .known(number) }
    newPlaces[place] = changes.places.count
    changes.places.append(place)
    return .new(changes.places.count - 1)
  }

  /// Of several rows that the name may mean the one that came first.
  private func partition(
    ofParent name: ParentName, _ source: some CacheSource
  ) throws(StoreError) -> Partition? {
    var candidates: [Row] = []
    if name.attributes == nil {
      if let row = try current(RowName(name.entity, name.key), source) { candidates = [row] }
    } else {
      candidates = try source.parents(name).filter { changes.rows[$0.name] == nil }.map(stored)
      candidates += (named[name] ?? []).compactMap { changes.rows[$0] }
    }
    return candidates.filter { !$0.isDeleted }
      .min { ($0.id ?? .max) < ($1.id ?? .max) }?.partition
  }

  /// Membership before and after, in one number.
  private mutating func enter(_ name: RowName, from old: Row?, to new: Row?) {
    if let partition = old?.partition {
      changes.totals[partition, default: .init()].sum &-= UInt64(bitPattern: old?.hash ?? 0)
      changes.totals[partition, default: .init()].count -= 1
      if partition != new?.partition { note(name, in: partition, hasLeft: true) }
    }
    if let partition = new?.partition {
      changes.totals[partition, default: .init()].sum &+= UInt64(bitPattern: new?.hash ?? 0)
      changes.totals[partition, default: .init()].count += 1
      note(name, in: partition, hasLeft: false)
    }
  }

  private mutating func note(_ name: RowName, in partition: Partition, hasLeft: Bool) {
    let member = CacheChanges.Member(row: name, partition: partition)
    if changes.members.updateValue(hasLeft, forKey: member) == nil {
      changes.memberOrder.append(member)
    }
  }

  // Children.

  /// What the children of one entity call a row, before and after.
  private struct Names {
    let child: Int
    let before: ObjectKey?
    let after: ObjectKey?
  }

  private mutating func alternates(
    _ name: RowName, before: [AttributeValue]?, after: [AttributeValue]?
  ) -> [Names] {
    var names: [Names] = []
    index(name, before: before, after: after)
    for child in rules.children[name.entity] {
      guard case .parent(let path) = rules.rules[child].path else { continue }
      let was = before.flatMap { path.name(of: $0) }
      let now = after.flatMap { path.name(of: $0) }
      names.append(Names(child: child, before: was, after: now))
      guard !path.isKey else { continue }
      if let was {
        named[ParentName(name.entity, attributes: path.name, was)]?.removeAll { $0 == name }
      }
      if let now {
        named[ParentName(name.entity, attributes: path.name, now), default: []].append(name)
      }
      guard was != now else { continue }
      changes.alternates.append(
        CacheChanges.Alternate(row: name, attributes: path.name, before: was, after: now))
    }
    return names
  }

  // Windows.

  /// From now on rows of these days have a place. Those whose day comes or goes are placed anew, with
  /// their children; all others stay where they are.
  mutating func moveWindows(
    to borders: PartitionWindows.Borders, _ source: some CacheSource
  ) throws(StoreError) {
    let old = rules.windows.borders
    rules.windows = rules.windows.moved(to: borders)
    for entity in rules.windows.windows.keys.sorted() {
      for day in PartitionWindows.changed(from: old[entity], to: borders[entity]) {
        let name = PartitionWindows.name(entity, day)
        var rows = try source.parents(name).filter { changes.rows[$0.name] == nil }.map(stored)
        rows += (named[name] ?? []).compactMap { changes.rows[$0] }.filter { !$0.isDeleted }
        for row in rows { try move(row, source) }
      }
    }
  }

  /// Under its day a row is found when its window moves.
  private mutating func index(
    _ name: RowName, before: [AttributeValue]?, after: [AttributeValue]?
  ) {
    let was = rules.windows.dayKey(of: name.entity, before)
    let now = rules.windows.dayKey(of: name.entity, after)
    guard was != now else { return }
    if let was {
      named[ParentName(name.entity, attributes: PartitionWindows.index, was)]?
        .removeAll { $0 == name }
    }
    if let now {
      named[ParentName(name.entity, attributes: PartitionWindows.index, now), default: []]
        .append(name)
    }
    changes.alternates.append(
      CacheChanges.Alternate(
        row: name, attributes: PartitionWindows.index, before: was, after: now))
  }

  /// A parent that moves takes its whole closure along.
  private mutating func moveChildren(
    _ names: [Names], moved: Bool, _ source: some CacheSource
  ) throws(StoreError) {
    for name in names where moved || name.before != name.after {
      for key in Set([name.before, name.after].compactMap { $0 }).sorted() {
        let parent = ParentName(name.child, key)
        var rows = try source.children(parent).filter { changes.rows[$0.name] == nil }.map(stored)
        for child in children[parent] ?? [] {
          guard let row = changes.rows[child], !row.isDeleted, row.parentKey == key,
            !rows.contains(where: { $0.name == child })
          else { continue }
          rows.append(row)
        }
        for row in rows { try move(row, source) }
      }
    }
  }

  /// Puts a row where it belongs now; its values stay as they are.
  private mutating func move(_ row: Row, _ source: some CacheSource) throws(StoreError) {
    let values = try values(of: row)
    let partition = try partition(of: row.name.entity, values, source)
    assert(!row.isDeleted, "the deleted row \(row.name.key) is placed anew")
    guard partition != row.partition else { return }
    changes.movedRows += 1
    var moved = row
    moved.partition = partition
    moved.parentKey = rules.parentKey(of: row.name.entity, values)
    put(moved)
    enter(row.name, from: row, to: moved)
    let names = alternates(row.name, before: values, after: values)
    try moveChildren(names, moved: true, source)
  }
}
