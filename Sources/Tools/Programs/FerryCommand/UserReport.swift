import FerryJSON

/// What a verb of `ferry user` has done.
struct UserReport {
  private let verb: String
  private let user: UserList.User
  private let changed: [String]
  private let endsSessions: Bool
  private let warnings: [String]

  /// `user`: as the file has it now, or had it before it was removed.
  init(
    _ verb: String, _ user: UserList.User, changed: [String] = [], endsSessions: Bool = false,
    warnings: [String] = []
  ) {
    self.verb = verb
    self.user = user
    self.changed = changed
    self.endsSessions = endsSessions
    self.warnings = warnings
  }

  func show(_ text: String, asJSON: Bool) {
    guard asJSON else {
      Terminal.show(text)
      for warning in warnings { Terminal.show("Warning: \(warning)") }
      return
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("verb", verb)
    writer.key("user")
    UserList.write(user, hash: nil, to: &writer)
    writer.key("changed")
    writer.array(changed) { $0.string($1) }
    writer.field("endsSessions", endsSessions)
    writer.key("warnings")
    writer.array(warnings) { $0.string($1) }
    writer.endObject()
    Terminal.show(writer.text, asJSON: true)
  }
}
