extension ModelFindings {
  /// A model is read by many, in repositories and in apps: its source names no password.
  mutating func refuseSecret(_ source: String, at place: ModelPlace) {
    guard ModelFindings.hasSecret(source) else { return }
    error(
      place, "the source has a password",
      cure: "Remove it, and put it into a password file (PGPASSFILE), a service file or PGPASSWORD."
    )
  }

  private static func hasSecret(_ source: String) -> Bool {
    let text = source.lowercased()
    guard ["postgres", "mariadb:", "mysql:"].contains(where: text.hasPrefix) else { return false }
    for word in text.ranges(of: "password")
    where text[word.upperBound...].drop(while: { $0 == " " }).first == "=" { return true }
    guard let slashes = text.firstRange(of: "://") else { return false }
    let authority = text[slashes.upperBound...].prefix { !"/?#".contains($0) }
    guard let end = authority.lastIndex(of: "@") else { return false }
    return authority[..<end].contains(":")
  }
}
