import FerryOData
import FerryODataAddress
import FerryTestTraits
import Testing

@Suite("The builder") struct BuilderTests {
  private let service = "https://host/v4"

  @Test("An address is built as one reads it")
  func example() throws {
    let address = ODataAddress(service).entitySet("Orders").key(1).navigation("Lines")
      .filter(Property("Price") > 10 && Property("Name").contains("x"))
      .orderBy("Price", descending: true).top(10)

    #expect(
      try address.uri(.v4)
        == "https://host/v4/Orders(1)/Lines?$filter=Price%20gt%2010%20and%20contains(Name,'x')"
        + "&$orderby=Price%20desc&$top=10")
    #expect(
      try address.uri(.v2)
        == "https://host/v4/Orders(1)/Lines?$filter=Price%20gt%2010%20and%20substringof('x',Name)"
        + "&$orderby=Price%20desc&$top=10")
  }

  @Test("An address asks for the language of its answer", .reference("ios/CON-10"))
  func language() throws {
    let address = ODataAddress("http://h/s/").entitySet("A").sap("language", "en")
    let text = try address.uri(.v2)
    #expect(text == "http://h/s/A?sap-language=en")
    #expect(try parsed("A?sap-language=en", .v2).options.sap("language") == "en")
  }

  @Test("Each call of the builder writes its part of the address")
  func calls() throws {
    let root = ODataAddress("http://h/s/")
    let guid = try #require(EdmGuid("01234567-89ab-cdef-0123-456789abcdef"))
    let date = try #require(EdmDate(year: 2026, month: 11, day: 21))
    let a = root.entitySet("A")
    let cases: [(ODataAddress, String)] = [
      (root.metadata, "$metadata"), (root.batch, "$batch"), (root.all, "$all"),
      (root.entity(id: "A(1)"), "$entity?$id=A(1)"), (root.crossjoin("A", "B"), "$crossjoin(A,B)"),
      (a.key("O'Neil/x"), "A('O''Neil%2Fx')"), (a.key(guid), "A(\(guid))"),
      (a.key(["Order": 1, "No": "a"]), "A(Order=1,No='a')"), (a.keySegment("a/b"), "A/a%2Fb"),
      (a.key(.alias("k") as Property).alias("k", 5), "A(@k)?@k=5"),
      (a.key(1).property("N").value, "A(1)/N/$value"), (a.count, "A/$count"),
      (a.key(1).navigation("B").ref, "A(1)/B/$ref"), (a.cast(to: "NS.T").key(1), "A/NS.T(1)"),
      (a.function("NS.f", ["x": 1, "y": nil]), "A/NS.f(x=1,y=null)"), (root.function("F"), "F()"),
      (a.filtered(Property("B")).each.action("NS.Cut"), "A/$filter(B)/$each/NS.Cut"),
      (a.filter(Property("B") == nil as Int?), "A?$filter=B%20eq%20null"),
      (a.filter(!Property("B") || Property("C")), "A?$filter=not%20B%20or%20C"),
      (a.filter(Property("D") <= date), "A?$filter=D%20le%202026-11-21"),
      (a.filter(Property("B").isIn(["x", "y"])), "A?$filter=B%20in%20('x','y')"),
      (a.filter(Property("B").has("Red", of: "NS.C")), "A?$filter=B%20has%20NS.C'Red'"),
      (
        a.filter((Property("B") + 1) * 2 >= -Property("C")["D"]),
        "A?$filter=(B%20add%201)%20mul%202%20ge%20-C/D"
      ),
      (
        a.filter(Property("L").any { $0["P"] > 5 && $0["Q"].all("y") { $0 == 1 } }),
        "A?$filter=L/any(x:x/P%20gt%205%20and%20x/Q/all(y:y%20eq%201))"
      ),
      (
        a.filter(Property("L").isNotEmpty && Property("L").count > 1),
        "A?$filter=L/any()%20and%20L/$count%20gt%201"
      ),
      (
        a.filter(Property("B").substring(from: 1, length: 2).lowercased == "x"),
        "A?$filter=tolower(substring(B,1,2))%20eq%20'x'"
      ),
      (
        a.filter(Property("B").cast(to: "Edm.Int32").rounded != 1.5),
        "A?$filter=round(cast(B,Edm.Int32))%20ne%201.5"
      ),
      (a.filter(Property("B").hasPrefix("+&")), "A?$filter=startswith(B,'%2B%26')"),
      (a.filter(Property("B")).filter(Property("C")), "A?$filter=B%20and%20C"),
      (
        a.expand("B") { $0.select("C", "D/E").filter(Property("C") > 1).levels(.max) },
        "A?$expand=B($filter=C%20gt%201;$select=C,D/E;$levels=max)"
      ),
      (a.expand("B", content: .count) { $0 }.expand("C/D", "E"), "A?$expand=B/$count,C/D,E"),
      (a.search("blue green").counted(), "A?$search=%22blue%20green%22&$count=true"),
      (a.search(.phrase("a\\\"b")), "A?$search=%22a%5C%5C%5C%22b%22"),
      (
        a.compute(Property("B") % 2, as: "C").select("C"),
        "A?$compute=B%20mod%202%20as%20C&$select=C"
      ),
      (a.sap("client", "100").custom("x y", "a=b&c"), "A?sap-client=100&x%20y=a=b%26c"),
      (a.format("json").skipToken("a+b").skip(5), "A?$skip=5&$format=json&$skiptoken=a%2Bb"),
      (a.deltaToken("t"), "A?$deltatoken=t"),
    ]
    for (address, text) in cases {
      let written = try address.uri(.v4)
      #expect(written == "http://h/s/\(text)")
      let settings = ODataAddressSettings(service: "http://h/s/")
      if !written.contains("1.5"), !written.contains("a%2Fb") {
        #expect(try ODataAddress(parsing: written, settings) == address, "\(written)")
      }
    }
    #expect(try a.key(1).links("B").uri(.v2) == "http://h/s/A(1)/$links/B")
    #expect(try a.deltaToken("it's").uri(.v2) == "http://h/s/A?!deltatoken='it''s'")
    #expect(
      try a.key(guid).counted().uri(.v2) == "http://h/s/A(guid'\(guid)')?$inlinecount=allpages")
  }

  @Test("Options of expanded properties become paths in V2")
  func flattening() throws {
    let address = ODataAddress().entitySet("A").select("X")
      .expand("B") { $0.select("Y").expand("C") { $0.select("Z") } }.expand("D")
    #expect(try address.uri(.v2) == "A?$select=X,B/Y,B/C/Z,D&$expand=B/C,D")
    let open = ODataAddress().entitySet("A").expand("B") { $0.select("Y") }
    #expect(try open.uri(.v2) == "A?$select=*,B/Y&$expand=B")
    let filtered = ODataAddress().entitySet("A").expand("B") { $0.top(1) }
    #expect(fault { () throws(ODataError) in _ = try filtered.uri(.v2) }?.code == .unwritable)
  }

  @Test("What a version has no words for, and what is no name, is not written")
  func unwritable() throws {
    let a = ODataAddress().entitySet("A")
    let cases: [(ODataAddress, ODataVersion)] = [
      (ODataAddress().entitySet("A B"), .v4), (ODataAddress().entitySet(""), .v4),
      (ODataAddress("http://h/?x").entitySet("A"), .v4), (a.filter(Property("x y")), .v4),
      (a.filter(Property("")), .v4), (a.filter(Property("true")), .v4),
      (a.filter(Property("A").any { $0["B"].any { $0["C"] } }), .v4), (a.custom("$x", "1"), .v4),
      (a.custom("Filter", "1"), .v4), (a.custom("", "1"), .v4), (a.top(-1), .v4),
      (a.filter(ODataExpression.and([])), .v4), (a.key(EdmValue.invalid("x", .int32)), .v4),
      (a.search(.and([.word("NOT"), .word("x")])), .v4), (a.search(.word("a b")), .v4),
      (a.search(.phrase("")), .v4), (a.links("B"), .v4), (a.skipToken(""), .v4),
      (a.filter(ODataExpression.call(.replace, ["a", "b", "c"])), .v4),
      (a.filter(ODataExpression.call(.length, [])), .v4),
      (a.key(1).navigation("B").ref, .v2), (a.search("x"), .v2), (a.keySegment("1"), .v2),
      (a.filter(Property("B").isIn([1])), .v2), (a.filter(Property("L").isNotEmpty), .v2),
      (a.filter(Property("D") == ODataTerm.now), .v2), (a.compute(Property("B"), as: "C"), .v2),
      (a.filter(Property("B").divided(by: 2) > 1), .v2), (a.alias("p", 1), .v2), (a.all, .v2),
      (a.filter(Property("D") == EdmDate(daysSince1970: 0)), .v2),
    ]
    for (address, version) in cases {
      let error = fault { () throws(ODataError) in _ = try address.uri(version) }
      #expect(error?.code == .unwritable, "\(address)")
      #expect(error?.hint.isEmpty == false)
    }
  }
}
