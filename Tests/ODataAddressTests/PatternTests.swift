import FerryOData
import Testing

@testable import FerryODataAddress

@Suite("Patterns") struct PatternTests {
  static let cases: [(text: String, pattern: String, isFound: Bool)] = [
    ("Alfreds", "^A.*s$", true), ("Alfreds", "^l", false), ("Alfreds", "fred", true),
    ("", "", true), ("", "^$", true), ("a", "^$", false), ("ab", "a|b|", true),
    ("cat", "^(cat|dog)s?$", true), ("dogs", "^(?:cat|dog)s?$", true), ("cow", "cat|dog", false),
    ("2026-11-21", #"^\d{4}-\d{2}-\d{2}$"#, true), ("2026-1-21", #"^\d{4}-\d{2}-\d{2}$"#, false),
    ("aaa", "^a{2,}$", true), ("a", "^a{2,}$", false), ("aaaa", "^a{2,3}$", false),
    ("x]y", #"[\]]"#, true), ("b", "[^a-c]", false), ("d", "[^a-c]", true), ("-", "[a-]", true),
    ("a b", #"a\sb"#, true), ("a_1", #"^\w+$"#, true), ("ä", #"^\w$"#, false), ("ä", "^.$", true),
    ("a\nb", "a.b", false), ("a\nb", #"a[\s\S]b"#, true), ("one two", #"\btwo\b"#, true),
    ("onetwo", #"\btwo"#, false), ("onetwo", #"\Btwo"#, true), ("é", #"\u00e9"#, true),
    ("A", #"\x41"#, true), ("a.b", #"a\.b"#, true), ("axb", #"a\.b"#, false),
    ("abab", "^(ab)+?$", true), ("b", "^(a*)*b$", true), ("", "(a|b)*", true),
    ("x", "^(?<name>x)$", true), ("🙂", "^.$", true), ("a", "[]", false), ("a", "[^]", true),
  ]

  static func holds(_ text: String, _ pattern: String) throws(ODataError) -> Bool {
    let call = ODataExpression.call(
      .matchesPattern, [.literal(.string(text)), .literal(.string(pattern))])
    return try ODataEvaluator().holds(call, for: ODataEntry())
  }

  @Test("A pattern is found as ECMAScript finds it", arguments: cases)
  func finds(_ text: String, _ pattern: String, _ isFound: Bool) throws {
    #expect(try Self.holds(text, pattern) == isFound)
  }

  @Test("Patterns that make others go back and forth for ever are answered, or refused by cost")
  func hostile() throws {
    let many = String(repeating: "a", count: 2_000)
    #expect(try !Self.holds(many + "!", "^(a+)+$"))
    #expect(try !Self.holds(many, "^(a|aa)+$b"))
    #expect(try !Self.holds(many, "(a*)*(a*)*(a*)*b"))
    let error = fault { () throws(ODataError) in
      _ = try Self.holds(String(repeating: "a", count: 100_000), "(a{0,900}b|a{0,900}c)")
    }
    #expect(error?.code == .limit)
  }

  @Test("Every prefix of a pattern is read or refused, none traps")
  func prefixes() throws {
    let whole = #"^(?:a|[^b-d\]\w])*?(?<n>x{1,3})+\b\u00e9\x41.\D$|()"#
    for length in 0...whole.count {
      let error = fault { () throws(ODataError) in
        _ = try Self.holds("ax", String(whole.prefix(length)))
      }
      #expect(error.map { $0.code == .evaluation } ?? true, "\(length)")
    }
  }

  @Test("A pattern is compiled once, however many entries are asked")
  func compiledOnce() throws {
    let filter = try ODataExpression(parsing: "matchesPattern(Name,'^A.*s$')")
    let entries = try (0..<50).map { number in
      try ODataEntry.read(Array(#"{"Name":"A\#(number)s"}"#.utf8))
    }
    let evaluator = ODataEvaluator()
    var options = ODataQueryOptions()
    options.filter = filter
    #expect(try evaluator.apply(options, to: entries).count == 50)
    #expect(try evaluator.holds(filter, for: entries[0]))
    #expect(evaluator.patterns.compiled == 1)
    for number in 0..<40 {
      let other = try ODataExpression(parsing: "matchesPattern(Name,'A\(number)s')")
      _ = try evaluator.holds(other, for: entries[0])
    }
    #expect(evaluator.patterns.compiled == 41)
    #expect(try evaluator.holds(filter, for: entries[0]), "it is kept, or compiled again")
  }
}
