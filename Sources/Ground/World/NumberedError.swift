/// The root error of a part of the device kit: a closed list of numbers, each with its own manual.
///
/// Two parts may use one number: an error is known by its domain and its number together.
public protocol NumberedError: Error, Equatable, CustomStringConvertible {
  /// The numbers of this part. New ones may come; none is ever used for something else.
  associatedtype Code: NumberedCode

  /// The name of the module.
  static var domain: String { get }
  var code: Code { get }
  /// What happened, to which object.
  var message: String { get }
}

/// One number of a part, with the same texts wherever it is shown.
public protocol NumberedCode: RawRepresentable<Int>, CaseIterable, Sendable, Hashable {
  /// Why this happens, as one sentence.
  var cause: String { get }
  /// What one can do about it, as one sentence.
  var cure: String { get }
}

extension NumberedCode {
  /// The name in code, as `invalidValue`.
  public var name: String { String(describing: self) }
}

extension NumberedError {
  public var hint: String { code.cure }

  public var description: String {
    "\(Self.domain) \(code.rawValue) \(code.name): \(message). \(code.cure)"
  }
}
