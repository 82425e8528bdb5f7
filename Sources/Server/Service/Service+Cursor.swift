import FerryConnector
import FerryModel
import FerrySQLite

/// Hints of the business system, and the cursor that says how far they were followed.
extension Service {
  /// Where to begin to ask the business system; nil where nothing is known and a load must come
  /// first.
  public func sourceCursor() throws(ServerError) -> String? {
    try guarded { () throws(SQLiteError) in
      try store.isLoaded() ? CursorStore(store: store).read() : nil
    }
  }

  /// Notes what the business system hints at: objects are read by `nextReadBack`. Gives whether a
  /// load must begin from now on.
  public func take(_ changes: BusinessChanges) throws(ServerError) -> Bool {
    var needsLoad = false
    for hint in changes.hints {
      switch hint {
      case .anything, .entity: needsLoad = true
      case .objects(let entity, let keys):
        guard package.entity(named: entity) != nil else { continue }
        for key in keys {
          readLater(ObjectName(entity: entity, key: key), metAt: marks.moment)
        }
      }
    }
    if let cursor = changes.cursor {
      cursors.deliver(cursor, names: toBeRead, needsLoad: needsLoad)
      try keepCursor()
    }
    return needsLoad
  }

  /// Objects that are to be read, or are being read.
  var toBeRead: Set<ObjectName> {
    var names = Set(readAgain.keys)
    for task in reads.values {
      for key in task.keys { names.insert(ObjectName(entity: task.entity.name, key: key)) }
    }
    return names
  }

  /// Keeps every cursor that is due.
  func keepCursor() throws(ServerError) {
    while let cursor = cursors.due {
      try guarded { () throws(SQLiteError) in try CursorStore(store: store).keep(cursor) }
      cursors.kept()
    }
  }
}
