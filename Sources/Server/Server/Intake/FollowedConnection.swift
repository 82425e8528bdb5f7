import FerryWorld

/// How far the changes of one connection were followed.
struct FollowedConnection {
  var cursors = CursorMachine()
  var freshness = Freshness()
  /// When looks began whose findings are not all read.
  var lookMoments: [Int64: Timestamp] = [:]
  /// Noted before the business system was asked, of looks whose answer may hold rows.
  var lookMarks: [Int64: Mark] = [:]
  /// What was committed before this is in the cache.
  var captured: Timestamp?
}

/// The looks, one for each connection, that a question of now is about.
package struct NeededLooks: Sendable, Hashable {
  let looks: [Int64]
}
