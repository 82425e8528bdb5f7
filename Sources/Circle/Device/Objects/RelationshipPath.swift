import FerryModel

/// One or more relationships, one after the other, that lead from an entity's objects to others;
/// the argument of `prefetching`.
/// ```swift
/// let path = Order.Attributes.lines.then(Line.Attributes.product)
/// for order in try Order.findAll(prefetching: [path], in: database) {
///   for line in try order.lines() { print(try line.product()?.name ?? "") }
/// }
/// ```
public protocol RelationshipPath<Object>: Sendable {
  /// Where it begins.
  associatedtype Object: BusinessObject
  /// Where it ends.
  associatedtype Target: BusinessObject
  /// From one entity to the next, beginning at `Object`.
  var steps: [RelationshipStep] { get }
}

/// One relationship of a path.
public struct RelationshipStep: Sendable, Hashable {
  /// Name of the entity that it leads to.
  public let target: String
  /// The name of the relationship where the step begins.
  public let name: String
  /// If the step leads from one object to many: the name of the relationship that leads back.
  public let inverse: String?
}

/// A path of several relationships, made by `then`.
public struct RelationshipSteps<Object: BusinessObject, Target: BusinessObject>: RelationshipPath,
  Hashable
{
  public let steps: [RelationshipStep]
}

extension RelationshipPath {
  /// The same path, extended by one relationship.
  public func then<Next: BusinessObject>(
    _ next: RelationshipOf<Target, Next>
  ) -> RelationshipSteps<Object, Next> { RelationshipSteps(steps: steps + next.steps) }
}

extension RelationshipOf: RelationshipPath {
  /// The steps of the path: this relationship alone.
  public var steps: [RelationshipStep] {
    [RelationshipStep(target: Target.entity.name, name: name, inverse: inverse)]
  }
}
