import FerryModel

extension AttributeOf {
  public static func == (left: Self, right: Content) -> TestOf<Object> {
    left.test(.equal, right)
  }

  public static func != (left: Self, right: Content) -> TestOf<Object> {
    !left.test(.equal, right)
  }

  public static func < (left: Self, right: Content) -> TestOf<Object> { left.test(.less, right) }

  public static func <= (left: Self, right: Content) -> TestOf<Object> {
    left.test(.lessEqual, right)
  }

  public static func > (left: Self, right: Content) -> TestOf<Object> {
    left.test(.greater, right)
  }

  public static func >= (left: Self, right: Content) -> TestOf<Object> {
    left.test(.greaterEqual, right)
  }

  /// `Order.Attributes.id.between(1, and: 99)`; both ends belong to it.
  public func between(_ least: Content, and most: Content) -> TestOf<Object> {
    test(.greaterEqual, least) && test(.lessEqual, most)
  }

  /// One of these values; none of them is a test that nothing passes.
  public func isIn(_ values: some Sequence<Content>) -> TestOf<Object> {
    TestOf(.inList(item, values.map(\.value)))
  }

  /// One of what a query of one item gives.
  public func isIn(_ query: Query) -> TestOf<Object> { TestOf(.inQuery(item, query)) }

  public var isNull: TestOf<Object> { TestOf(.compare(item, .equal, .value(.null))) }

  public var isNotNull: TestOf<Object> { !isNull }

  private func test(_ comparison: TestCriteria.Comparison, _ content: Content) -> TestOf<Object> {
    TestOf(.compare(item, comparison, .value(content.value)))
  }
}

extension AttributeOf where Content: Comparable {
  public func isIn(_ range: ClosedRange<Content>) -> TestOf<Object> {
    between(range.lowerBound, and: range.upperBound)
  }

  public func isIn(_ range: Range<Content>) -> TestOf<Object> {
    test(.greaterEqual, range.lowerBound) && test(.less, range.upperBound)
  }
}

// The same for attributes that may be null; null is in no range.

extension AttributeOf {
  /// One of these values, of an attribute that may be null.
  @_disfavoredOverload
  public func isIn<Wrapped>(
    _ values: some Sequence<Wrapped>
  ) -> TestOf<Object> where Content == Wrapped? {
    TestOf(.inList(item, values.map(\.value)))
  }

  public func isIn<Wrapped: Comparable>(
    _ range: ClosedRange<Wrapped>
  ) -> TestOf<Object> where Content == Wrapped? {
    between(range.lowerBound, and: range.upperBound)
  }

  public func isIn<Wrapped: Comparable>(
    _ range: Range<Wrapped>
  ) -> TestOf<Object> where Content == Wrapped? {
    test(.greaterEqual, range.lowerBound) && test(.less, range.upperBound)
  }
}

// Two attributes, of one object or of two of the query's: for joins and inner queries. Two that are
// none are equal; none is neither less nor greater than anything.

extension AttributeOf {
  public static func == <Other>(
    left: Self, right: AttributeOf<Object, Other>
  ) -> TestOf<Object> { left.test(.equal, right) }

  public static func != <Other>(
    left: Self, right: AttributeOf<Object, Other>
  ) -> TestOf<Object> { !left.test(.equal, right) }

  public static func < <Other>(
    left: Self, right: AttributeOf<Object, Other>
  ) -> TestOf<Object> { left.test(.less, right) }

  public static func <= <Other>(
    left: Self, right: AttributeOf<Object, Other>
  ) -> TestOf<Object> { left.test(.lessEqual, right) }

  public static func > <Other>(
    left: Self, right: AttributeOf<Object, Other>
  ) -> TestOf<Object> { left.test(.greater, right) }

  public static func >= <Other>(
    left: Self, right: AttributeOf<Object, Other>
  ) -> TestOf<Object> { left.test(.greaterEqual, right) }

  private func test<Other>(
    _ comparison: TestCriteria.Comparison, _ other: AttributeOf<Object, Other>
  ) -> TestOf<Object> { TestOf(.compare(item, comparison, .item(other.item))) }
}

extension AttributeOf {
  public static func == <Another, Other>(
    left: Self, right: AttributeOf<Another, Other>
  ) -> TestCriteria { left.item.test(.equal, right) }

