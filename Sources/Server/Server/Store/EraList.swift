/// The eras of a package, in their order: a server that went back in time is found by them.
package struct EraList: Sendable, Equatable {
  package struct Era: Sendable, Equatable {
    package let id: String
    /// The numbered transaction that opened it.
    package let firstVersion: Int64

    package init(id: String, firstVersion: Int64) {
      self.id = id
      self.firstVersion = firstVersion
    }
  }

  package let eras: [Era]

  package init(eras: [Era]) { self.eras = eras }

  /// Whether a state that was seen in `era` at `version` is part of this store's history.
  func holds(era: String, version: Int64, clock: Int64) -> Bool {
    guard let position = eras.firstIndex(where: { $0.id == era }) else { return false }
    guard position + 1 < eras.count else { return version <= clock }
    return version < eras[position + 1].firstVersion
  }
}
