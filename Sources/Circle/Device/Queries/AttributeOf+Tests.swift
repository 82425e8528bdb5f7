import FerryModel

extension AttributeOf {
  /// Passes rows whose value is equal to a value.
  public static func == (left: Self, right: Content) -> TestOf<Object> {
    left.test(.equal, right)
  }

  /// Passes rows whose value is different from a value.
  public static func != (left: Self, right: Content) -> TestOf<Object> {
    !left.test(.equal, right)
  }

  /// Passes rows whose value is less than a value.
  public static func < (left: Self, right: Content) -> TestOf<Object> { left.test(.less, right) }

  /// Passes rows whose value is less than or equal to a value.
  public static func <= (left: Self, right: Content) -> TestOf<Object> {
    left.test(.lessEqual, right)
  }

  /// Passes rows whose value is greater than a value.
  public static func > (left: Self, right: Content) -> TestOf<Object> {
    left.test(.greater, right)
  }

  /// Passes rows whose value is greater than or equal to a value.
  public static func >= (left: Self, right: Content) -> TestOf<Object> {
    left.test(.greaterEqual, right)
  }

  /// `Order.Attributes.id.between(1, and: 99)`; both ends are included.
  public func between(_ least: Content, and most: Content) -> TestOf<Object> {
    test(.greaterEqual, least) && test(.lessEqual, most)
  }

  /// Equal to one of these values; without values no object passes.
  public func isIn(_ values: some Sequence<Content>) -> TestOf<Object> {
    TestOf(.inList(item, values.map(\.value)))
  }

  /// Equal to one of the values that a query with one item returns.
  public func isIn(_ query: RowQuery) -> TestOf<Object> { TestOf(.inQuery(item, query)) }

  /// Passes rows that have no value here.
  public var isNull: TestOf<Object> { TestOf(.compare(item, .equal, .value(.null))) }

  /// Passes rows that have a value here.
  public var isNotNull: TestOf<Object> { !isNull }

  private func test(_ comparison: TestCriteria.Comparison, _ content: Content) -> TestOf<Object> {
    TestOf(.compare(item, comparison, .value(content.value)))
  }
}

extension AttributeOf where Content: Comparable {
  /// In the range, both ends included.
  public func isIn(_ range: ClosedRange<Content>) -> TestOf<Object> {
    between(range.lowerBound, and: range.upperBound)
  }

  /// In the range without its upper end.
  public func isIn(_ range: Range<Content>) -> TestOf<Object> {
    test(.greaterEqual, range.lowerBound) && test(.less, range.upperBound)
  }
}

// The same for attributes that may be null; null is in no range.

extension AttributeOf {
  /// Equal to one of these values, for an attribute that may be null.
  @_disfavoredOverload
  public func isIn<Wrapped>(
    _ values: some Sequence<Wrapped>
  ) -> TestOf<Object> where Content == Wrapped? {
    TestOf(.inList(item, values.map(\.value)))
  }

  /// In the range; null is in none.
  public func isIn<Wrapped: Comparable>(
    _ range: ClosedRange<Wrapped>
  ) -> TestOf<Object> where Content == Wrapped? {
    between(range.lowerBound, and: range.upperBound)
  }

  /// In the range; null is in none.
  public func isIn<Wrapped: Comparable>(
    _ range: Range<Wrapped>
  ) -> TestOf<Object> where Content == Wrapped? {
    test(.greaterEqual, range.lowerBound) && test(.less, range.upperBound)
  }
}

// Two attributes, of one object or of two of the query's: for joins and inner queries. Two that are
// none are equal; none is neither less nor greater than anything.

extension AttributeOf {
  /// Passes rows whose value is equal to another attribute.
  public static func == <Other>(
    left: Self, right: AttributeOf<Object, Other>
  ) -> TestOf<Object> { left.test(.equal, right) }

  /// Passes rows whose value is different from another attribute.
  public static func != <Other>(
    left: Self, right: AttributeOf<Object, Other>
  ) -> TestOf<Object> { !left.test(.equal, right) }

  /// Passes rows whose value is less than another attribute.
  public static func < <Other>(
    left: Self, right: AttributeOf<Object, Other>
  ) -> TestOf<Object> { left.test(.less, right) }

  /// Passes rows whose value is less than or equal to another attribute.
  public static func <= <Other>(
    left: Self, right: AttributeOf<Object, Other>
  ) -> TestOf<Object> { left.test(.lessEqual, right) }

  /// Passes rows whose value is greater than another attribute.
  public static func > <Other>(
    left: Self, right: AttributeOf<Object, Other>
  ) -> TestOf<Object> { left.test(.greater, right) }

  /// Passes rows whose value is greater than or equal to another attribute.
  public static func >= <Other>(
    left: Self, right: AttributeOf<Object, Other>
  ) -> TestOf<Object> { left.test(.greaterEqual, right) }

  private func test<Other>(
    _ comparison: TestCriteria.Comparison, _ other: AttributeOf<Object, Other>
  ) -> TestOf<Object> { TestOf(.compare(item, comparison, .item(other.item))) }
}

extension AttributeOf {
  /// Passes rows whose value is equal to another attribute.
  public static func == <Another, Other>(
    left: Self, right: AttributeOf<Another, Other>
  ) -> TestCriteria { left.item.test(.equal, right) }

  /// Passes rows whose value is different from another attribute.
  public static func != <Another, Other>(
    left: Self, right: AttributeOf<Another, Other>
  ) -> TestCriteria { !left.item.test(.equal, right) }

