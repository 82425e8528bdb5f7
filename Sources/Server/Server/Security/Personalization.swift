import FerryModel

/// The personalization keys that the server keeps for its users.
struct Personalization {
  let store: any Store
  let package: Package

  /// The user's keys by name, as canonical text.
  func keys(of user: String) throws(StoreError) -> [String: String] {
    try store.personalKeys(of: user)
  }

  /// Keeps what the user changed; a name that the model does not know as a key of the server is not
  /// kept. Returns whether anything differs.
  func keep(_ changed: [String: String?], of user: String) throws(StoreError) -> Bool {
    let known = try keys(of: user)
    let different = changed.sorted { $0.key < $1.key }.filter { name, value in
      package.parameter(named: name)?.kind == .server
        && known[name].map { ExactText($0) } != value.map { ExactText($0) }
    }
    guard !different.isEmpty else { return false }
    try store.keep(different.map { (name: $0.key, value: $0.value) }, of: user)
    return true
  }
}
