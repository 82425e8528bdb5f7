import FerryOData
import FerryODataAddress
import Testing

@Suite("Expressions") struct ExpressionTests {
  static let precedence: [(String, String)] = [
    ("a or b and c", "a or (b and c)"), ("a and b or c and d", "(a and b) or (c and d)"),
    ("a eq b and c", "(a eq b) and c"), ("a lt b eq c", "(a lt b) eq c"),
    ("a add b mul c", "a add (b mul c)"), ("a sub b sub c", "(a sub b) sub c"),
    ("a mul b div c mod d", "((a mul b) div c) mod d"), ("a add b lt c", "(a add b) lt c"),
    ("not a eq b", "(not a) eq b"), ("not a and b", "(not a) and b"), ("-a mul b", "(-a) mul b"),
    ("not a has NS.C'x'", "not (a has NS.C'x')"), ("a add b in (1)", "a add (b in (1))"),
    ("-a/b", "-(a/b)"), ("a eq 4 sub 1", "a eq (4 sub 1)"), ("a ne b eq c", "(a ne b) eq c"),
    ("( a\tor b )", "a or b"), ("not(a)", "not a"), ("a divby b mul c", "(a divby b) mul c"),
    ("a EQ b AND NOT c", "a eq b and not c"), ("-(5)", "- 5"),
  ]

  @Test("Operators bind as the specification's table says", arguments: precedence)
  func binds(_ text: String, _ explicit: String) throws {
    #expect(try condition(text) == condition(explicit))
  }

  @Test("Operators do not bind otherwise")
  func distinct() throws {
    #expect(try condition("a sub (b sub c)") != condition("a sub b sub c"))
    #expect(try condition("(a or b) and c") != condition("a or b and c"))
    #expect(try condition("not (a eq b)") != condition("not a eq b"))
    #expect(try condition("-5") == .literal(.int32(-5)))
    #expect(try condition("-(5)") == .negate(.literal(.int32(5))))
  }

  static let valid = [
    "Address/City eq 'x'", "Address/NS.Home/City", "$it/Done", "Lines/$count gt 2",
    "Lines/$count($filter=Price gt 5;$search=blue) gt 2", "Lines/$filter(Age gt 3)/$count lt 1",
    "Lines/any()", "Lines/any( )", "Lines/any(x:x/Price gt 5 and x/No eq No)",
    "Lines/all( x : x/Done )", "A/Lines/NS.T/any(x:x/B/all(y:y eq x/C))", "Lines(1)/Price",
    "Lines(No=1,Of='x')/Price", "NS.f(a=1,b=@p)", "Lines/NS.f(a=$root/Orders(1)/No)",
    "Name in ('a', 'b')", "Name in ()", "Name in [\"a\",'b']", "Name in Names",
    "[A,B] in [[1,2],[3,4]]", "{\"A\":{\"@odata.type\":\"#NS.T\"},\"B\":[1, 2 add 3]}", "[]", "{}",
    "style has NS.P'Red'", "cast(NS.T)", "cast(A/B,Edm.Int32) eq 1", "isof(NS.T)",
    "isof(A,Collection(NS.T))", "case(X gt 0:1,X lt 0:-1,true:0)", "case( a : 1 )",
    "now() sub duration'P1D'", "maxdatetime( )", "geo.distance(A,B) lt 3e0",
    "geo.length(geography'SRID=0;LineString(1 2,3 4)')", "substring(A,1)", "substring(A,1,2)",
    "contains(A,[\"x\"])", "hassubset([1,2],B)", "matchesPattern(A,'^x.*$')",
    "Price/@Measures.Currency eq 'EUR'", "@Core.Messages/any(m:m/severity eq 'error')",
    "Price/@Measures.Currency#Q eq 'EUR'", "@p/Street eq 'x'", "$this ne null",
    "$root/Orders('A')/Name eq Name", "date(B) eq 2026-11-21", "TOLOWER(A) eq 'x'",
    "INFO eq nullable",
    "M.F()(1)/P eq 1", "Lines/M.F(a=1)(No=2)/P eq 1", "year(y=3)/x", "Items(@k)/x",
    "trueish and notx", "Price div 2.5 eq 1", "NaN ne INF",
  ]

  @Test("Expressions of V4 are read, and written to the same", arguments: valid)
  func accepted(_ text: String) throws {
    let found = try condition(text)
    let written = try found.text(.v4)
    #expect(try condition(written) == found, "\(written)")
  }

