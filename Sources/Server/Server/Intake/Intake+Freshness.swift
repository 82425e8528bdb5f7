import FerryModel
import FerryWire

/// Devices that want to know whether what they show is current.
extension Intake {
  /// A look for changes of others begins. Call it before the business system is asked.
  ///
  /// `forRows`: its answer may hold rows, which are written as of now.
  func beginLook(performing: Set<Int64>, forRows: Bool) -> Int64 {
    let look = freshness.begin(performing: performing)
    lookMoments[look] = world.clock.moment
    guard forRows else { return look }
    do throws(ServerError) { lookMarks[look] = core.marks.begin(clock: try clock()) } catch {
      // Without a mark the rows are read again.
      world.log.warn(
        "rows that the business system reports are read again", ("reason", error.description))
    }
    return look
  }

  /// Its answer is taken, or there is none.
  func endMark(of look: Int64) {
    if let mark = lookMarks.removeValue(forKey: look) { core.marks.end(mark) }
  }

  /// The look has ended, and what it found is taken; `needsLoad`: a load begins for it.
  ///
  /// `unwritten`: objects whose images of a replay are not written yet.
  func endLook(_ look: Int64, needsLoad: Bool, unwritten: @autoclosure () -> Set<ObjectName>) {
    endMark(of: look)
    freshness.end(look, waiting: toBeRead(unwritten()), loadAfter: needsLoad ? core.lastTask : nil)
    noteCaptured()
    wakeCurrent()
  }

  /// What was committed before a look is in the cache when its findings are.
  private func noteCaptured() {
    guard let moment = lookMoments[freshness.completed] else { return }
    lookMoments = lookMoments.filter { $0.key > freshness.completed }
    core.capturedUpTo = moment
    meter.captured(upTo: moment)
  }

  /// The business system could not be asked.
  func failLook(_ look: Int64) {
    endMark(of: look)
    freshness.fail(look)
    lookMoments[look] = nil
    wakeCurrent()
  }

  /// These are in the cache as they were read, and need not be read again.
  func noteRead(_ names: [ObjectName]) {
    freshness.read(names)
    noteCaptured()
    wakeCurrent()
  }

  /// The business system has answered a replay, or it has ended.
  func noteReported(_ replay: Int64, unwritten: Set<ObjectName>) {
    freshness.reported(replay, unwritten: unwritten)
    noteCaptured()
    wakeCurrent()
  }

  func noteLoaded(_ load: Int64, unwritten: @autoclosure () -> Set<ObjectName>) {
    freshness.loaded(load, waiting: toBeRead(unwritten()))
    noteCaptured()
    wakeCurrent()
  }

  /// The look that a question of now is about.
  var lookNeeded: Int64 { freshness.needed }

  /// Whether the cache holds what the asker's question is about.
  func isCurrent(_ lookNeeded: Int64?) -> Bool {
    lookNeeded.map { freshness.completed >= $0 } ?? true
  }

  /// Whether a look that began after the question has failed: nobody waits for the next one.
  func isBusinessAway(_ lookNeeded: Int64?) -> Bool {
    guard let needed = lookNeeded, let failed = freshness.failed else { return false }
    return failed >= needed
  }

  /// What a checkpoint says of itself; nil where nobody asked.
  func currency(_ lookNeeded: Int64?) throws(ServerError) -> Currency? {
    guard lookNeeded != nil else { return nil }
    if isCurrent(lookNeeded) { return .current }
    if try !isLoaded() { return .loading }
    return freshness.failed == nil ? .behind : .businessAway
  }

  private func wakeCurrent() { core.tell(.looked) }
}
