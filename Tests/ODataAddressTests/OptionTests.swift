import FerryOData
import FerryODataAddress
import FerryTestTraits
import Testing

@Suite("Query options") struct OptionTests {
  static let valid = [
    "$top=5&$skip=10", "top=5&SKIP=10", "$count=true", "count=false", "$filter=true",
    "$orderby=Name", "$OrderBy=Name asc,Rating desc,a add b", "$orderby=Cost ge 5 asc",
    "$orderby=Lines/$count,Price/@M.C%23Q", "$select=*",
    "$select=A,B/C,NS.T/D,NS.*,@Core.X($top=1)",
    "$select=NS.f(A,B),g(C)", "$select=Addresses($filter=startswith(City,'H');$top=5;$count=true)",
    "$select=Addresses(@a=$this;$filter=@a/X eq 1),Address(select=Street)", "$expand=A,B",
    "$expand=*,*/$ref,*($levels=2),A/*", "$expand=A/$ref,B/$count,C/NS.T($select=X)",
    "$expand=A($select=B,C;$expand=D($filter=E gt 1;$levels=max);$orderby=F desc;$skip=1)",
    "expand=A(levels=4;search=x;@c=15)", "$expand=A/$ref($filter=B eq 1;$top=2)",
    "$expand=A/$count($search=\"x y\"),$value", "$expand=@NS.T($top=2),A/B/C",
    "$compute=A mul B/C as D,day(E/F) as G", "$format=json", "$format=text/html",
    "$format=application/json;odata.metadata=full", "$skiptoken=Start@Next:From?=Here!",
    "$deltatoken=A@Lot_Has:Changed?=Here!", "$id=urn:some:id", "$index=-42", "$schemaversion=*",
    "find=O%27Neil&!special", "sap-client=100&sap-language=EN", "!deltatoken=04",
    "$filter=A eq @a and contains(B,@b)&@a=1&@b='x'", "@c=[\"red\",\"green\"]", "@c={}", "",
    "$filter=$it eq @ref&@ref={\"@odata.id\":\"http://h/s/Z\"}", "$search=blue&$top=1",
    "a=1&a=2&b", "@x=$root/Orders(1)", "%24top=5", "$filter=A%20eq%201", "$filter=A+eq+1",
  ]

  @Test("Options of V4 are read, and written to the same", arguments: valid)
  func accepted(_ query: String) throws {
    let found = try parsed("A?\(query)")
    let written = try found.uri(.v4)
    #expect(try parsed(written) == found, "\(written)")
  }

  static let refused: [(String, Int)] = [
    ("$filter =true", 3), ("$filter= true", 11), ("$count", 9), ("$count=1", 10), ("$top=-1", 8),
    ("$top=x", 8), ("$top=", 8), ("$top=99999999999999999999", 8), ("$foo=1", 3), ("$levels=1", 11),
    ("$top=1&$top=2", 10), ("$TOP=1&top=2", 10), ("$filter=a eq 1)", 17), ("$select=", 11),
    ("$select=A,", 13), ("$select=A B", 13), ("$expand=A/$ref($levels=4)", 18),
    ("$expand=A/$ref($select=B)", 18), ("$expand=A/$count($count=true)", 20),
    ("$expand=A($levels=04)", 21), ("$expand=A($levels=0)", 21), ("$expand=A(", 13),
    ("$expand=A()", 13),
    ("$expand=A($top=1;$top=2)", 20), ("$expand=A($format=json)", 13), ("$expand=A/$value", 13),
    ("$format=nothing", 11), ("$compute=A", 13), ("$compute=A as", 16), ("$skiptoken=", 14),
    ("$orderby=A down", 14), ("$search=#1", 11), ("@=1", 3), ("@a", 3), ("@a=1&@a=2", 8), ("=1", 3),
    ("$index=fortytwo", 10), ("$inlinecount=allpages", 3), ("$skiptoken=Not&$this", 18),
    ("$search=a&%zz=1", 13), ("$select=A($expand=B)", 13), ("$format=;", 11), ("$format=;a/b", 11),
    ("$expand=*($top=2)", 13), ("$expand=*/$ref($top=1)", 17),
  ]