  /// Passes rows whose value is less than another attribute.
  public static func < <Another, Other>(
    left: Self, right: AttributeOf<Another, Other>
  ) -> TestCriteria { left.item.test(.less, right) }

  /// Passes rows whose value is less than or equal to another attribute.
  public static func <= <Another, Other>(
    left: Self, right: AttributeOf<Another, Other>
  ) -> TestCriteria { left.item.test(.lessEqual, right) }

  /// Passes rows whose value is greater than another attribute.
  public static func > <Another, Other>(
    left: Self, right: AttributeOf<Another, Other>
  ) -> TestCriteria { left.item.test(.greater, right) }

  /// Passes rows whose value is greater than or equal to another attribute.
  public static func >= <Another, Other>(
    left: Self, right: AttributeOf<Another, Other>
  ) -> TestCriteria { left.item.test(.greaterEqual, right) }
}

/// A text or an optional text: the type of attributes for `like`, `contains` and similar tests.
public protocol TextConvertible: AttributeConvertible {}
extension String: TextConvertible {}
extension Optional: TextConvertible where Wrapped == String {}
extension AssignedKey: TextConvertible where Key == String {}

extension AttributeOf where Content: TextConvertible {
  /// SQL's LIKE: `%` is any text, `_` any character, `\` before one of them means the character
  /// itself. A to Z equal a to z; the case of other letters matters.
  public func like(_ pattern: String) -> TestOf<Object> { TestOf(.like(item, pattern)) }

  /// Contains this text; A to Z equal a to z.
  public func contains(_ text: String) -> TestOf<Object> {
    like("%\(TestCriteria.literal(text))%")
  }

  /// Begins with this text; A to Z equal a to z.
  public func starts(with text: String) -> TestOf<Object> {
    like("\(TestCriteria.literal(text))%")
  }

  /// Ends with this text; A to Z equal a to z.
  public func ends(with text: String) -> TestOf<Object> { like("%\(TestCriteria.literal(text))") }
}

extension RelationshipOf {
  /// Some object of this relationship passes the test; without a test, there is at least one
  /// object.
  /// ```swift
  /// Order.Attributes.customer.exists(Customer.Attributes.city == "Berlin")
  /// Order.Attributes.lines.exists(Line.Attributes.quantity > 100)
  /// ```
  public func exists(_ test: TestOf<Target>? = nil) -> TestOf<Object> {
    TestOf(
      .related(
        entity: Object.entity.name, relationship: name, inverse: inverse,
        target: Target.entity.name, test?.criteria.content ?? .constant(true)))
  }
}

extension BusinessObject {
  /// Contains these words, in any order, in the attributes that the model marks for full-text
  /// search. `*` at the end of a word stands for any further letters; a text in quotes must occur
  /// literally. Case and accents are ignored.
  ///
  /// The query throws `invalidQuery` if the model marks no attribute.
  public static func matches(_ words: String) -> TestOf<Self> {
    TestOf(.fullText(entity: entity.name, words))
  }
}

extension SelectItem {
  /// A comparison for `having`: `.sum(Order.Attributes.total) > 1000`.
  public static func > (left: Self, right: some AttributeConvertible) -> TestCriteria {
    TestCriteria(.compare(left, .greater, .value(right.value)))
  }

  /// Passes rows whose value is greater than or equal to a value.
  public static func >= (left: Self, right: some AttributeConvertible) -> TestCriteria {
    TestCriteria(.compare(left, .greaterEqual, .value(right.value)))
  }

  /// Passes rows whose value is less than a value.
  public static func < (left: Self, right: some AttributeConvertible) -> TestCriteria {
    TestCriteria(.compare(left, .less, .value(right.value)))
  }

  /// Passes rows whose value is less than or equal to a value.
  public static func <= (left: Self, right: some AttributeConvertible) -> TestCriteria {
    TestCriteria(.compare(left, .lessEqual, .value(right.value)))
  }

  /// Passes rows whose value is equal to a value.
  public static func == (left: Self, right: some AttributeConvertible) -> TestCriteria {
    TestCriteria(.compare(left, .equal, .value(right.value)))
  }

  /// Passes rows whose value is different from a value.
  public static func != (left: Self, right: some AttributeConvertible) -> TestCriteria {
    TestCriteria(.not(.compare(left, .equal, .value(right.value))))
  }
}

// Two items of one query, by their aliases or after grouping.

extension SelectItem {
  /// Passes rows whose value is equal to another attribute.
  public static func == (left: Self, right: some Selectable) -> TestCriteria {
    left.test(.equal, right)
  }

  /// Passes rows whose value is different from another attribute.
  public static func != (left: Self, right: some Selectable) -> TestCriteria {
    !left.test(.equal, right)
  }

  /// Passes rows whose value is less than another attribute.
  public static func < (left: Self, right: some Selectable) -> TestCriteria {
    left.test(.less, right)
  }

  /// Passes rows whose value is less than or equal to another attribute.
  public static func <= (left: Self, right: some Selectable) -> TestCriteria {
    left.test(.lessEqual, right)
  }

  /// Passes rows whose value is greater than another attribute.
  public static func > (left: Self, right: some Selectable) -> TestCriteria {
    left.test(.greater, right)
  }

  /// Passes rows whose value is greater than or equal to another attribute.
  public static func >= (left: Self, right: some Selectable) -> TestCriteria {
    left.test(.greaterEqual, right)
  }

  fileprivate func test(
    _ comparison: TestCriteria.Comparison, _ other: some Selectable
  ) -> TestCriteria { TestCriteria(.compare(self, comparison, .item(other.item))) }
}
