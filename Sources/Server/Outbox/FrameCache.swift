import FerryWire

/// Frames of rows as they travel, for all devices that stand at the same cursor.
struct FrameCache {
  struct Place: Hashable {
    let partition: Int64
    let from: Cursor
  }

  private struct Entry {
    let page: Page
    var used: Int64
  }

  private var entries: [Place: Entry] = [:]
  private var uses: Int64 = 0
  private(set) var byteCount: Int = 0
  private(set) var hits: Int = 0
  let limitBytes: Int

  init(limitBytes: Int) { self.limitBytes = limitBytes }

  /// The page, while the partition has not changed since it was made.
  mutating func page(at place: Place, partitionVersion: Int64) -> Page? {
    guard let entry = entries[place] else { return nil }
    guard partitionVersion <= entry.page.at else {
      remove(place)
      return nil
    }
    uses += 1
    hits += 1
    entries[place]?.used = uses
    return entry.page
  }

  mutating func keep(_ page: Page, at place: Place) {
    guard page.bytes.count <= limitBytes else { return }
    remove(place)
    uses += 1
    entries[place] = Entry(page: page, used: uses)
    byteCount += page.bytes.count
    guard byteCount > limitBytes else { return }
    for (place, _) in entries.sorted(by: { $0.value.used < $1.value.used }) {
      guard byteCount > limitBytes / 2 else { break }
      remove(place)
    }
  }

  private mutating func remove(_ place: Place) {
    guard let entry = entries.removeValue(forKey: place) else { return }
    byteCount -= entry.page.bytes.count
  }
}
