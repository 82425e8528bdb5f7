import FerryOData

/// The root error of the cache: what was refused, and what to do.
public struct ODataCacheError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The causes that a caller can tell apart.
  public enum Reason: Int, Sendable, Hashable, CaseIterable {
    /// The cache has no service document, so its collections are not known.
    case noServiceDocument = 300
    /// The document does not belong to the documents in the cache.
    case foreign = 301
    /// The entry has no id.
    case noID = 302
    /// The text is not a valid pattern, or a search with it would take too long.
    case pattern = 303
    /// The stored bytes are damaged, or a later version wrote them.
    case damaged = 304
    /// Entries are nested too deeply.
    case tooDeep = 305
    /// The service document was given without the bytes that it was read from.
    case notStorable = 306
    /// A condition that cannot be computed over entries in memory.
    case condition = 307

    /// The name of the reason, for tables and logs.
    public var name: String { String(describing: self) }

    /// Why it happens.
    public var cause: String {
      switch self {
      case .noServiceDocument:
        "The cache has no service document, so its collections are not known."
      case .foreign: "The document does not belong to the documents in the cache."
      case .noID: "The entry has no id."
      case .pattern: "The text is not a valid pattern, or a search with it would take too long."
      case .damaged: "The stored bytes are damaged, or a later version wrote them."
      case .tooDeep: "Entries are nested too deeply."
      case .notStorable: "The service document was given without the bytes it was read from."
      case .condition: "The condition cannot be computed over entries in memory."
      }
    }

    /// What to do about it.
    public var hint: String {
      switch self {
      case .noServiceDocument: "Set the service document first."
      case .foreign: "Use another cache for another service, or clear this one."
      case .noID: "Give the entry the id that the service gave it."
      case .pattern: "Write another pattern, or search with another algorithm."
      case .damaged: "Remove the stored cache and fill it again from the service."
      case .tooDeep: "Store the inner entries in their own collections."
      case .notStorable: "Set the service document with its bytes."
      case .condition: "Correct the condition, or send the query to the service."
      }
    }
  }

  public let reason: Reason
  /// One sentence with the collection; it never holds a value.
  public let message: String

  public init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }

  public var code: Int { reason.rawValue }
  public var hint: String { reason.hint }
  public var description: String { "\(reason.name) (\(code)): \(message). \(hint)" }
}
