/// SAP's annotations of V2 and the vocabularies of V4, read as one.
public struct EdmAnnotationView: Sendable {
  /// SAP's annotations alone; they win where a vocabulary has the same statement.
  public let sap: SAPAnnotations
  /// Annotations of the target itself.
  public let annotations: [EdmAnnotation]
  /// Annotations of the sets that hold the type, for restrictions that name properties.
  private let restrictions: [EdmAnnotation]
  private let name: String

  init(
    _ attributes: EdmAttributes, _ annotations: [EdmAnnotation],
    restrictions: [EdmAnnotation] = [], name: String = ""
  ) {
    sap = SAPAnnotations(attributes)
    self.annotations = annotations
    self.restrictions = restrictions
    self.name = name
  }

  /// The value of a term, asked for by its last name parts, such as `Common.v1.Label`.
  public func value(_ term: String) -> EdmExpression? {
    annotations.first { $0.term == term || $0.term.hasSuffix("." + term) }?.value
  }

  private func restricted(_ term: String, _ property: String) -> Bool {
    restrictions.contains { annotation in
      annotation.term.hasSuffix(term)
        && annotation.value[property]?.elements.contains { $0.anyPath == name } == true
    }
  }

  private func allowed(_ term: String, _ property: String) -> Bool? {
    (annotations + restrictions).first { $0.term.hasSuffix(term) }?.value[property]?.boolean
  }

  /// What people call it.
  public var label: String? { sap.label ?? value("Common.v1.Label")?.string }
  /// `sap:heading` or `Common.v1.Heading`; the title of a column.
  public var heading: String? { sap.heading ?? value("Common.v1.Heading")?.string }
  /// `sap:quickinfo`, `Common.v1.QuickInfo` or `Core.V1.Description`, the first that exists.
  public var quickInfo: String? {
    sap.quickInfo ?? value("Common.v1.QuickInfo")?.string ?? value("Core.V1.Description")?.string
  }

  /// `tel`, `email`, `currency-code` and the like.
  public var semantics: String? {
    if let found = sap.semantics { return found }
    let terms: [(String, String)] = [
      ("Communication.v1.IsEmailAddress", "email"), ("Communication.v1.IsPhoneNumber", "tel"),
      ("Communication.v1.IsUrl", "url"), ("Core.V1.IsURL", "url"),
      ("Common.v1.IsCurrency", "currency-code"), ("Common.v1.IsUnit", "unit-of-measure"),
      ("Common.v1.IsCalendarYear", "year"), ("Common.v1.IsLanguageIdentifier", "language"),
    ]
    return terms.first { value($0.0) != nil }?.1
  }

  /// The path of a text for the value.
  public var textPath: String? { sap.textPath ?? value("Common.v1.Text")?.anyPath }

  /// The path of the unit or currency.
  public var unitPath: String? {
    sap.unitPath ?? value("Measures.V1.ISOCurrency")?.anyPath ?? value("Measures.V1.Unit")?.anyPath
  }

  /// False if `sap:sortable` or `SortRestrictions` forbids `$orderby`.
  public var isSortable: Bool {
    sap.sortable && !restricted("SortRestrictions", "NonSortableProperties")
      && allowed("SortRestrictions", "Sortable") != false
  }

  /// False if `sap:filterable` or `FilterRestrictions` forbids `$filter`.
  public var isFilterable: Bool {
    sap.filterable && !restricted("FilterRestrictions", "NonFilterableProperties")
      && allowed("FilterRestrictions", "Filterable") != false
  }

  /// From `sap:required-in-filter` or `RequiredProperties` of `FilterRestrictions`.
  public var isRequiredInFilter: Bool {
    sap.requiredInFilter || restricted("FilterRestrictions", "RequiredProperties")
  }

  /// From `sap:requires-filter` or `FilterRestrictions`: reading needs a `$filter`.
  public var requiresFilter: Bool {
    sap.requiresFilter || allowed("FilterRestrictions", "RequiresFilter") == true
  }

  /// From `sap:searchable` or `SearchRestrictions`; false where neither says so.
  public var isSearchable: Bool {
    sap.searchable || allowed("SearchRestrictions", "Searchable") == true
  }

  /// False for computed values, and where `sap:creatable` or `InsertRestrictions` forbids it.
  public var isCreatable: Bool {
    sap.creatable && !isComputed && allowed("InsertRestrictions", "Insertable") != false
      && !restricted("InsertRestrictions", "NonInsertableProperties")
  }

  /// False for computed and immutable values, and where `UpdateRestrictions` forbids it.
  public var isUpdatable: Bool {
    sap.updatable && !isComputed && value("Core.V1.Immutable") == nil
      && allowed("UpdateRestrictions", "Updatable") != false
      && !restricted("UpdateRestrictions", "NonUpdatableProperties")
  }

  /// False if `sap:deletable` or `DeleteRestrictions` forbids it.
  public var isDeletable: Bool {
    sap.deletable && allowed("DeleteRestrictions", "Deletable") != false
  }

  /// The service makes the value.
  public var isComputed: Bool { value("Core.V1.Computed")?.boolean == true }

  /// Where values come from: SAP's `standard` or `fixed-values`, or the set of a V4 value list.
  public var valueList: ValueList? {
    if let record = value("Common.v1.ValueList") {
      let parameters = (record["Parameters"]?.elements ?? []).map {
        ValueList.Parameter(
          local: $0["LocalDataProperty"]?.anyPath, list: $0["ValueListProperty"]?.string ?? "")
      }
      return ValueList(
        kind: value("Common.v1.ValueListWithFixedValues") == nil ? "standard" : "fixed-values",
        collection: record["CollectionPath"]?.string, parameters: parameters)
    }
    return sap.valueList.map { ValueList(kind: $0, collection: nil, parameters: []) }
  }

  /// A help for values.
  public struct ValueList: Sendable, Hashable {
    /// A property that is filled from a property of the list.
    public struct Parameter: Sendable, Hashable {
      /// `LocalDataProperty`: the property to fill; nil for a column that is only shown.
      public var local: String?
      /// `ValueListProperty`: a property of the list's entities; `""` where absent.
      public var list: String
    }
    /// `standard` or `fixed-values`.
    public var kind: String
    /// `CollectionPath`: the set with the values; nil for SAP's annotation of V2.
    public var collection: String?
    /// In the order of the annotation; empty for SAP's annotation of V2.
    public var parameters: [Parameter]
  }
}

extension EdmMetadata {
  /// The annotations of a property, with the restrictions of the sets of its type.
  public func view(of property: EdmProperty, in type: EdmStructuredType) -> EdmAnnotationView {
    EdmAnnotationView(
      property.attributes, annotations(of: "\(type.qualifiedName)/\(property.name)"),
      restrictions: restrictions(of: type), name: property.name)
  }

  /// The annotations of an entity set, from its element and from those that target it.
  public func view(of set: EdmEntitySet) -> EdmAnnotationView {
    let container = containers.first { $0.entitySets.contains { $0.name == set.name } }
    let target = "\(container?.qualifiedName ?? "")/\(set.name)"
    return EdmAnnotationView(set.attributes, annotations(of: target))
  }

  private func restrictions(of type: EdmStructuredType) -> [EdmAnnotation] {
    guard version == .v4 else { return [] }
    return containers.flatMap { container in
      container.entitySets.filter { $0.entityType == type.qualifiedName }.flatMap {
        annotations(of: "\(container.qualifiedName)/\($0.name)").filter {
          $0.term.hasSuffix("Restrictions")
        }
      }
    }
  }
}
