import FerryWorld

/// What goes wrong again and again is logged once, and once when it is over.
struct LastingTrouble {
  private let what: String
  private let over: String
  private let fields: [(String, String)]
  private var reason: String?

  /// `fields`: what else each line says.
  init(_ what: String, over: String, _ fields: [(String, String)] = []) {
    self.what = what
    self.over = over
    self.fields = fields
  }

  /// Nil for what went well. Another reason is another trouble.
  mutating func tell(_ reason: String?, _ log: any Log) {
    guard reason != self.reason else { return }
    self.reason = reason
    if let reason {
      log.write(.warn, what, fields + [("reason", reason)])
    } else {
      log.write(.info, over, fields)
    }
  }
}
