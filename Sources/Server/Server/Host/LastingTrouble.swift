import FerryWorld

/// What goes wrong again and again is logged once, and once when it is over.
struct LastingTrouble {
  private let what: String
  private let over: String
  private var reason: String?

  init(_ what: String, over: String) {
    self.what = what
    self.over = over
  }

  /// Nil for what went well. Another reason is another trouble.
  mutating func tell(_ reason: String?, _ log: any Log) {
    guard reason != self.reason else { return }
    self.reason = reason
    if let reason {
      log.warn(what, ("reason", reason))
    } else {
      log.info(over)
    }
  }
}
