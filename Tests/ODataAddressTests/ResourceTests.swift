import FerryOData
import FerryODataAddress
import Testing

@Suite("Resource paths") struct ResourceTests {
  static func key(_ value: EdmValue) -> ODataSegment { .predicate(.value(.literal(value))) }
  static let paths: [(String, [ODataSegment])] = [
    ("Orders", [.name("Orders")]), ("Orders(1)", [.name("Orders"), key(.int32(1))]),
    ("Orders%281%29", [.name("Orders"), key(.int32(1))]),
    ("Orders%28%27O%27%27Neil%27%29", [.name("Orders"), key(.string("O'Neil"))]),
    ("Orders('7''''%20%2Fx)(')", [.name("Orders"), key(.string("7'' /x)("))]),
    (
      "Items(Order=1,No='a')",
      [.name("Items"), .predicate(.named([.init("Order", 1), .init("No", "a")]))]
    ),
    ("Orders(@k)", [.name("Orders"), .predicate(.value(.path(ODataPath(.alias("k"), []))))]),
    (
      "Orders(ID=@k)",
      [
        .name("Orders"),
        .predicate(.named([.init("ID", .path(ODataPath(.alias("k"), [])))])),
      ]
    ),
    (
      "Orders(1)/NS.Special/Lines(2)/$count",
      [
        .name("Orders"), key(.int32(1)), .name("NS.Special"), .name("Lines"), key(.int32(2)),
        .count,
      ]
    ),
    ("Orders/NS.Best()", [.name("Orders"), .name("NS.Best"), .predicate(.named([]))]),
    (
      "By(id=2)(3)",
      [.name("By"), .predicate(.named([.init("id", 2)])), key(.int32(3))]
    ),
    ("Orders/1/Lines/-1", [.name("Orders"), .keySegment("1"), .name("Lines"), .keySegment("-1")]),
    ("People/O'Neil", [.name("People"), .keySegment("O'Neil")]),
    ("Parts/Smartphone%2FTablet", [.name("Parts"), .keySegment("Smartphone/Tablet")]),
    ("Orders(1)/Name/$value", [.name("Orders"), key(.int32(1)), .name("Name"), .value]),
    ("Orders(1)/Lines/$ref", [.name("Orders"), key(.int32(1)), .name("Lines"), .ref]),
    ("$metadata", [.metadata]), ("$batch", [.batch]), ("$all", [.all]),
    ("$all/NS.T", [.all, .name("NS.T")]), ("$entity?$id=Orders(1)", [.entity]),
    ("$crossjoin(A,B)", [.crossjoin(["A", "B"])]),
    ("$crossjoin(A,B)/$query", [.crossjoin(["A", "B"]), .query]),
    (
      "Orders/$filter(Age gt 3)/$each/NS.Cut",
      [
        .name("Orders"),
        .filter(.compare(.greater, .path(ODataPath("Age")), .literal(.int32(3)))), .each,
        .name("NS.Cut"),
      ]
    ),
    (
      "Orders/$filter(@f)(7)",
      [.name("Orders"), .filter(.path(ODataPath(.alias("f"), []))), key(.int32(7))]
    ),
    ("Stra%C3%9Fen", [.name("Straßen")]),
  ]

  @Test("Each step of a path is read", arguments: paths)
  func steps(_ uri: String, _ path: [ODataSegment]) throws {
    #expect(try parsed(uri).path == path)
  }

  @Test("$metadata and $batch take a format, a version of the schema and options of one's own")
  func optionless() throws {
    #expect(try parsed("$metadata?$format=xml&$schemaversion=*&a=1").options.format == "xml")
    #expect(try parsed("$batch?sap-client=100").options.sap("client") == "100")
  }

  @Test("V2 reads $links, and $ref is of V4")
  func links() throws {
    let path = try parsed("Orders(1)/$links/Lines(2)", .v2).path
    #expect(
      path == [
        .name("Orders"), Self.key(.int32(1)), .links, .name("Lines"), Self.key(.int32(2)),
      ])
    #expect(refusal("Orders(1)/Lines/$ref", .v2) == 17)
    #expect(refusal("Orders(1)/$links/Lines") == 11)
    #expect(refusal("Orders(1)/$links", .v2) != nil)
  }

  static let refused: [(String, Int)] = [
    (".Orders('a')", 1), ("Orders.('a')", 7), ("Orders(1)/$count/x", 18), ("Orders(1)x", 10),
    ("Orders(1)/Name/$value/x", 23), ("Orders//x", 8), ("Orders/", 7), ("Orders(", 8),
    ("Orders(1", 9), ("Orders/$metadata", 8), ("$links/x", 1), ("$nothing", 1), ("0rders", 1),
    ("Orders/$ref/$count", 13), ("$entity?$format=json", 21), ("Orders#x", 7), ("Or%64er%zz", 8),
    ("Orders%2", 7), ("http//host/Orders", 6), ("http:Orders", 5), ("http:///x", 8),
    ("Orders?$top=1&", 14), ("Orders?&$top=1", 8), ("$metadata?$filter=true", 11),
    ("$batch?$format=json&$top=1", 21), ("Orders(1)(2)(3)", 13), ("O/..", 3), ("O/.", 3),
    ("O/%2E%2E", 3), ("http://h o/O", 9), ("http://hö/O", 9),
  ]

  @Test("What is no path is refused at its column", arguments: refused)
  func refuses(_ uri: String, _ column: Int) { #expect(refusal(uri) == column) }

  static let services: [(String, String, Int)] = [
    ("http://host:80/", "http://host:80/", 0), ("https://h/v4/Orders", "https://h/v4/", 1),
    ("https://[2001:db8::7]:8080/s/Orders(1)/Lines", "https://[2001:db8::7]:8080/s/", 3),
    ("http://h/OData/OData.svc/$metadata", "http://h/OData/OData.svc/", 1),
    ("http://h/OData.svc/A/B", "http://h/OData.svc/", 2), ("http://h/s/A/$count", "http://h/s/", 2),
    ("http://h/s/$all?$search=red", "http://h/s/", 1), ("http://h", "http://h/", 0),
    ("/Orders(1)", "/", 2), ("Orders(1)", "", 2), ("", "", 0), ("http://h/s/", "http://h/s/", 0),
  ]

  @Test("The service ends before the first segment of the path", arguments: services)
  func serviceEnds(_ uri: String, _ service: String, _ count: Int) throws {
    let address = try parsed(uri)
    #expect(address.service == service && address.path.count == count)
  }

  @Test("A service that is named decides, and another one is refused")
  func named() throws {
    let settings = ODataAddressSettings(service: "http://h/a/b")
    #expect(
      try ODataAddress(parsing: "http://h/a/b/c/d", settings).path == [.name("c"), .name("d")])
    #expect(try ODataAddress(parsing: "http://h/a/b", settings).path == [])
    #expect(
      fault { () throws(ODataError) in
        _ = try ODataAddress(parsing: "http://h/a/x", settings)
      }?.code == .address)
    #expect(try ODataAddress(parsing: "c/d", settings).path.count == 2)
  }

  @Test("A context URL keeps its fragment")
  func fragment() throws {
    #expect(try parsed("http://h/s/$metadata#Orders(ID)/$entity").fragment == "Orders(ID)/$entity")
  }
}
