import FerryConnector
import FerryModel

/// Hints of the business system, and the cursor that says how far they were followed.
extension Intake {
  /// Where to begin to ask the business system; nil where nothing is known and a load must come
  /// first.
  func sourceCursor(of connection: Int) throws(ServerError) -> String? {
    try guarded { () throws(StoreError) in
      guard try store.isLoaded() else { return nil }
      return try cursorsAsKept()[connection]
    }
  }

  private func cursorsAsKept() throws(StoreError) -> SourceCursors {
    if let keptCursors { return keptCursors }
    let read = SourceCursors(try store.sourceCursor(), connections)
    keptCursors = read
    return read
  }

  /// Notes what the business system hints at: objects are read by `nextReadBack`, and rows that it
  /// gave are written as of the beginning of `look`. Gives whether a load must begin from now on.
  ///
  /// `unwritten`: objects whose images of a replay are not written yet.
  func take(
    _ changes: BusinessChanges, of look: Int64?, from connection: Int,
    unwritten: @autoclosure () -> Set<ObjectName>
  ) throws(ServerError) -> Bool {
    defer { if let look { endMark(of: look, of: connection) } }
    // The cursor is kept after the rows that it has passed.
    let written = try take(changes.rows, since: look.flatMap { followed[connection].lookMarks[$0] })
    settled(written, unwritten: unwritten())
    var needsLoad = false
    for hint in changes.hints {
      switch hint {
      case .anything, .entity: needsLoad = true
      case .rows: continue
      case .objects(let entity, let keys):
        guard package.entity(named: entity) != nil else { continue }
        guard readAgain.count + keys.count <= limits.hintedObjects else {
          needsLoad = true
          continue
        }
        for key in keys {
          readLater(ObjectName(entity: entity, key: key), metAt: core.marks.moment)
        }
      }
    }
    if let cursor = changes.cursor {
      followed[connection].cursors.deliver(
        cursor, names: toBeRead(unwritten(), of: connection), needsLoad: needsLoad)
      keepCursor(of: connection)
    }
    return needsLoad
  }

  /// Writes rows as they were at the mark; gives the objects of which the cache now holds them. Those
  /// that were touched since are read again, and all of them where there is no mark.
  private func take(
    _ rows: [RowImage], since mark: Mark?
  ) throws(ServerError) -> [ObjectName] {
    // Of two rows of one object the later one counts.
    var newest: [ObjectName: RowImage] = [:]
    for row in rows where rules.position(of: row.entity) != nil {
      newest[ObjectName(entity: row.entity, key: row.key)] = row
    }
    guard !newest.isEmpty else { return [] }
    guard let mark else {
      for name in newest.keys { readLater(name, metAt: core.marks.moment) }
      return []
    }
    let rows = newest.sorted { $0.key < $1.key }.map(\.value)
    let (later, met) = try write(rows, readSince: mark)
    for name in later { readLater(name, metAt: mark.moment) }
    for name in met.names { core.marks.confirm(name) }
    tell(met)
    return met.names
  }

  /// Objects that are to be read, are being read, or whose images of a replay are not written yet:
  /// a connector hints at none of its own changes. Only those of one connection.
  func toBeRead(_ unwritten: Set<ObjectName>, of connection: Int) -> Set<ObjectName> {
    let all = toBeRead(unwritten)
    guard connections.areSeveral else { return all }
    return all.filter { connections.position(of: $0.entity) == connection }
  }

  private func toBeRead(_ unwritten: Set<ObjectName>) -> Set<ObjectName> {
    var names = unwritten.union(readAgain.keys)
    for task in reads.values {
      for key in task.keys { names.insert(ObjectName(entity: task.entity.name, key: key)) }
    }
    return names
  }

  /// The cache has these objects as they were read. One that was hinted at again since then is read
  /// again first.
  func settled(
    _ names: some Sequence<ObjectName>, unwritten: @autoclosure () -> Set<ObjectName>
  ) {
    guard followed.contains(where: { $0.cursors.isWaiting || $0.freshness.isWaiting }) else {
      return
    }
    let open = toBeRead(unwritten())
    let written = names.filter { !open.contains($0) }
    noteRead(written)
    for connection in followed.indices where followed[connection].cursors.isWaiting {
      followed[connection].cursors.settled(written)
      keepCursor(of: connection)
    }
  }

  /// Keeps every cursor that is due. Where the store fails it is kept with the next one.
  func keepCursor(of connection: Int) {
    while let cursor = followed[connection].cursors.due {
      do throws(ServerError) {
        try guarded { () throws(StoreError) in
          var kept = try cursorsAsKept()
          kept[connection] = cursor
          if let text = kept.text { try store.keep(sourceCursor: text) }
          keptCursors = kept
        }
      } catch {
        world.log.error(
          "the place in the business system's changes cannot be kept",
          ("reason", error.description))
        return
      }
      followed[connection].cursors.kept()
    }
  }
}
