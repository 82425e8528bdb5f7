import FerryModel
import FerryWire
import FerryWorld

/// Devices that want to know whether what they show is current.
extension Intake {
  /// A look for changes of others begins. Call it before the business system is asked.
  ///
  /// `forRows`: its answer may hold rows, which are written as of now.
  func beginLook(performing: Set<Int64>, forRows: Bool, of connection: Int) -> Int64 {
    let look = followed[connection].freshness.begin(performing: performing)
    followed[connection].lookMoments[look] = world.clock.moment
    guard forRows else { return look }
    do throws(ServerError) {
      followed[connection].lookMarks[look] = core.marks.begin(clock: try clock())
    } catch {
      // Without a mark the rows are read again.
      world.log.warn(
        "rows that the business system reports are read again", ("reason", error.description))
    }
    return look
  }

  /// Its answer is taken, or there is none.
  func endMark(of look: Int64, of connection: Int) {
    if let mark = followed[connection].lookMarks.removeValue(forKey: look) {
      core.marks.end(mark)
    }
  }

  /// The look has ended, and what it found is taken; `needsLoad`: a load begins for it.
  ///
  /// `unwritten`: objects whose images of a replay are not written yet.
  func endLook(
    _ look: Int64, needsLoad: Bool, of connection: Int,
    unwritten: @autoclosure () -> Set<ObjectName>
  ) {
    endMark(of: look, of: connection)
    followed[connection].freshness.end(
      look, waiting: toBeRead(unwritten(), of: connection),
      loadAfter: needsLoad ? core.lastTask : nil)
    noteCaptured()
    wakeCurrent()
  }

  /// What was committed before a look is in the cache when its findings are; of several connections
  /// what all of them have brought.
  private func noteCaptured() {
    var isNews = false
    for connection in followed.indices {
      let completed = followed[connection].freshness.completed
      guard let moment = followed[connection].lookMoments[completed] else { continue }
      followed[connection].lookMoments = followed[connection].lookMoments.filter {
        $0.key > completed
      }
      followed[connection].captured = moment
      isNews = true
    }
    let captured = followed.compactMap(\.captured)
    guard isNews, captured.count == followed.count, let moment = captured.min() else { return }
    core.capturedUpTo = moment
    meter.captured(upTo: moment)
  }

  /// The business system could not be asked.
  func failLook(_ look: Int64, of connection: Int) {
    endMark(of: look, of: connection)
    followed[connection].freshness.fail(look)
    followed[connection].lookMoments[look] = nil
    wakeCurrent()
  }

  /// These are in the cache as they were read, and need not be read again.
  func noteRead(_ names: [ObjectName]) {
    for connection in followed.indices { followed[connection].freshness.read(names) }
    noteCaptured()
    wakeCurrent()
  }

  /// The business system has answered a replay, or it has ended.
  func noteReported(_ replay: Int64, unwritten: Set<ObjectName>) {
    for connection in followed.indices {
      followed[connection].freshness.reported(replay, unwritten: unwritten)
    }
    noteCaptured()
    wakeCurrent()
  }

  func noteLoaded(
    _ load: Int64, of connection: Int, unwritten: @autoclosure () -> Set<ObjectName>
  ) {
    followed[connection].freshness.loaded(
      load, waiting: toBeRead(unwritten(), of: connection))
    noteCaptured()
    wakeCurrent()
  }

  /// The looks that a question of now is about.
  var looksNeeded: NeededLooks { NeededLooks(looks: followed.map(\.freshness.needed)) }

  /// Whether the cache holds what the asker's question is about.
  func isCurrent(_ needed: NeededLooks?) -> Bool {
    guard let needed else { return true }
    return zip(followed, needed.looks).allSatisfy { $0.freshness.completed >= $1 }
  }

  /// Whether a look that began after the question has failed: nobody waits for the next one.
  func isBusinessAway(_ needed: NeededLooks?) -> Bool {
    guard let needed else { return false }
    return zip(followed, needed.looks).contains { followed, look in
      followed.freshness.failed.map { $0 >= look } ?? false
    }
  }

  /// What a checkpoint says of itself; nil where nobody asked.
  func currency(_ needed: NeededLooks?) throws(ServerError) -> Currency? {
    guard let needed else { return nil }
    if isCurrent(needed) { return .current }
    if try !isLoaded() { return .loading }
    let isAway = zip(followed, needed.looks).contains { followed, look in
      followed.freshness.completed < look && followed.freshness.failed != nil
    }
    return isAway ? .businessAway : .behind
  }

  private func wakeCurrent() { core.tell(.looked) }
}
