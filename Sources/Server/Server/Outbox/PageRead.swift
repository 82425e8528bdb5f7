import FerryWire

/// One round for a device that is far behind, as a value that another thread can read.
///
/// Nothing of it counts before the service takes it: until then the device's cursors are what they
/// were, and no page of it goes to others. A round that is thrown away is read again.
struct PageRead: Sendable {
  /// What a reader has made of it.
  struct Round: Sendable {
    let download: Download
    let step: Download.Step
    /// The number of the snapshot that it was read from.
    let clock: Int64
    /// Pages that nobody had read before, for the cache of frames.
    let made: [(place: FrameCache.Place, page: Page)]
  }

  /// The position in the exchange's downloads.
  let index: Int
  let download: Download
  let asker: Download.Asker
  /// Of the answers that the service's memory knew when the read began.
  let answersGeneration: Int64
  let frames: FrameCache
  let limits: ServiceLimits

  /// Other devices at these places get the pages too.
  func keep(_ round: Round) {
    for (place, page) in round.made { frames.keep(page, at: place) }
  }

  /// Any thread.
  func round(_ view: any StoreSnapshot, nearRows: Int = .max) throws(StoreError) -> Round {
    var download = download
    var made: [(place: FrameCache.Place, page: Page)] = []
    let step = try download.round(
      view, limits, frames: frames, made: &made, asker: asker, nearRows: nearRows)
    return Round(download: download, step: step, clock: view.clock, made: made)
  }
}
