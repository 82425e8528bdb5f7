/// Attributes that metadata carries beside the standard ones: SAP's, feed customisation, unknown.
public struct EdmAttributes: Sendable, Hashable {
  /// One attribute with its namespace.
  public struct Attribute: Sendable, Hashable {
    /// The address of the namespace; `""` for none.
    public let namespace: String
    public let name: String
    public let value: String

    public init(namespace: String, name: String, value: String) {
      self.namespace = namespace
      self.name = name
      self.value = value
    }
  }

  public var all: [Attribute]
  public init(_ all: [Attribute] = []) { self.all = all }

  /// The value of an attribute by local name, in whatever namespace (adr/PAX-4, `getAttribute`).
  public subscript(name: String) -> String? { all.first { $0.name == name }?.value }

  /// The value of an attribute of SAP's namespaces.
  public func sap(_ name: String) -> String? {
    all.first { $0.name == name && EdmAttributes.isSAP($0.namespace) }?.value
  }

  static func isSAP(_ namespace: String) -> Bool {
    let space = XMLSpace(namespace)
    return space == .sap || space == .genericPlayer || namespace == "sap" || namespace == "gp"
  }
}

/// SAP's annotations of OData 2.0, typed; what is absent has the default that SAP documents.
///
/// Every one is still there as text: `attributes.sap("name")`.
public struct SAPAnnotations: Sendable, Hashable {
  public let attributes: EdmAttributes
  public init(_ attributes: EdmAttributes) { self.attributes = attributes }

  private func flag(_ name: String, _ standard: Bool) -> Bool {
    guard let text = attributes.sap(name) else { return standard }
    return text == "true" || text == "1" || text == "X" || text == "x"
  }
  private func text(_ name: String) -> String? { attributes.sap(name) }
  private func number(_ name: String) -> Int? { attributes.sap(name).flatMap { Int($0) } }

  // What people read.
  public var label: String? { text("label") }
  public var heading: String? { text("heading") }
  public var quickInfo: String? { text("quickinfo") }
  public var memberTitle: String? { text("member-title") }

  // What a value means.
  public var semantics: String? { text("semantics") }
  /// The property or path with a text for this one.
  public var textPath: String? { text("text") }
  /// The property or path with the unit or currency of this one.
  public var unitPath: String? { text("unit") }
  public var displayFormat: String? { text("display-format") }
  public var precisionPath: String? { text("precision") }
  /// `standard` or `fixed-values`.
  public var valueList: String? { text("value-list") }
  public var lowerBoundary: String? { text("lower-boundary") }
  public var upperBoundary: String? { text("upper-boundary") }
  public var attributeFor: String? { text("attribute-for") }
  public var aggregationRole: String? { text("aggregation-role") }
  public var superOrdinate: String? { text("super-ordinate") }
  /// `mandatory` or `optional`.
  public var parameter: String? { text("parameter") }
  public var isAnnotation: Bool { flag("is-annotation", false) }
  public var isExtensionField: Bool { flag("is-extension-field", false) }
  public var isParameters: Bool { semantics == "parameters" }
  public var isAggregate: Bool { semantics == "aggregate" }
  public var fieldControl: String? { text("field-control") }
  public var preserveFlagFor: String? { text("preserve-flag-for") }
  public var filterFor: String? { text("filter-for") }

  // What one may do.
  public var creatable: Bool { flag("creatable", true) }
  public var updatable: Bool { flag("updatable", true) }
  public var deletable: Bool { flag("deletable", true) }
  public var creatablePath: String? { text("creatable-path") }
  public var updatablePath: String? { text("updatable-path") }
  public var deletablePath: String? { text("deletable-path") }
  public var sortable: Bool { flag("sortable", true) }
  public var filterable: Bool { flag("filterable", true) }
  /// `single-value`, `multi-value` or `interval`.
  public var filterRestriction: String? { text("filter-restriction") }
  public var requiredInFilter: Bool { flag("required-in-filter", false) }
  public var visible: Bool { flag("visible", true) }
  public var visibleInList: Bool { flag("visible-in-list", true) }
  public var visibleInDetail: Bool { flag("visible-in-detail", true) }
  public var searchable: Bool { flag("searchable", false) }
  public var useInSearch: Bool { flag("use-in-search", false) }
  public var pageable: Bool { flag("pageable", true) }
  public var topable: Bool { flag("topable", true) }
  public var countable: Bool { flag("countable", true) }
  public var addressable: Bool { flag("addressable", true) }
  public var topLevel: Bool { flag("topLevel", flag("top-level", addressable)) }
  public var requiresFilter: Bool { flag("requires-filter", false) }
  public var serverGenerated: Bool { flag("server-generated", false) }
  public var subscribable: Bool { flag("subscribable", false) }
  public var changeTracking: Bool { flag("change-tracking", false) }
  public var maximumPageSize: Int? { number("maxpagesize") }
  public var deltaLinkValidity: Int? { number("delta-link-validity") }
  public var orderBy: String? { text("order-by") }
  public var contentVersion: Int { number("content-version") ?? 1 }
  public var schemaVersion: Int? { number("schema-version") }
  public var displayOrder: Int? { number("display-order") }
  public var listDisplayOrder: Int? { number("list-display-order") ?? displayOrder }
  public var detailDisplayOrder: Int? { number("detail-display-order") ?? displayOrder }
  public var supportedFormats: [String] {
    text("supported-formats")?.split(separator: " ").map(String.init) ?? []
  }
  public var useBatch: Bool { flag("use-batch", false) }
  public var hierarchyNodeFor: String? { text("hierarchy-node-for") }
  public var hierarchyNodeExternalKeyFor: String? { text("hierarchy-node-external-key-for") }
  public var hierarchyLevelFor: String? { text("hierarchy-level-for") }
  public var hierarchyParentNodeFor: String? { text("hierarchy-parent-node-for") }
  public var hierarchyParentNavigationFor: String? { text("hierarchy-parent-navigation-for") }
  public var hierarchyDrillStateFor: String? { text("hierarchy-drill-state-for") }
  public var hierarchyDescendantCountFor: String? { text("hierarchy-node-descendant-count-for") }
  public var hierarchyPreorderRankFor: String? { text("hierarchy-preorder-rank-for") }
  public var hierarchySiblingRankFor: String? { text("hierarchy-sibling-rank-for") }

  // Functions.
  public var actionFor: String? { text("action-for") }
  public var applicablePath: String? { text("applicable-path") }
}