  static let refused: [(String, ODataVersion, Int)] = [
    ("true/x eq 1", .v4, 1), ("a eq NAN", .v4, 6), ("a/$count/b eq 1", .v4, 9),
    ("M.F()(1)(2)/P eq 1", .v4, 9), ("F()(1) eq 1", .v4, 4), ("M.F()(1) eq 1", .v2, 6),
    ("", .v4, 1), ("a eq", .v4, 5), ("a eq ", .v4, 6), ("a b", .v4, 3), ("a eqq b", .v4, 3),
    ("(a", .v4, 3), ("a)", .v4, 2), ("any()", .v4, 1), ("all(x:true)", .v4, 1),
    ("A/all()", .v4, 7), ("A/any(x:)", .v4, 9), ("A/any(x true)", .v4, 9),
    ("A/any(x:B/any(x:x))", .v4, 15), ("(a)eq(b)", .v4, 4), ("contains(a)", .v4, 9),
    ("length(a,b)", .v4, 7), ("now(1)", .v4, 4), ("substringof('a',B)", .v4, 1),
    ("replace(a,'b','c')", .v4, 1), ("\"a\" eq b", .v4, 1), ("$foo eq 1", .v4, 1),
    ("$root", .v4, 6), ("a/$ref", .v4, 3), ("a/", .v4, 3), ("cast(a,Edm.Foo)", .v4, 15),
    ("'a", .v4, 1), ("{\"a\"}", .v4, 5), ("[1,]", .v4, 4), ("[\"\\x\"]", .v4, 4),
    ("[\"\\ud800\"]", .v4, 4), ("5eq 5", .v4, 2), ("a in 5 6", .v4, 8),
    ("contains(a,'b')", .v2, 1), ("a in (1)", .v2, 3), ("a has NS.C'x'", .v2, 3),
    ("Lines/any(x:x)", .v2, 7), ("[1]", .v2, 1), ("$it eq 1", .v2, 1), ("@p eq 1", .v2, 1),
    ("a EQ 1", .v2, 3), ("now() eq 1", .v2, 1), ("a divby 2", .v2, 3),
  ]

  @Test("What is no expression is refused where it goes wrong", arguments: refused)
  func refuses(_ text: String, _ version: ODataVersion, _ column: Int) {
    let error = fault { () throws(ODataError) in
      _ = try ODataExpression(parsing: text, ODataAddressSettings(version: version))
    }
    #expect(error?.place?.column == column, "\(String(describing: error))")
    #expect(error?.hint.isEmpty == false)
  }

  @Test("substringof of V2 is contains with its sides swapped")
  func substring() throws {
    let found = try condition("substringof('x',Name) eq true", .v2)
    let contains = ODataExpression.call(
      .contains, [.path(ODataPath("Name")), .literal(.string("x"))])
    #expect(found == .compare(.equal, contains, .literal(.boolean(true))))
    #expect(try found.text(.v2) == "substringof('x',Name) eq true")
    #expect(try found.text(.v4) == "contains(Name,'x') eq true")
  }

  @Test("All functions of V2 are read in V2, all of V4 in V4")
  func functions() throws {
    let two = [
      "substringof('a',B)", "endswith(B,'a')", "startswith(B,'a')", "length(B)", "indexof(B,'a')",
      "replace(B,'a','b')", "substring(B,1)", "substring(B,1,2)", "tolower(B)", "toupper(B)",
      "trim(B)", "concat(B,'a')", "day(B)", "hour(B)", "minute(B)", "month(B)", "second(B)",
      "year(B)", "round(B)", "floor(B)", "ceiling(B)", "isof('NS.T')", "isof(B,'Edm.String')",
      "cast(B,'Edm.String')", "cast('NS.T')",
    ]
    for text in two {
      #expect(try condition(try condition(text, .v2).text(.v2), .v2) == condition(text, .v2))
    }
    for function in ODataFunction.allCases where function.isOffered(by: .v4) {
      let arguments = Array(repeating: "B", count: function.arity.upperBound)
      let text = "\(function.rawValue)(\(arguments.joined(separator: ",")))"
      guard case .call(let found, _) = try condition(text) else {
        Issue.record("\(text) is no call")
        continue
      }
      #expect(found == function)
    }
  }
}
