import FerryModel

/// An item that a query returns, sorts by or compares: an attribute, or an aggregate over the rows
/// of a group.
/// ```swift
/// Query(from: Order.self).select(Order.Attributes.city, .sum(Order.Attributes.total).as("total"))
/// ```
public struct SelectItem: Sendable, Hashable {
  package enum Content: Sendable, Hashable {
    /// `source` is the alias under which the query has the entity, where it was given; `entity` is
    /// known where the attribute came typed.
    case attribute(source: String?, entity: String?, name: String)
    indirect case aggregate(Aggregate, SelectItem?)
    /// What the query gives under this name.
    case named(String)
  }

  package enum Aggregate: String, Sendable, Hashable, CaseIterable {
    case count, sum, avg, min, max
  }

  package let content: Content
  package var name: String?
  package var isDistinct = false

  package init(_ content: Content) { self.content = content }

  /// An attribute by its name, with the alias of its entity if the query has several: `city`,
  /// `c.city`. The name is checked when the query runs.
  public init(_ path: String) {
    let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
    content = .attribute(
      source: parts.count == 2 ? parts[0] : nil, entity: nil, name: parts.last ?? path)
  }

  /// Reads the reference's form: `a.id`, `count(*)`, `sum(b.x)`, and `sum(b.x) total`.
  package init(reading text: String) {
    let words = text.split(separator: " ").map(String.init).filter { $0.lowercased() != "as" }
    let form = words.first ?? ""
    if let open = form.firstIndex(of: "("), form.last == ")",
      let aggregate = Aggregate(rawValue: form[..<open].lowercased())
    {
      let inner = String(form[form.index(after: open)...].dropLast())
      self.init(.aggregate(aggregate, inner == "*" ? nil : SelectItem(inner)))
    } else {
      self.init(form)
    }
    if words.count == 2 { name = words[1] }
  }

  /// The same item with a name: the name of the result's column, which `orderBy` may use.
  public func `as`(_ name: String) -> SelectItem {
    var named = self
    named.name = name
    return named
  }
}

/// A type that can be used in a query's `select`, `groupBy` and `orderBy`.
public protocol Selectable: Sendable {
  var item: SelectItem { get }
}

extension SelectItem: Selectable {
  public var item: SelectItem { self }
}

extension Selectable where Self == SelectItem {
  /// The number of rows.
  public static var count: SelectItem { SelectItem(.aggregate(.count, nil)) }

  /// The number of different values that are not nil.
  public static func count(distinct item: some Selectable) -> SelectItem {
    var count = SelectItem(.aggregate(.count, item.item))
    count.isDistinct = true
    return count
  }

  /// The sum; exact for decimals and unbounded integers, nil if there are no values.
  public static func sum(_ item: some Selectable) -> SelectItem {
    SelectItem(.aggregate(.sum, item.item))
  }

  /// The average as a `double`, also of decimals; nil if there are no values.
  public static func average(_ item: some Selectable) -> SelectItem {
    SelectItem(.aggregate(.avg, item.item))
  }

  /// The smallest value that is not nil; decimals compare as numbers.
  public static func minimum(_ item: some Selectable) -> SelectItem {
    SelectItem(.aggregate(.min, item.item))
  }

  /// The greatest value; decimals compare as numbers.
  public static func maximum(_ item: some Selectable) -> SelectItem {
    SelectItem(.aggregate(.max, item.item))
  }
}

extension AttributeOf: Selectable {
  public var item: SelectItem {
    SelectItem(.attribute(source: nil, entity: Object.entity.name, name: name))
  }

  /// The attribute of the entity with this alias: for a query that has one entity twice.
  public func of(_ alias: String) -> SelectItem {
    SelectItem(.attribute(source: alias, entity: Object.entity.name, name: name))
  }

  /// The same item with a name for the result's column.
  public func `as`(_ name: String) -> SelectItem { item.as(name) }
}

/// An item that a query sorts by. nil comes before every value.
public struct SortCriteria: Sendable, Hashable {
  package let item: SelectItem
  package let isDescending: Bool

  /// Sorts the smallest value first.
  public static func ascending(_ item: some Selectable) -> SortCriteria {
    SortCriteria(item: item.item, isDescending: false)
  }

  /// Sorts the greatest value first.
  public static func descending(_ item: some Selectable) -> SortCriteria {
    SortCriteria(item: item.item, isDescending: true)
  }

  /// Sorts by the item or the attribute with this name, the smallest value first.
  public static func ascending(_ name: String) -> SortCriteria {
    SortCriteria(item: SelectItem(.named(name)), isDescending: false)
  }

  /// Sorts by the item or the attribute with this name, the greatest value first.
  public static func descending(_ name: String) -> SortCriteria {
    SortCriteria(item: SelectItem(.named(name)), isDescending: true)
  }
}
