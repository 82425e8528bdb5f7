/// Why the store did not do what it was asked: nothing of it was done.
package struct StoreError: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Code: Sendable {
    /// The file was moved or removed while the server ran.
    case moved
    /// There is no room.
    case full
    /// The disk does not read or write any more.
    case failing
    /// What is there was written by no server, or not whole.
    case damaged
    /// It cannot be opened for writing.
    case closed
    /// Another program holds it.
    case busy
    /// Its database does not answer.
    case unreachable
    /// Another node leads, or a new term must begin: nothing more may be written in this one.
    case superseded
    /// Another reason.
    case other
  }

  package let code: Code
  /// What the store itself says.
  package let message: String
  /// Whether the same may succeed later without anyone doing anything.
  package let isTransient: Bool

  package init(_ code: Code, _ message: String, isTransient: Bool = false) {
    self.code = code
    self.message = message
    self.isTransient = isTransient
  }

  /// The store holds something that no server wrote.
  package static func damaged(_ what: String) -> StoreError {
    StoreError(.damaged, "\(what): the server's store")
  }

  package var description: String { message }
}

extension ServerError {
  package init(_ error: StoreError, store path: String) {
    switch error.code {
    case .moved:
      self.init(
        .storeGone, "the store \(path) was moved or removed while the server ran",
        hint:
          "Put it back, and the server continues. If it is lost, stop the server and restore a backup. "
          + "Devices keep their pending changes.", isTransient: true)
    case .full:
      self.init(
        .diskFull, "the disk of \(path) is full", hint: "Free space on the disk; nothing was lost.",
        isTransient: true)
    case .failing:
      self.init(
        .storeFailing, "the disk of \(path) does not read or write any more: \(error)",
        hint: "It may be broken or read-only; see the log of the system. Stop the server, "
          + "move its folder to another disk or restore a backup, and start it again. What was "
          + "confirmed is in the store; devices keep their pending changes.", isTransient: true)
    case .damaged:
      self.init(
        .damagedStore, "\(path) is damaged or is not a store: \(error)",
        hint: "Restore a backup. Devices keep their pending changes.")
    case .closed:
      self.init(
        .folderNotWritable, "\(path) cannot be opened for writing",
        hint: "Check that its disk is there and writable, and the owner and rights of its files.",
        isTransient: true)
    case .unreachable:
      self.init(
        .storeUnreachable, "the database of the store \(path) cannot be used: \(error)",
        hint: "Start it again, or make it writable; the server continues by itself. Devices keep "
          + "their pending changes.", isTransient: true)
    case .superseded:
      self.init(
        .superseded, "this server does not lead the package in the store \(path): \(error)",
        hint: "It continues as a follower, and leads again when the other node has ended.",
        isTransient: true)
    case .busy, .other:
      self.init(
        .store, "the store \(path) answered: \(error)",
        hint: error.code == .busy
          ? "Another program uses it; try again." : "Check its disk and the free space.",
        isTransient: error.isTransient)
    }
  }
}
