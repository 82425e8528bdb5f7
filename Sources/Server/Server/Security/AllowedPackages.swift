import FerryModel

/// Which packages of the server a user may use, by their names: each stands for all its versions.
package enum AllowedPackages: Sendable, Equatable {
  /// Where nobody has named some.
  case all
  case only([String])

  /// Those that a user file lists: nil where it lists none, and in the list for what is no text.
  ///
  /// Fails for anything but names: what is meant to restrict a user must never be read as no
  /// restriction.
  package init?(listed: [String?]?) {
    guard let listed else {
      self = .all
      return
    }
    let names = listed.compactMap(\.self)
    guard names.count == listed.count, names.allSatisfy(AllowedPackages.isName) else { return nil }
    self = .only(names)
  }

  /// Those that both allow.
  package func and(_ other: AllowedPackages) -> AllowedPackages {
    switch (self, other) {
    case (.all, _): other
    case (_, .all): self
    case (.only(let names), _): .only(names.filter { other.include($0) })
    }
  }

  /// Nil: all.
  package var names: [String]? {
    switch self {
    case .all: nil
    case .only(let names): names
    }
  }

  /// A name alone: a version would have to be changed with each deployment.
  package static func isName(_ text: String) -> Bool {
    !text.isEmpty && !text.utf8.contains(UInt8(ascii: ":"))
  }

  /// Whether the package of this name is one of them.
  package func include(_ name: some StringProtocol) -> Bool {
    switch self {
    case .all: true
    case .only(let names): names.contains { $0.hasBytes(of: String(name)) }
    }
  }

  /// The same for a package with its version, `Travel:1.0`.
  func include(id: String) -> Bool { include(id.prefix { $0 != ":" }) }
}
