import FerryServer

/// What a data folder says of a store that has left it: no server starts on what stayed behind.
///
/// The file is written before the first row moves and stays until the move is undone.
package struct MoveMark: Sendable, Equatable {
  static let fileName = "moved"

  /// Whether all has arrived; if not the move was interrupted, and the other store has nothing.
  package let isComplete: Bool
  /// The address of the other store.
  package let store: String

  package init(isComplete: Bool, store: String) {
    self.isComplete = isComplete
    self.store = store
  }

  /// nil where the folder's store has not left it.
  package init?(in folder: String) {
    guard let bytes = Folder.read("\(folder)/\(MoveMark.fileName)") else { return nil }
    let words = String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    isComplete = words.first == "complete"
    store = words.count > 1 ? String(words[1]) : ""
  }

  func keep(in folder: Folder) throws(ServerError) {
    try folder.keep(
      Array("\(isComplete ? "complete" : "begun")\n\(store)".utf8), as: MoveMark.fileName)
  }

  static func remove(from folder: Folder) throws(ServerError) {
    try folder.remove(MoveMark.fileName)
  }

  /// Throws `movedStore` where the folder's store has left it.
  static func requireNone(in folder: String) throws(ServerError) {
    guard let mark = MoveMark(in: folder) else { return }
    guard mark.isComplete else {
      throw ServerError(
        .movedStore, "a move of the store in \(folder) to \(mark.store) was interrupted",
        hint: "Nothing was lost. Type `ferry move` again, or `ferry move --undo --data \(folder)`.")
    }
    throw ServerError(
      .movedStore, "the store in \(folder) was moved to \(mark.store)",
      hint: "Start ferryd with --store '\(mark.store)'; `ferry move --undo` goes back to the old "
        + "store.")
  }
}
