import FerryOData

/// The resource path, step by step.
extension ODataAddress {
  /// The address with one segment more.
  public func appending(_ segment: ODataSegment) -> ODataAddress {
    var longer = self
    longer.path.append(segment)
    return longer
  }

  /// Begins the path with a set.
  public func entitySet(_ name: String) -> ODataAddress { appending(.name(name)) }

  /// Begins the path with the one entity of a name.
  public func singleton(_ name: String) -> ODataAddress { appending(.name(name)) }

  /// One entity by its only key property.
  public func key(_ value: some ODataOperand) -> ODataAddress {
    appending(.predicate(.value(value.expression)))
  }

  /// One entity by several key properties, or by those of an alternate key.
  public func key(_ parts: KeyValuePairs<String, ODataExpression>) -> ODataAddress {
    appending(.predicate(.named(parts.map { ODataNamedValue($0.key, $0.value) })))
  }

  /// One entity by its key as a segment of its own; only V4 services that say so read it.
  public func keySegment(_ text: String) -> ODataAddress { appending(.keySegment(text)) }

  /// What a navigation property leads to.
  public func navigation(_ name: String) -> ODataAddress { appending(.name(name)) }

  /// One property.
  public func property(_ name: String) -> ODataAddress { appending(.name(name)) }

  /// Only what is of a derived type, by its qualified name.
  public func cast(to type: String) -> ODataAddress { appending(.name(type)) }

  /// A function: bound by its qualified name, or imported at the root of the service.
  ///
  /// The parameters of V2 are query options and go into `custom(_:_:)`.
  public func function(
    _ name: String, _ parameters: KeyValuePairs<String, ODataExpression> = [:]
  ) -> ODataAddress {
    appending(.name(name)).key(parameters)
  }

  /// An action, whose parameters travel in the body.
  public func action(_ name: String) -> ODataAddress { appending(.name(name)) }

  /// The members that a condition holds for, as a segment of 4.01.
  public func filtered(_ condition: some ODataCondition) -> ODataAddress {
    appending(.filter(condition.expression))
  }

  /// How many there are, as plain text.
  public var count: ODataAddress { appending(.count) }
  /// The bare value of a property, or the media resource of an entity.
  public var value: ODataAddress { appending(.value) }
  /// The reference instead of the entity; V4.
  public var ref: ODataAddress { appending(.ref) }
  /// Each member, for an action behind it; 4.01.
  public var each: ODataAddress { appending(.each) }
  /// `$metadata`: the description of all sets and types.
  public var metadata: ODataAddress { appending(.metadata) }
  /// `$batch`: where several requests are posted as one.
  public var batch: ODataAddress { appending(.batch) }
  /// `$all`: the entities of every set together; V4.
  public var all: ODataAddress { appending(.all) }

  /// The links of a navigation property; V2 and V3.
  public func links(_ navigation: String) -> ODataAddress {
    appending(.links).appending(.name(navigation))
  }

  /// The entity of an identity; V4.
  public func entity(id: String) -> ODataAddress {
    var address = appending(.entity)
    address.options.id = id
    return address
  }

  /// All pairs of entities; V4.
  public func crossjoin(_ sets: String...) -> ODataAddress { appending(.crossjoin(sets)) }
}
