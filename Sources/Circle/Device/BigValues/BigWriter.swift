import FerryCrypto
import FerryModel
import Synchronization

/// Writes a content from its beginning to its end, in constant memory: each full piece is written
/// to the device's database at once. Append only.
///
/// The content is not visible before `close`, which makes it the object's value in one transaction;
/// the object is then pending, like after any other change. A writer that is dropped without
/// `close` discards its content. May be used from any thread, by one thread at a time.
public final class BigWriter: Sendable {
  private struct State {
    var draft: Int64?
    var stored: Int64 = 0
    var rest: [UInt8] = []
    var hasher = SHA256Hasher()
    /// Known when all was written: `close` may be called again after an error.
    var reference: BigReference?
    var isOpen = true
  }

  private let contents: Contents
  private let declared: Int64?
  private let shown: String
  private let keep: @Sendable (_ draft: Int64, BigReference) throws(FerryError) -> Void
  private let state = Mutex(State())

  init(
    _ contents: Contents, declared: Int64?, shown: String,
    keep: @escaping @Sendable (_ draft: Int64, BigReference) throws(FerryError) -> Void
  ) {
    self.contents = contents
    self.declared = declared
    self.shown = shown
    self.keep = keep
  }

  deinit { discard() }

  /// Bytes written so far.
  public var position: Int64 { state.withLock { $0.stored + Int64($0.rest.count) } }

  /// Appends bytes.
  ///
  /// Errors: `streamNotOpen` after `close`; `writeOverLength` beyond the declared length;
  /// `diskFull`: `position` says how many bytes were accepted, and the others may be written again
  /// later.
  public func write(_ bytes: [UInt8]) throws(FerryError) {
    try state.withLock { state throws(FerryError) in
      guard state.isOpen, state.reference == nil else { throw self.notOpen }
      let length = state.stored + Int64(state.rest.count) + Int64(bytes.count)
      if let declared = self.declared, length > declared {
        throw FerryError(
          .writeOverLength,
          "\(self.shown) was opened for \(declared) bytes, this write would make \(length)",
          hint: "Open it with the right length, or without one.")
      }
      var left = bytes[...]
      while !left.isEmpty {
        let next = left.prefix(self.contents.pieceBytes - state.rest.count)
        state.rest += next
        left = left.dropFirst(next.count)
        if state.rest.count == self.contents.pieceBytes { try self.store(&state) }
      }
    }
  }

  /// Ends the content and makes it the object's value; the object is pending afterwards.
  ///
  /// Errors: `streamNotOpen` where it was closed before; `writeUnderLength` where fewer bytes were
  /// written than declared, or the object may not be changed; `objectNotFound` where it was deleted
  /// meanwhile; `diskFull`. After an error nothing has changed, and it may be closed again.
  public func close() throws(FerryError) {
    try state.withLock { state throws(FerryError) in
      guard state.isOpen else { throw self.notOpen }
      if !state.rest.isEmpty { try self.store(&state) }
      if let declared = self.declared, state.stored < declared {
        throw FerryError(
          .writeUnderLength,
          "\(self.shown) was opened for \(declared) bytes and has \(state.stored)",
          hint: "Write the missing bytes, or open it without a length.")
      }
      if state.draft == nil { state.draft = try self.contents.beginDraft() }
      let reference =
        state.reference
        ?? BigReference(sizeBytes: state.stored, digest: hexadecimal(state.hasher.finish()))
      state.reference = reference
      if let draft = state.draft { try self.keep(draft, reference) }
      state.draft = nil
      state.isOpen = false
    }
  }

  private func store(_ state: inout State) throws(FerryError) {
    let draft: Int64
    if let known = state.draft { draft = known } else { draft = try contents.beginDraft() }
    state.draft = draft
    guard try contents.append(state.rest, to: draft, at: state.stored) else {
      throw FerryError(
        .streamNotOpen, "the written content of \(shown) was lost",
        hint: "cleanAllData was called meanwhile; write the value again.")
    }
    state.hasher.update(state.rest)
    state.stored += Int64(state.rest.count)
    state.rest.removeAll(keepingCapacity: true)
  }

  /// Discards the written content; the object keeps its value.
  public func discard() {
    let draft = state.withLock { state -> Int64? in
      defer { state.draft = nil }
      state.isOpen = false
      state.rest = []
      return state.draft
    }
    // What cannot be thrown away now goes a day later.
    if let draft { try? contents.discard(draft) }
  }

  private var notOpen: FerryError {
    FerryError(
      .streamNotOpen, "the stream of \(shown) was closed",
      hint: "Open another with openForWrite; a value is written from its beginning.")
  }
}
