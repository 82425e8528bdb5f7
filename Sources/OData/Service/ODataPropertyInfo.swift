/// What the metadata says of one property; the root of a schema holds all others.
///
/// Reference: ios/1.O `SDMODataPropertyInfo`. Paths are separated by `\`; `/` is read too.
public struct ODataPropertyInfo: Sendable, Hashable {
  public var name: String
  public var type: EdmTypeReference
  public var flags: ODataPropertyFlags
  public var maxLength: Int?
  public var precision: Int?
  public var scale: EdmFacets.Scale?
  public var defaultValue: String?
  public var semantics: ODataPropertySemantics
  public var label: String?
  /// The quick info of the property.
  public var description: String?
  public var listDisplayOrder: Int?
  public var detailDisplayOrder: Int?
  /// Attributes that the standard does not know, by name.
  public var attributes: EdmAttributes
  /// Parts of a complex property, in the order of the metadata.
  public var children: [ODataPropertyInfo]

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

  public var isNullable: Bool { flags.contains(.nullable) }
  public var isKey: Bool { flags.contains(.key) }
  public var isCreatable: Bool { flags.contains(.creatable) }
  public var isUpdatable: Bool { flags.contains(.updatable) }
  public var isFilterable: Bool { flags.contains(.filterable) }
  public var isVisibleInList: Bool { flags.contains(.visibleInList) }
  public var isVisibleInDetail: Bool { flags.contains(.visibleInDetail) }
  public var isSearchable: Bool { flags.contains(.searchable) }
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
