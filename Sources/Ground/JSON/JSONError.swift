/// Why a text is not the JSON that was expected, and where.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Offset in bytes from the start of the text.
  public let offset: Int
  /// What was expected or found, as part of a sentence.
  public let problem: String
  /// What it is about, from the outside in, as far as the reader knows: an entity, its attribute.
  public let subject: [String]

  public init(offset: Int, problem: String, subject: [String] = []) {
    self.offset = offset
    self.problem = problem
    self.subject = subject
  }

  public var description: String { "at byte \(offset): \(problem)" }
}