  @Test("What is no option is refused at its column", arguments: refused)
  func refuses(_ query: String, _ column: Int) { #expect(refusal("A?\(query)") == column) }

  @Test("$apply is recognised and refused by name")
  func apply() throws {
    #expect(try parsed("A?apply=x", .v2).options[custom: "apply"] == "x")
    for query in ["$apply=groupby((A))", "$expand=B($apply=aggregate(C))", "$Apply=x", "apply=x"] {
      let error = fault { () throws(ODataError) in _ = try ODataAddress(parsing: "A?\(query)") }
      #expect(error?.code == .notOffered && error?.message.contains("$apply") == true)
    }
  }

  @Test("Options of V2 are read as V2 writes them")
  func two() throws {
    let found = try parsed(
      "A?$expand=B/C,D&$select=X,B/Y,*&$inlinecount=allpages&$format=json&sap-client=100"
        + "&!deltatoken='a''b'&seats=3&$skiptoken=x", .v2)
    #expect(found.options.expand.map(\.path) == [["B", "C"], ["D"]])
    #expect(found.options.select.map(\.path) == [["X"], ["B", "Y"], ["*"]])
    #expect(found.options.count == true && found.options.format == "json")
    #expect(found.options.sap("client") == "100" && found.options[custom: "seats"] == "3")
    #expect(found.options.deltaToken == "a'b" && found.options.skipToken == "x")
    #expect(try parsed(found.uri(.v2), .v2) == found)
    for query in ["$count=true", "$search=x", "$compute=A as B", "$expand=A($top=1)", "$Top=1"] {
      #expect(refusal("A?\(query)", .v2) != nil, "\(query)")
    }
    #expect(try parsed("A?top=1&search=x&@a=1", .v2).options.custom.count == 3)
  }

  static let searches: [(String, ODataSearch)] = [
    ("blue", .word("blue")), ("2x4", .word("2x4")), ("9,81", .word("9,81")),
    ("Daniel's", .word("Daniel's")), ("$search", .word("$search")), ("08/15", .word("08/15")),
    ("%231", .word("#1")), ("more%26more", .word("more&more")), ("a%3Bb", .word("a;b")),
    ("AND", .word("AND")), ("NOT", .word("NOT")), ("NOT blue", .not(.word("blue"))),
    ("NOT NOT", .not(.word("NOT"))), ("AND OR", .and([.word("AND"), .word("OR")])),
    ("AND OR NOT", .or([.word("AND"), .word("NOT")])),
    ("blue green", .and([.word("blue"), .word("green")])),
    ("blue%20AND+green", .and([.word("blue"), .word("green")])),
    ("blue NOT green", .and([.word("blue"), .not(.word("green"))])),
    ("\"blue green\" x", .and([.phrase("blue green"), .word("x")])),
    ("a b OR c", .or([.and([.word("a"), .word("b")]), .word("c")])),
    ("a AND (b OR c)", .and([.word("a"), .or([.word("b"), .word("c")])])),
    ("NOT (a b)", .not(.and([.word("a"), .word("b")]))), ("( NOT a )", .not(.word("a"))),
    ("\"blue\\\"green\"", .phrase("blue\"green")),
    ("\"a\\\\ \\\"b\\\"\" x", .and([.phrase("a\\ \"b\""), .word("x")])),
    ("\"a\\\"", .phrase("a\\")), ("\"a\\\\\"", .phrase("a\\\\")), ("\"a\\n\"", .phrase("a\\n")),
    ("\"a\\\" OR \"b\\\"", .or([.phrase("a\\"), .phrase("b\\")])),
    ("(%22a%5C%22b%22)", .phrase("a\"b")),
    ("%CE%94", .word("Δ")), ("'\"bl'", .incomplete("\"bl")), ("'('", .incomplete("(")),
  ]

  @Test(
    "Words, phrases and operators of $search are told apart", .reference("ios/FRM-8"),
    arguments: searches)
  func search(_ text: String, _ search: ODataSearch) throws {
    let found = try parsed("A?$search=\(text)")
    #expect(found.options.search == search)
    #expect(try parsed(found.uri(.v4)) == found)
  }

  @Test(
    "What is left behind an option is told by what could have stood there",
    arguments: [
      ("A?$search=blue ", "a blank at the end", "leave it out"),
      ("A?$filter=B eq 1%20+", "a blank at the end", "leave it out"),
      ("A?$search=blue )", ") where the end or a word was expected", "correct"),
      ("A?$search=blue)", ") where the end or a word was expected", "correct"),
      ("A?$filter=B eq 1 )", ") where the end or an operator such as eq was expected", "correct"),
    ])
  func leftOver(_ uri: String, _ message: String, _ hint: String) {
    let error = fault { () throws(ODataError) in _ = try ODataAddress(parsing: uri) }
    #expect(error?.message == message)
    #expect(error?.hint.hasPrefix(hint) == true)
  }

  @Test("A nested $search ends at a parenthesis or semicolon that stands for itself")
  func nestedSearch() throws {
    for text in ["(green)", "a%3Bb", "'gr(een'", "x y", "\"a;\\\")\"", "(\"a\\\"\")"] {
      let found = try parsed("A?$expand=M($search=\(text);$top=1)")
      #expect(found.options.expand[0].options.top == 1)
      #expect(try parsed(found.uri(.v4)) == found)
    }
    let refused: [(String, Int)] = [
      ("A?$expand=M($search=gr(een)", 23), ("A?$search=\"blue", 11), ("A?$search=%22blue", 11),
      ("A?$search=a;b", 12), ("A?$search=\"a\"b", 14), ("A?$search=\"\\\"b", 14),
      ("A?$search=", 11), ("A?$search=(a", 13),
    ]
    for (uri, column) in refused { #expect(refusal(uri) == column, "\(uri)") }
  }
}
