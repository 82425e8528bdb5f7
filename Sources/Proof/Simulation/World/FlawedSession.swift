import Ferry
import FerryModel
import FerrySQLite
import FerryWorld

/// Changes that a planted bug makes to a device's database without its session's knowledge.
enum FlawedSession {
  /// The app cancelled after the request had left. With `cancelHalf`, sent operations count as
  /// stored.
  static func cancelled(
    _ device: SimulatedDevice, _ flaws: Set<PlantedBug>
  ) throws(FerryError) {
    guard flaws.contains(.cancelHalf) else { return }
    try device.store.withTransaction { transaction throws(FerryError) in
      let sent = try transaction.rows("SELECT id FROM ferry_operation WHERE sent = 1")
      let ids = sent.compactMap { OperationID($0[0].text ?? "") }
      try OperationQueue(transaction).acknowledge(ids)
      try transaction.run("UPDATE ferry_operation SET sent = 0 WHERE state = 'submitted'")
    }
  }

  /// With `batchForgotten`, deletes the finished batch before the session fetches its results.
  static func began(
    _ session: Session, _ device: SimulatedDevice, _ flaws: Set<PlantedBug>
  ) throws(FerryError) {
    guard flaws.contains(.batchForgotten), case .completion(let batch)? = session.plan?.origin
    else { return }
    try device.store.withTransaction { transaction throws(FerryError) in
      try transaction.run("DELETE FROM ferry_batch_member WHERE batch = ?", .integer(batch))
      try transaction.run("DELETE FROM ferry_batch WHERE number = ?", .integer(batch))
    }
  }

  /// With `batchBelieved`, operations of a batch that a restored server no longer knows count as stored
  /// there.
  static func begins(
    _ device: SimulatedDevice, _ flaws: Set<PlantedBug>
  ) throws(FerryError) {
    guard flaws.contains(.batchBelieved) else { return }
    try device.store.withTransaction { transaction throws(FerryError) in
      try transaction.run(
        """
        UPDATE ferry_operation SET acknowledged = 1
        WHERE state = 'submitted' AND acknowledged = 0 AND may_have_run = 1
          AND id IN (SELECT operation FROM ferry_batch_member)
        """)
    }
  }
}
