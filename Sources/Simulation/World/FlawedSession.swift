import Ferry
import FerryModel
import FerrySQLite
import FerryWorld

/// What a planted bug of a synchronization does to its device's database, behind the session.
enum FlawedSession {
  /// The request had left before the app cancelled: what was sent counts as stored.
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

  /// The finished batch whose results the session is to fetch is forgotten.
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
}
