/// What the metadata says of one property; the root of a schema holds all others.
///
/// Reference: ios/1.O `SDMODataPropertyInfo`. Paths are separated by `\`; `/` is read too.
public struct ODataPropertyInfo: Sendable, Hashable {
  /// As payloads write it; the type's name for the root.
  public var name: String
  /// For the root, the entity type itself.
  public var type: EdmTypeReference
  /// From facets, SAP's annotations and the vocabularies of V4.
  public var flags: ODataPropertyFlags
  /// In characters of a string or bytes of a binary; nil for no limit.
  public var maxLength: Int?
  /// Digits of a decimal, or of a second's fraction; nil for no limit.
  public var precision: Int?
  /// Digits after the point; nil where the metadata does not limit them.
  public var scale: EdmFacets.Scale?
  /// As text from the metadata; nil without one.
  public var defaultValue: String?
  /// Read from `sap:semantics`, or from V4 terms such as `IsEmailAddress`.
  public var semantics: ODataPropertySemantics
  /// `sap:label` or `Common.v1.Label`; nil without one.
  public var label: String?
  /// The quick info of the property.
  public var description: String?
  /// `sap:list-display-order`, else `sap:display-order`; nil sorts last.
  public var listDisplayOrder: Int?
  /// `sap:detail-display-order`, else `sap:display-order`; nil sorts last.
  public var detailDisplayOrder: Int?
  /// Attributes that the standard does not know, by name.
  public var attributes: EdmAttributes
  /// Parts of a complex property, in the order of the metadata.
  public var children: [ODataPropertyInfo]

  /// Nullable, changeable, filterable and visible, without children.
  public init(_ name: String, type: EdmTypeReference) {
    self.name = name
    self.type = type
    flags = [
      .nullable, .creatable, .updatable, .filterable, .visibleInList, .visibleInDetail,
    ]
    semantics = ODataPropertySemantics(nil)
    attributes = EdmAttributes()
    children = []
  }

  /// Null is a valid value.
  public var isNullable: Bool { flags.contains(.nullable) }
  /// Part of the entity's key.
  public var isKey: Bool { flags.contains(.key) }
  /// A new entity may set it.
  public var isCreatable: Bool { flags.contains(.creatable) }
  /// A change may set it.
  public var isUpdatable: Bool { flags.contains(.updatable) }
  /// Usable in `$filter`.
  public var isFilterable: Bool { flags.contains(.filterable) }
  /// People see it in lists.
  public var isVisibleInList: Bool { flags.contains(.visibleInList) }
  /// People see it on the page of one entity.
  public var isVisibleInDetail: Bool { flags.contains(.visibleInDetail) }
  /// By `SearchRestrictions`, `sap:searchable` or `sap:use-in-search`.
  public var isSearchable: Bool { flags.contains(.searchable) }
  /// By `sap:server-generated` or `Core.V1.Computed`; clients send no value.
  public var isServerGenerated: Bool { flags.contains(.serverGenerated) }

  /// The part at a path of names such as `items\description\lang_code`.
  public func property(path: String) -> ODataPropertyInfo? {
    var current = self
    for name in path.split(whereSeparator: { $0 == "\\" || $0 == "/" }) {
      guard let child = current.children.first(where: { $0.name == name }) else { return nil }
      current = child
    }
    return current
  }

  /// Makes the tree of a type; a type that holds itself ends where it comes again.
  static func tree(
    of type: EdmStructuredType, named name: String, in metadata: EdmMetadata,
    above: Set<String> = []
  ) -> ODataPropertyInfo {
    var root = ODataPropertyInfo(name, type: EdmTypeReference(type.qualifiedName))
    let keys = Set(metadata.keys(of: type).map(\.name))
    let owners = metadata.lineage(of: type)
    for owner in owners {
      for property in owner.properties {
        var info = ODataPropertyInfo(
          property, isKey: keys.contains(property.name),
          view: metadata.view(of: property, in: owner))
        if let inner = metadata.complexType(property.type.name),
          !above.contains(inner.qualifiedName)
        {
          info.children =
            tree(
              of: inner, named: property.name, in: metadata,
              above: above.union([inner.qualifiedName])
            ).children
        }
        root.children.append(info)
      }
    }
    return root
  }

  private init(_ property: EdmProperty, isKey: Bool, view: EdmAnnotationView) {
    self.init(property.name, type: property.type)
    let sap = property.sap
    flags = []
    if property.facets.isNullable { flags.insert(.nullable) }
    if isKey { flags.insert(.key) }
    if view.isCreatable { flags.insert(.creatable) }
    if view.isUpdatable { flags.insert(.updatable) }
    if view.isFilterable { flags.insert(.filterable) }
    if sap.visible && sap.visibleInList { flags.insert(.visibleInList) }
    if sap.visible && sap.visibleInDetail { flags.insert(.visibleInDetail) }
    if view.isSearchable || sap.useInSearch { flags.insert(.searchable) }
    if sap.serverGenerated || view.isComputed { flags.insert(.serverGenerated) }
    if property.mappings.contains(where: { !$0.keepsInContent }) { flags.insert(.notInContent) }
    maxLength = property.facets.maxLength
    precision = property.facets.precision
    scale = property.facets.scale
    defaultValue = property.facets.defaultValue
    semantics = ODataPropertySemantics(view.semantics)
    label = view.label
    description = view.quickInfo
    listDisplayOrder = sap.listDisplayOrder
    detailDisplayOrder = sap.detailDisplayOrder
    attributes = property.attributes
  }
}
