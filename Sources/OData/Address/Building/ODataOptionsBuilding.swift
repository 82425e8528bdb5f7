import FerryOData

/// What takes query options: an address, and what stands inside of `$expand`.
public protocol ODataOptionsBuilding {
  /// What the methods of this protocol change in a copy.
  var options: ODataQueryOptions { get set }
}

extension ODataAddress: ODataOptionsBuilding {}

extension ODataOptionsBuilding {
  private func with(_ change: (inout ODataQueryOptions) -> Void) -> Self {
    var changed = self
    change(&changed.options)
    return changed
  }

  /// Only what a condition holds for; a second one must hold as well.
  public func filter(_ condition: some ODataCondition) -> Self {
    with { options in
      options.filter = options.filter.map { $0 && condition.expression } ?? condition.expression
    }
  }

  /// Properties by name, or paths such as `Address/City`; adds to what is selected.
  public func select(_ paths: String...) -> Self {
    with { options in
      options.select += paths.map { path in
        ODataSelectItem(path.split(separator: "/").map(String.init))
      }
    }
  }

  /// Related entities in the same answer, with nothing else asked of them.
  public func expand(_ paths: String...) -> Self {
    with { options in
      options.expand += paths.map { path in
        ODataExpandItem(path.split(separator: "/").map(String.init))
      }
    }
  }

  /// Related entities with options of their own. V2 and V3 have only `select` and `expand` there;
  /// they are written as paths.
  public func expand(
    _ path: String, content: ODataExpandItem.Content = .entities,
    _ build: (ODataNestedOptions) -> ODataNestedOptions
  ) -> Self {
    with { options in
      options.expand.append(
        ODataExpandItem(
          path.split(separator: "/").map(String.init), content: content,
          options: build(ODataNestedOptions()).options))
    }
  }

  /// Sorts, after what was named before.
  public func orderBy(_ term: ODataTerm, descending: Bool = false) -> Self {
    with { $0.orderBy.append(ODataOrder(term.expression, isDescending: descending)) }
  }

  /// Sorts by a property, after what was named before.
  public func orderBy(_ property: String, descending: Bool = false) -> Self {
    orderBy(ODataTerm(property), descending: descending)
  }

  /// At most so many.
  public func top(_ count: Int) -> Self { with { $0.top = count } }

  /// Without the first so many.
  public func skip(_ count: Int) -> Self { with { $0.skip = count } }

  /// Whether the service counts all that match; `$inlinecount` in V2 and V3.
  public func counted(_ isCounted: Bool = true) -> Self { with { $0.count = isCounted } }

  /// Free text: a word, or a phrase where it has blanks.
  public func search(_ text: String) -> Self { search(ODataSearch.text(text)) }

  /// Words and phrases with AND, OR and NOT.
  public func search(_ search: ODataSearch) -> Self { with { $0.search = search } }

  /// A value that the service computes for each entity.
  public func compute(_ term: ODataTerm, as name: String) -> Self {
    with { $0.compute.append(ODataComputation(term.expression, as: name)) }
  }

  /// The value of a parameter alias.
  public func alias(_ name: String, _ value: some ODataOperand) -> Self {
    with { $0.aliases.append(ODataNamedValue(name, value.expression)) }
  }
}

extension ODataAddress {
  private func with(_ change: (inout ODataQueryOptions) -> Void) -> ODataAddress {
    var changed = self
    change(&changed.options)
    return changed
  }

  /// `json`, `atom`, `xml` or a media type.
  public func format(_ format: String) -> ODataAddress { with { $0.format = format } }

  /// Goes on where an answer ended.
  public func skipToken(_ token: String) -> ODataAddress { with { $0.skipToken = token } }

  /// Asks for what has changed since an answer; `!deltatoken` in V2.
  public func deltaToken(_ token: String) -> ODataAddress { with { $0.deltaToken = token } }

  /// An option that OData does not define.
  public func custom(_ name: String, _ value: String?) -> ODataAddress {
    with { $0.custom.append(ODataCustomOption(name, value)) }
  }

  /// An option of SAP Gateway: `sap("client", "100")` is `sap-client=100`.
  public func sap(_ name: String, _ value: String) -> ODataAddress {
    custom("sap-\(name)", value)
  }
}

/// The options of one expanded property.
public struct ODataNestedOptions: ODataOptionsBuilding, Sendable {
  /// Written in parentheses, separated by semicolons.
  public var options = ODataQueryOptions()

  /// How deep the property is followed.
  public func levels(_ levels: ODataLevels) -> ODataNestedOptions {
    var changed = self
    changed.options.levels = levels
    return changed
  }
}
