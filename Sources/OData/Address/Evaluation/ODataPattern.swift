import FerryOData

/// A regular expression that no text and no pattern can make run for ever: the engine of
/// `matchesPattern`, to be asked of texts by themselves.
public struct ODataPattern: Sendable {
  private let pattern: TextPattern

  /// Throws `evaluation` for what is no pattern, `notOffered` for back references, looking around
  /// and classes of Unicode, and `limit` for a pattern of too many steps.
  public init(_ pattern: String) throws(ODataError) {
    do { self.pattern = try TextPattern(pattern) } catch { throw error.error }
  }

  /// Whether the pattern is anywhere in a text. Throws `limit` where that costs too much.
  public func isFound(in text: String) throws(ODataError) -> Bool {
    do { return try pattern.isFound(in: text) } catch { throw error.error }
  }
}
