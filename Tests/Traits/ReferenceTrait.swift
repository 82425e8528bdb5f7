package import Testing

/// The ids of the reference that a test shows; see `reference(_:_:)`.
package struct ReferenceTrait: TestTrait, SuiteTrait {
  package let ids: [String]

  /// The tests of a suite show what the suite shows.
  package var isRecursive: Bool { true }

  /// A failure prints them, so that its reader sees which promise is broken.
  package var comments: [Comment] {
    [Comment(rawValue: "shows \(ids.joined(separator: ", "))")]
  }
}

extension Trait where Self == ReferenceTrait {
  /// Says which ids of `Documentation/reference-ids.txt` the test or the suite shows, each in full:
  /// `@Test("A change is sent", .reference("sync/P2", "facts/1.5"))`.
  ///
  /// `Scripts/reference` reads it from the source, and writes the rows of the pages from it.
  package static func reference(_ first: String, _ others: String...) -> Self {
    ReferenceTrait(ids: [first] + others)
  }
}