  public static func != <Another, Other>(
    left: Self, right: AttributeOf<Another, Other>
  ) -> TestCriteria { !left.item.test(.equal, right) }

  public static func < <Another, Other>(
    left: Self, right: AttributeOf<Another, Other>
  ) -> TestCriteria { left.item.test(.less, right) }

  public static func <= <Another, Other>(
    left: Self, right: AttributeOf<Another, Other>
  ) -> TestCriteria { left.item.test(.lessEqual, right) }

  public static func > <Another, Other>(
    left: Self, right: AttributeOf<Another, Other>
  ) -> TestCriteria { left.item.test(.greater, right) }

  public static func >= <Another, Other>(
    left: Self, right: AttributeOf<Another, Other>
  ) -> TestCriteria { left.item.test(.greaterEqual, right) }
}

/// A text, or a text that may be missing: what `like` and its kin look into.
public protocol TextConvertible: AttributeConvertible {}
extension String: TextConvertible {}
extension Optional: TextConvertible where Wrapped == String {}

extension AttributeOf where Content: TextConvertible {
  /// SQL's LIKE: `%` is any text, `_` any character, `\` before either takes it literally; the
  /// letters A to Z are like a to z, others are not.
  public func like(_ pattern: String) -> TestOf<Object> { TestOf(.like(item, pattern)) }

  /// Holds this text somewhere; the letters A to Z are like a to z.
  public func contains(_ text: String) -> TestOf<Object> {
    like("%\(TestCriteria.literal(text))%")
  }

  /// Begins with this text; the letters A to Z are like a to z.
  public func starts(with text: String) -> TestOf<Object> {
    like("\(TestCriteria.literal(text))%")
  }

  /// Ends with this text; the letters A to Z are like a to z.
  public func ends(with text: String) -> TestOf<Object> { like("%\(TestCriteria.literal(text))") }
}

extension RelationshipOf {
  /// There is an object at the other end that passes the test; without one, any object there.
  ///
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
  /// Holds these words somewhere in the attributes that the model marks for full-text search, in
  /// any order; the last letters of a word may be left out by `*`, and a text in quotes is looked
  /// for as it stands. Case and accents make no difference.
  ///
  /// `invalidQuery` when it runs and the model marks none.
  public static func matches(_ words: String) -> TestOf<Self> {
    TestOf(.fullText(entity: entity.name, words))
  }
}

extension SelectItem {
  /// For `having`: `.sum(Order.Attributes.total) > 1000`.
  public static func > (left: Self, right: some AttributeConvertible) -> TestCriteria {
    TestCriteria(.compare(left, .greater, .value(right.value)))
  }

  public static func >= (left: Self, right: some AttributeConvertible) -> TestCriteria {
    TestCriteria(.compare(left, .greaterEqual, .value(right.value)))
  }

  public static func < (left: Self, right: some AttributeConvertible) -> TestCriteria {
    TestCriteria(.compare(left, .less, .value(right.value)))
  }

  public static func <= (left: Self, right: some AttributeConvertible) -> TestCriteria {
    TestCriteria(.compare(left, .lessEqual, .value(right.value)))
  }

  public static func == (left: Self, right: some AttributeConvertible) -> TestCriteria {
    TestCriteria(.compare(left, .equal, .value(right.value)))
  }

  public static func != (left: Self, right: some AttributeConvertible) -> TestCriteria {
    TestCriteria(.not(.compare(left, .equal, .value(right.value))))
  }
}

// Two items of one query, by their aliases or after grouping.

extension SelectItem {
  public static func == (left: Self, right: some Selectable) -> TestCriteria {
    left.test(.equal, right)
  }

  public static func != (left: Self, right: some Selectable) -> TestCriteria {
    !left.test(.equal, right)
  }

  public static func < (left: Self, right: some Selectable) -> TestCriteria {
    left.test(.less, right)
  }

  public static func <= (left: Self, right: some Selectable) -> TestCriteria {
    left.test(.lessEqual, right)
  }

  public static func > (left: Self, right: some Selectable) -> TestCriteria {
    left.test(.greater, right)
  }

  public static func >= (left: Self, right: some Selectable) -> TestCriteria {
    left.test(.greaterEqual, right)
  }

  fileprivate func test(
    _ comparison: TestCriteria.Comparison, _ other: some Selectable
  ) -> TestCriteria { TestCriteria(.compare(self, comparison, .item(other.item))) }
}
