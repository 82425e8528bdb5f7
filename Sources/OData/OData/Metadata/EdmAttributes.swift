/// Attributes that metadata carries beside the standard ones: SAP's, feed customisation, unknown.
public struct EdmAttributes: Sendable, Hashable {
  /// One attribute with its namespace.
  public struct Attribute: Sendable, Hashable {
    /// The address of the namespace; `""` for none.
    public let namespace: String
    /// The local name, such as `label` of `sap:label`.
    public let name: String
    /// The text between the quotes, not interpreted.
    public let value: String

    /// Use `""` for an attribute without a namespace.
    public init(namespace: String, name: String, value: String) {
      self.namespace = namespace
      self.name = name
      self.value = value
    }
  }

  /// In the order of the document.
  public var all: [Attribute]
  /// Empty unless attributes are given.
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
  /// What all members read; other namespaces than SAP's are ignored.
  public let attributes: EdmAttributes
  /// Copies nothing: each member looks its attribute up when it is read.
  public init(_ attributes: EdmAttributes) { self.attributes = attributes }

  private func flag(_ name: String, _ standard: Bool) -> Bool {
    guard let text = attributes.sap(name) else { return standard }
    return text == "true" || text == "1" || text == "X" || text == "x"
  }
  private func text(_ name: String) -> String? { attributes.sap(name) }
  private func number(_ name: String) -> Int? { attributes.sap(name).flatMap { Int($0) } }

  // What people read.
  /// `sap:label`: the caption beside a field.
  public var label: String? { text("label") }
  /// `sap:heading`: the title of a column.
  public var heading: String? { text("heading") }
  /// `sap:quickinfo`: the text of a tooltip.
  public var quickInfo: String? { text("quickinfo") }
  /// `sap:member-title`: the caption of one member of a collection.
  public var memberTitle: String? { text("member-title") }

  // What a value means.
  /// `sap:semantics`, such as `tel;type=cell`, `currency-code` or `parameters`.
  public var semantics: String? { text("semantics") }
  /// The property or path with a text for this one.
  public var textPath: String? { text("text") }
  /// The property or path with the unit or currency of this one.
  public var unitPath: String? { text("unit") }
  /// `sap:display-format`, such as `Date`, `NonNegative` or `UpperCase`.
  public var displayFormat: String? { text("display-format") }
  /// `sap:precision`: the property with the number of decimal places.
  public var precisionPath: String? { text("precision") }
  /// `standard` or `fixed-values`.
  public var valueList: String? { text("value-list") }
  /// `sap:lower-boundary`: the property with the lower end of a range.
  public var lowerBoundary: String? { text("lower-boundary") }
  /// `sap:upper-boundary`: the property with the upper end of a range.
  public var upperBoundary: String? { text("upper-boundary") }
  /// `sap:attribute-for`: the dimension that this property describes.
  public var attributeFor: String? { text("attribute-for") }
  /// `sap:aggregation-role`, such as `dimension` or `measure`.
  public var aggregationRole: String? { text("aggregation-role") }
  /// `sap:super-ordinate`: a property without which this one has no meaning.
  public var superOrdinate: String? { text("super-ordinate") }
  /// `mandatory` or `optional`.
  public var parameter: String? { text("parameter") }
  /// `sap:is-annotation`; false where absent.
  public var isAnnotation: Bool { flag("is-annotation", false) }
  /// `sap:is-extension-field`: a customer added the property. False where absent.
  public var isExtensionField: Bool { flag("is-extension-field", false) }
  /// `sap:semantics="parameters"`: the type holds input for a query.
  public var isParameters: Bool { semantics == "parameters" }
  /// `sap:semantics="aggregate"`: entities are sums over what a query selects.
  public var isAggregate: Bool { semantics == "aggregate" }
  /// `sap:field-control`: the property that says whether input is mandatory, read-only or hidden.
  public var fieldControl: String? { text("field-control") }
  /// `sap:preserve-flag-for`; nil where absent.
  public var preserveFlagFor: String? { text("preserve-flag-for") }
  /// `sap:filter-for`; nil where absent.
  public var filterFor: String? { text("filter-for") }

