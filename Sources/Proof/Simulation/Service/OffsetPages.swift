import FerryConnector
import FerryModel

/// Reads a list by the places of its rows: what others make or delete meanwhile moves them, so that a row
/// is given twice or not at all.
struct OffsetPages {
  let entity: Entity
  private var offset = 0
  private var seen: Set<ObjectKey> = []

  private static let rows = 3

  init(_ entity: Entity) { self.entity = entity }

  /// The rows of the next page that were not given yet; nil behind the end. `isWhole`: all that is left.
  mutating func next(of list: [RowImage], isWhole: Bool) -> [RowImage]? {
    // The newest first, as many lists are.
    let ordered = list.sorted {
      ($1.key.text.count, $1.key.text) < ($0.key.text.count, $0.key.text)
    }
    let page = ordered.dropFirst(offset).prefix(isWhole ? ordered.count : OffsetPages.rows)
    guard !page.isEmpty else { return nil }
    offset += page.count
    return page.filter { seen.insert($0.key).inserted }
  }
}
