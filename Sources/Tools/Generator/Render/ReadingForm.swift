/// The two forms of each generated function that reads: one for transactions, one that does not block
/// its caller.
enum ReadingForm {
  case plain, async

  var effects: String {
    self == .async ? "async throws(Ferry.FerryError)" : "throws(Ferry.FerryError)"
  }
  var call: String { self == .async ? "try await" : "try" }
  var note: String { self == .async ? " Does not block the caller." : "" }

  /// Of a function that answers without leaving the caller's actor where nothing needs to be read.
  var isolation: String { self == .async ? "nonisolated(nonsending) " : "" }
}