  // What one may do.
  /// `sap:creatable`: `POST` is possible, or values can be set in it. True where absent.
  public var creatable: Bool { flag("creatable", true) }
  /// `sap:updatable`: existing entities or values can be changed. True where absent.
  public var updatable: Bool { flag("updatable", true) }
  /// `sap:deletable`: `DELETE` is possible. True where absent.
  public var deletable: Bool { flag("deletable", true) }
  /// `sap:creatable-path`: the Boolean property that decides per entity.
  public var creatablePath: String? { text("creatable-path") }
  /// `sap:updatable-path`: the Boolean property that decides per entity.
  public var updatablePath: String? { text("updatable-path") }
  /// `sap:deletable-path`: the Boolean property that decides per entity.
  public var deletablePath: String? { text("deletable-path") }
  /// `sap:sortable`: usable in `$orderby`. True where absent.
  public var sortable: Bool { flag("sortable", true) }
  /// `sap:filterable`: usable in `$filter`. True where absent.
  public var filterable: Bool { flag("filterable", true) }
  /// `single-value`, `multi-value` or `interval`.
  public var filterRestriction: String? { text("filter-restriction") }
  /// `sap:required-in-filter`: each `$filter` must restrict it. False where absent.
  public var requiredInFilter: Bool { flag("required-in-filter", false) }
  /// `sap:visible`: people may see the value. True where absent.
  public var visible: Bool { flag("visible", true) }
  /// `sap:visible-in-list`; true where absent.
  public var visibleInList: Bool { flag("visible-in-list", true) }
  /// `sap:visible-in-detail`; true where absent.
  public var visibleInDetail: Bool { flag("visible-in-detail", true) }
  /// `sap:searchable`: the set understands the option `search`. False where absent.
  public var searchable: Bool { flag("searchable", false) }
  /// `sap:use-in-search`; false where absent.
  public var useInSearch: Bool { flag("use-in-search", false) }
  /// `sap:pageable`: `$top` and `$skip` are understood. True where absent.
  public var pageable: Bool { flag("pageable", true) }
  /// `sap:topable`: `$top` is understood. True where absent.
  public var topable: Bool { flag("topable", true) }
  /// `sap:countable`: `$count` and `$inlinecount` are understood. True where absent.
  public var countable: Bool { flag("countable", true) }
  /// `sap:addressable`: the set can be read directly, not only by navigation. True where absent.
  public var addressable: Bool { flag("addressable", true) }
  /// `sap:topLevel` or `sap:top-level`; `addressable` where both are absent.
  public var topLevel: Bool { flag("topLevel", flag("top-level", addressable)) }
  /// `sap:requires-filter`: reading needs a `$filter`. False where absent.
  public var requiresFilter: Bool { flag("requires-filter", false) }
  /// `sap:server-generated`: clients send no value. False where absent.
  public var serverGenerated: Bool { flag("server-generated", false) }
  /// `sap:subscribable`; false where absent.
  public var subscribable: Bool { flag("subscribable", false) }
  /// `sap:change-tracking`: the service offers delta links. False where absent.
  public var changeTracking: Bool { flag("change-tracking", false) }
  /// `sap:maxpagesize`, in entities; nil where absent or no number.
  public var maximumPageSize: Int? { number("maxpagesize") }
  /// `sap:delta-link-validity`; nil where absent or no number.
  public var deltaLinkValidity: Int? { number("delta-link-validity") }
  /// `sap:order-by`, as written; nil where absent.
  public var orderBy: String? { text("order-by") }
  /// `sap:content-version`; 1 where absent or no number.
  public var contentVersion: Int { number("content-version") ?? 1 }
  /// `sap:schema-version`; nil where absent or no number.
  public var schemaVersion: Int? { number("schema-version") }
  /// `sap:display-order`: low numbers come first.
  public var displayOrder: Int? { number("display-order") }
  /// `sap:list-display-order`; `displayOrder` where absent.
  public var listDisplayOrder: Int? { number("list-display-order") ?? displayOrder }
  /// `sap:detail-display-order`; `displayOrder` where absent.
  public var detailDisplayOrder: Int? { number("detail-display-order") ?? displayOrder }
  /// `sap:supported-formats`, split at spaces, such as `atom` and `json`.
  public var supportedFormats: [String] {
    text("supported-formats")?.split(separator: " ").map(String.init) ?? []
  }
  /// `sap:use-batch`: clients must read with `$batch`. False where absent.
  public var useBatch: Bool { flag("use-batch", false) }
  /// `sap:hierarchy-node-for`: the dimension whose hierarchy nodes this property identifies.
  public var hierarchyNodeFor: String? { text("hierarchy-node-for") }
  /// `sap:hierarchy-node-external-key-for`: the node property whose readable key this is.
  public var hierarchyNodeExternalKeyFor: String? { text("hierarchy-node-external-key-for") }
  /// `sap:hierarchy-level-for`: the node property whose depth this is.
  public var hierarchyLevelFor: String? { text("hierarchy-level-for") }
  /// `sap:hierarchy-parent-node-for`: the node property whose parent this is.
  public var hierarchyParentNodeFor: String? { text("hierarchy-parent-node-for") }
  /// `sap:hierarchy-parent-navigation-for`: the node property whose parent it leads to.
  public var hierarchyParentNavigationFor: String? { text("hierarchy-parent-navigation-for") }
  /// `sap:hierarchy-drill-state-for`: the node property that is `expanded`, `collapsed` or `leaf`.
  public var hierarchyDrillStateFor: String? { text("hierarchy-drill-state-for") }
  /// `sap:hierarchy-node-descendant-count-for`: the node property whose descendants are counted.
  public var hierarchyDescendantCountFor: String? { text("hierarchy-node-descendant-count-for") }
  /// `sap:hierarchy-preorder-rank-for`: the node property whose rank in the whole tree this is.
  public var hierarchyPreorderRankFor: String? { text("hierarchy-preorder-rank-for") }
  /// `sap:hierarchy-sibling-rank-for`: the node property whose rank below its parent this is.
  public var hierarchySiblingRankFor: String? { text("hierarchy-sibling-rank-for") }

  // Functions.
  /// `sap:action-for`: the qualified entity type that a function import acts on.
  public var actionFor: String? { text("action-for") }
  /// `sap:applicable-path`: the Boolean property that says whether the action is possible now.
  public var applicablePath: String? { text("applicable-path") }
}
