public import FerryModel

/// Values of synchronization parameters that were saved together: one subscription (the reference's
/// synchronization parameters).
///
/// Generated packages have a typed form, `Travel.SynchronizationParameters(region: "South")`.
public struct ParameterSet: Sendable, Hashable {
  /// Canonical values by parameter name; a missing parameter has its default.
  public let values: [String: AttributeValue]

  public init(_ values: [String: any AttributeConvertible]) {
    self.values = values.mapValues(\.value).filter { !$0.value.isNull }
  }

  /// A parameter's value in its type; nil if the set does not have it, or has a value of another
  /// type.
  public func value<Member: AttributeConvertible>(
    of parameter: String, as type: Member.Type = Member.self
  ) -> Member? {
    values[parameter].flatMap { Member.converted($0) }
  }

  init(canonical values: [String: AttributeValue]) { self.values = values }
}

/// A type that can be saved as a set of synchronization parameters; generated types conform.
public protocol SynchronizationParameters: Sendable {
  var parameterSet: ParameterSet { get }
  /// What was saved, read back.
  init(_ set: ParameterSet)
}

extension ParameterSet: SynchronizationParameters {
  public var parameterSet: ParameterSet { self }
  public init(_ set: ParameterSet) { self = set }
}
