/// A text under which a statement is kept: the same where it is the same byte by byte.
///
/// To SQLite a composed letter and a letter with its mark are two; to `String` they are equal.
struct StatementText: Hashable {
  private let text: String

  init(_ text: String) { self.text = text }

  static func == (left: StatementText, right: StatementText) -> Bool {
    left.withBytes { left in
      right.withBytes { right in
        // A literal is known by its place.
        left.count == right.count
          && (left.baseAddress == right.baseAddress || left.elementsEqual(right))
      }
    }
  }

  func hash(into hasher: inout Hasher) {
    withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  private func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    if let result = text.utf8.withContiguousStorageIfAvailable(body) { return result }
    return Array(text.utf8).withUnsafeBufferPointer(body)
  }
}
