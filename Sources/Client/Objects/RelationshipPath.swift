import FerryModel

/// A way over one relationship or several from an entity's objects to others: what `prefetching`
/// takes.
///
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
  /// As it is called where the step begins.
  public let name: String
  /// Where it leads from one to many: the name under which each of the many leads back.
  public let inverse: String?
}

/// A path of several relationships, made by `then`.
public struct RelationshipSteps<Object: BusinessObject, Target: BusinessObject>: RelationshipPath,
  Hashable
{
  public let steps: [RelationshipStep]
}

extension RelationshipPath {
  /// The same path and one relationship further.
  public func then<Next: BusinessObject>(
    _ next: RelationshipOf<Target, Next>
  ) -> RelationshipSteps<Object, Next> { RelationshipSteps(steps: steps + next.steps) }
}

extension RelationshipOf: RelationshipPath {
  /// The relationship alone.
  public var steps: [RelationshipStep] {
    [RelationshipStep(target: Target.entity.name, name: name, inverse: inverse)]
  }
}
