import FerryOData

/// What the segments of an address mean by the metadata, and the type of what it leads to.
///
/// Names, keys, parameters and options are checked; so are types where both sides have one.
public struct ODataResolvedAddress: Sendable {
  /// What a segment is.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A set of the container, such as `Products`.
    case entitySet = "entity-set"
    /// A single entity of the container, such as `Me`.
    case singleton
    /// A key in parentheses, or as a segment of its own.
    case key
    /// A property that leads to related entities.
    case navigation
    /// A structural property, such as `Name`.
    case property
    /// A derived type that narrows what precedes it, such as `NS.Employee`.
    case type
    /// A bound function or a function import.
    case function
    /// A bound action or an action import.
    case action
    /// Arguments in parentheses behind a function.
    case parameters
    /// A number that picks one member of a collection.
    case ordinal
    /// A segment with a dollar sign, such as `$count`.
    case system
  }

  /// A segment with its meaning.
  public struct Step: Sendable, Hashable {
    /// By the metadata, not by the look of the segment.
    public var kind: Kind
    /// What stands there after the segment; nil behind `$batch` and the like.
    public var type: EdmTypeReference?
  }

  /// One for each segment.
  public let steps: [Step]
  /// The set that the last entities belong to; nil where the metadata does not say.
  public let set: EdmEntitySet?
  /// The type of the answer; nil where there is none.
  public var type: EdmTypeReference? { steps.last?.type }

  /// Throws `unknownName` for names that the metadata has not, `typeMismatch` for values of other
  /// types, both with the column where the address was parsed; `address` for what cannot follow.
  public init(_ address: ODataAddress, in metadata: EdmMetadata) throws(ODataError) {
    let checker = AddressChecker(metadata, address)
    do {
      steps = try checker.path()
      set = checker.set
      try checker.options(address.options, checker.counted ?? checker.current, "")
    } catch { throw error.error }
  }
}
