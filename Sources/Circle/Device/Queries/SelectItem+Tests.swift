import FerryModel

// Tests of an item by its name: `SelectItem("city").like("B%")`. With `Order.Attributes` the compiler
// checks name and type.

extension SelectItem {
  /// The item is nil.
  public var isNull: TestCriteria { TestCriteria(.compare(self, .equal, .value(.null))) }

  /// SQL's LIKE: `%` is any text, `_` any character, `\` before one of them means the character
  /// itself. A to Z equal a to z; the case of other letters matters.
  public func like(_ pattern: String) -> TestCriteria { TestCriteria(.like(self, pattern)) }

  /// Contains this text; A to Z equal a to z.
  public func contains(_ text: String) -> TestCriteria {
    like("%\(TestCriteria.literal(text))%")
  }

  /// Begins with this text; A to Z equal a to z.
  public func starts(with text: String) -> TestCriteria {
    like("\(TestCriteria.literal(text))%")
  }

  /// Ends with this text; A to Z equal a to z.
  public func ends(with text: String) -> TestCriteria { like("%\(TestCriteria.literal(text))") }

  /// Contains these words, in any order. The query throws `invalidQuery` if the model does not mark
  /// the attribute for full-text search.
  public func matches(_ words: String) -> TestCriteria { TestCriteria(.match(self, words)) }

  /// Equal to one of these values; without values no row passes.
  public func isIn(_ values: [any AttributeConvertible]) -> TestCriteria {
    TestCriteria(.inList(self, values.map(\.value)))
  }

  /// Equal to one of the values that a query with one item returns.
  public func isIn(_ query: RowQuery) -> TestCriteria { TestCriteria(.inQuery(self, query)) }
}

extension TestCriteria {
  /// The query has a row; it may name aliases of the query around it.
  public static func exists(_ query: RowQuery) -> TestCriteria { TestCriteria(.exists(query)) }

  /// True if all of these tests are true; true without tests.
  public static func all(_ tests: [any QueryTest]) -> TestCriteria {
    TestCriteria(.and(tests.map(\.criteria.content)))
  }

  /// True if one of these tests is true; false without tests.
  public static func any(_ tests: [any QueryTest]) -> TestCriteria {
    TestCriteria(.or(tests.map(\.criteria.content)))
  }

  /// A test that was put together wrongly: the query throws `invalidQuery` with these words.
  public static func invalid(_ problem: String, hint: String) -> TestCriteria {
    TestCriteria(.invalid(problem, hint: hint))
  }
}
