import FerryWire
import Synchronization

/// Frames of rows as they travel, for all devices that stand at the same cursor.
///
/// Any thread may ask for pages. The service's thread keeps them, once it knows that the store from which
/// they were read is still its own.
final class FrameCache: Sendable {
  struct Place: Hashable, Sendable {
    let partition: Int64
    let from: Cursor
  }

  private struct Entry {
    let page: Page
    var used: Int64
  }

  private struct State {
    var entries: [Place: Entry] = [:]
    var uses: Int64 = 0
    var byteCount = 0
    var hits = 0

    mutating func remove(_ place: Place) {
      guard let entry = entries.removeValue(forKey: place) else { return }
      byteCount -= entry.page.bytes.count
    }
  }

  private let state = Mutex(State())
  let limitBytes: Int

  init(limitBytes: Int) { self.limitBytes = limitBytes }

  var byteCount: Int { state.withLock { $0.byteCount } }
  var hits: Int { state.withLock { $0.hits } }

  /// The page, while the partition has not changed since it was made.
  ///
  /// `clock`: that of the snapshot that shows the partition at `partitionVersion`. A page of a newer
  /// snapshot may have what this one does not.
  func page(at place: Place, partitionVersion: Int64, clock: Int64) -> Page? {
    state.withLock { state in
      guard let entry = state.entries[place] else { return nil }
      guard partitionVersion <= entry.page.at else {
        state.remove(place)
        return nil
      }
      guard entry.page.at <= clock else { return nil }
      state.uses += 1
      state.hits += 1
      state.entries[place]?.used = state.uses
      return entry.page
    }
  }

  /// Keeps the page, unless there is one of a newer snapshot.
  func keep(_ page: Page, at place: Place) {
    guard page.bytes.count <= limitBytes else { return }
    state.withLock { state in
      if let known = state.entries[place], known.page.at > page.at { return }
      state.remove(place)
      state.uses += 1
      state.entries[place] = Entry(page: page, used: state.uses)
      state.byteCount += page.bytes.count
      guard state.byteCount > limitBytes else { return }
      for (place, _) in state.entries.sorted(by: { $0.value.used < $1.value.used }) {
        guard state.byteCount > limitBytes / 2 else { break }
        state.remove(place)
      }
    }
  }
}
