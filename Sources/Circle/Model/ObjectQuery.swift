/// A query that the model names: objects of one entity by a condition in SQL.
public struct ObjectQuery: Sendable, Hashable {
  /// An identifier: the name of the Swift function.
  public let name: String
  public let parameters: [Parameter]
  /// SQL over the entity's attributes by their names, and `:name` for each parameter; nil: all.
  public let condition: String?
  /// SQL too; nil: by surrogate key.
  public let order: String?
  /// Whether it gives the first object found, instead of all.
  public let isSingle: Bool

  /// A value that the caller gives.
  public struct Parameter: Sendable, Hashable {
    public let name: String
    public let type: AttributeType
    public let isNullable: Bool

    public init(name: String, type: AttributeType, isNullable: Bool = false) {
      self.name = name
      self.type = type
      self.isNullable = isNullable
    }
  }

  public init(
    name: String, parameters: [Parameter], condition: String?, order: String? = nil,
    isSingle: Bool = false
  ) {
    self.name = name
    self.parameters = parameters
    self.condition = condition
    self.order = order
    self.isSingle = isSingle
  }

  /// What follows the FROM of `entity`, with `?1`, `?2` … in the order of the parameters.
  ///
  /// Attributes of type decimal and integer are compared and sorted as numbers. Objects that `order`
  /// does not tell apart stand in the order in which they came, so that skip and take walk through
  /// the same row of objects each time.
  public func sql(of entity: Entity, in package: Package) -> String {
    let numbers = NumberOrder(entity: entity, package: package)
    let written = { (text: String) in
      numbers.written(SQLText.parts(of: text)) { name in
        "?\((parameters.firstIndex { $0.name == name } ?? 0) + 1)"
      }
    }
    let condition = condition.map { "WHERE \(written($0)) " } ?? ""
    return condition + "ORDER BY \(order.map { "\(written($0)), " } ?? "")_id"
  }
}
