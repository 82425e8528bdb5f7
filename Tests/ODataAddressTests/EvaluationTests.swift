import FerryOData
import FerryODataAddress
import Testing

@Suite("Evaluation over entries") struct EvaluationTests {
  static let entry: ODataEntry = {
    var entry = ODataEntry(
      type: "Shop.Order",
      [
        "ID": .int32(7), "Name": .string("Größe 😀"), "Price": .decimal(EdmDecimal("10.10")!),
        "Ratio": .double(0.5), "Big": .int64(.max), "Done": .boolean(true), "Nothing": .null,
        "Tags": .collection([.string("a"), .string("b")]),
        "Color": .enumeration("Red,Blue", type: "Shop.C"),
        "Address": .complex(EdmComplex(type: "Shop.Home", ["City": .string("Ulm"), "Zip": .null])),
        "Stamp": EdmValue(text: "2026-11-21T23:30:01.5+02:00", type: .dateTimeOffset)!,
        "Day": EdmValue(text: "2026-11-21", type: .date)!,
        "Old": EdmValue(text: "2026-11-21T08:00:00", type: .dateTime)!,
        "Clock": EdmValue(text: "08:30:05", type: .timeOfDay)!,
        "Span": EdmValue(text: "P1DT2H", type: .duration)!,
        "Weight": .single(0.1), "Comb": .string("e\u{301}x\r\n"),
        "Nums": .collection([.int32(1), .int32(2)]),
        "Place": .spatial(EdmSpatial(.point([8, 49]), srid: 4_326)),
      ])
    func line(_ no: Int32, _ price: EdmValue, _ done: EdmValue) -> ODataEntry {
      ODataEntry(type: "Shop.Line", ["No": .int32(no), "Price": price, "Done": done])
    }
    entry.links = [
      .related(
        "Lines",
        inline: .feed(
          ODataFeed([
            line(1, .int32(5), .boolean(true)), line(2, .null, .null),
            line(3, .int32(20), .boolean(true)),
          ]))),
      .related("Customer", inline: .entry(ODataEntry(["Name": .string("Ann")]))),
      .related("Agent", inline: .entry(nil)), .related("Parts"),
    ]
    return entry
  }()

  static func value(_ text: String, _ version: ODataVersion = .v4) throws -> EdmValue {
    try ODataEvaluator().value(of: condition(text, version), for: entry)
  }

  static func point(_ text: String) -> String { "geometry'SRID=0;Point(\(text))'" }
  /// With a hole.
  static let square =
    "geometry'SRID=0;Polygon((-1 -1,1 -1,1 1,-1 1,-1 -1),(-0.5 -0.5,0.5 -0.5,0.5 0.5,-0.5 0.5,"
    + "-0.5 -0.5))'"

  static let truths: [(String, Bool?)] = [
    ("ID eq 7", true), ("ID eq 7.0", true), ("Price eq 10.1", true), ("Price gt 10", true),
    ("Big eq 9223372036854775807", true), ("Big lt 9223372036854775808", true),
    ("Ratio eq 0.5", true),
    ("Nothing eq null", true), ("Nothing ne null", false), ("ID eq null", false),
    ("Nothing lt 1", false),
    ("not (Nothing lt 1)", true), ("Nothing ge null", false), ("null", nil), ("not null", nil),
    ("null and false", false), ("null and true", nil), ("null or true", true),
    ("null or false", nil),
    ("Nothing add 1 eq null", true), ("NaN eq NaN", false), ("NaN ne 1", true),
    ("INF gt Big", true),
    ("contains(Name,'öß')", true), ("startswith(Name,'Gr')", true), ("endswith(Name,'😀')", true),
    ("contains(Nothing,'a')", nil), ("Name lt 'H'", true), ("'Z' lt 'a'", true),
    ("'é' eq 'e\u{301}'", false),
    ("ID in (1,7)", true), ("ID in ()", false), ("Nothing in (null)", true), ("'a' in Tags", true),
    ("[1,2] eq [1,2]", true), ("[1,2] in [[3],[1,2]]", true),
    ("Address eq {\"City\":\"Ulm\",\"Zip\":null}", true),
    ("Color has Shop.C'Red'", true), ("Color has Shop.C'Green'", false),
    ("Nothing has Shop.C'Red'", nil),
    ("Address/City eq 'Ulm'", true), ("Address/Shop.Home/City eq 'Ulm'", true),
    ("Address/X/Y eq null", true),
    ("Customer/Name eq 'Ann'", true), ("Agent/Name eq null", true), ("Agent eq null", true),
    ("Customer ne null", true),
    ("Lines/any()", true), ("Lines/any(x:x/Price gt 10)", true),
    ("Lines/any(x:x/Price gt 99)", false),
    ("Lines/any(x:x/Done and x/No eq 2)", nil), ("Lines/all(x:x/Done)", nil),
    ("Lines/all(x:x/No gt 0)", true),
    ("Lines/all(x:x/No lt 3)", false), ("Tags/any(t:t eq 'b' and Done)", true),
    ("Nothing/any()", false),
    ("Lines/any(x:Tags/any(t:t eq 'a' and x/No eq ID sub 6))", true), ("Lines/$count eq 3", true),
    ("Lines/$count($filter=Price gt 1) eq 2", true),
    ("Lines/$filter(Price gt 10)/$count eq 1", true),
    ("Tags/$filter($this eq 'a')/$count eq 1", true), ("Lines(No=3)/Price eq 20", true),
    ("Lines(No=9)/Price eq null", true),
    ("$it/ID eq 7", true), ("isof(Shop.Order)", true), ("isof(Shop.X)", false),
    ("isof(ID,Edm.Int32)", true),
    ("isof(Address,Shop.Home)", true), ("hassubset(Tags,['b','a'])", true),
    ("hassubset(Tags,['a','a'])", false),
    ("hassubsequence([4,1,3],[4,3])", true), ("hassubsequence([4,1,3],[3,4])", false),
    ("startswith(Tags,['a'])", true),
    ("Stamp eq 2026-11-21T21:30:01.5Z", true), ("Stamp gt 2026-11-21T21:30:01Z", true),
    ("Day lt 2026-11-22", true),
    ("Clock ge 08:30:05", true), ("Span gt duration'P1D'", true), ("Span eq duration'PT26H'", true),
    ("geo.distance(Place,geography'SRID=4326;Point(8 50)') gt 111000", true),
    ("geo.distance(Place,geography'SRID=4326;Point(8 50)') lt 111400", true),
    ("geo.intersects(Place,geography'SRID=4326;Polygon((7 48,9 48,9 50,7 50,7 48))')", true),
    ("geo.length(geometry'SRID=0;LineString(0 0,3 4,3 5)') eq 6", true),
    ("Undelivered eq null", true), ("true eq false eq false", true),
    ("Weight eq 0.1", true), ("0.1 eq Weight", true), ("Weight in (0.1)", true),
    ("Weight eq Ratio sub 0.4", false),
    ("Color eq Shop.C'Blue,Red'", true), ("Color ne Shop.C'Blue,Red'", false),
    ("Color eq 'Blue,Red'", true), ("Color has 'Red'", true), ("Color in ('Red','Blue,Red')", true),
    ("Color eq 'Red'", false), ("Color le 'Blue,Red'", true),
    ("Span eq 'P1DT2H'", true), ("'P2D' gt Span", true),
    ("@p eq null", true), ("@p eq 1", false),
    ("Lines/$count($filter=No lt $it/ID) eq 3", true),
    ("Lines/$filter($it/ID eq 7)/$count eq 3", true),
    ("Tags/$count($filter=$it/ID eq 7) eq 2", true),
    ("geo.intersects(\(point("1 0")),\(square))", true),
    ("geo.intersects(\(point("-1 0")),\(square))", true),
    ("geo.intersects(\(point("0 1")),\(square))", true),
    ("geo.intersects(\(point("0 -1")),\(square))", true),
    ("geo.intersects(\(point("1 1")),\(square))", true),
    ("geo.intersects(\(point("0.5 0")),\(square))", true),
    ("geo.intersects(\(point("0 0")),\(square))", false),
    ("geo.intersects(\(point("1 2")),\(square))", false),
    ("contains([],[])", true), ("startswith([],[])", true), ("indexof(Tags,[]) eq 0", true),
    ("isof(Nums,Collection(Edm.Int32))", true), ("isof(Nums,Collection(Edm.String))", false),
  ]

  @Test("Conditions are true, false or null", arguments: truths)
  func judges(_ text: String, _ truth: Bool?) throws {
    let found = try Self.value(text)
    #expect(found == (truth.map { .boolean($0) } ?? .null))
    #expect(try ODataEvaluator().holds(condition(text), for: Self.entry) == (truth == true))
  }

  static let values: [(String, EdmValue)] = [
    ("1 add 2", .int32(3)), ("2147483647 add 1", .int64(2_147_483_648)), ("7 div 2", .int32(3)),
    ("-7 div 2", .int32(-3)), ("7 divby 2", .decimal(EdmDecimal("3.5")!)), ("7 mod 4", .int32(3)),
    ("-7 mod 4", .int32(-3)),
    ("0.1 add 0.2", .decimal(EdmDecimal("0.3")!)), ("7.0 div 2", .decimal(EdmDecimal("3.5")!)),
    ("Price mul 3", .decimal(EdmDecimal("30.3")!)), ("1.5 sub 2", .decimal(EdmDecimal("-0.5")!)),
    ("5.5 mod 2", .decimal(EdmDecimal("1.5")!)),
    ("Ratio add 1", .double(1.5)), ("Ratio mul 0.5", .double(0.25)), ("1 div Ratio", .double(2)),
    ("-Price", .decimal(EdmDecimal("-10.10")!)),
    ("1.0 div 3 mul 3 sub 1 lt 0.0000001", .boolean(true)),
    ("-Span", EdmValue(text: "-P1DT2H", type: .duration)!),
    ("length(Name)", .int32(7)), ("indexof(Name,'ß')", .int32(3)),
    ("indexof(Name,'x')", .int32(-1)),
    ("substring(Name,3)", .string("ße 😀")), ("substring(Name,6,9)", .string("😀")),
    ("substring(Name,1,2)", .string("rö")),
    ("substring('ab',9)", .string("")), ("substring(Tags,1)", .collection([.string("b")])),
    ("substring(Nums,0,1)", .collection([.int32(1)])),
    ("cast(Nums,Collection(Edm.String))", .collection([.string("1"), .string("2")])),
    ("5 divby 0", .double(.infinity)), ("-1.5 divby 0", .double(-.infinity)),
    ("0 divby 0", .double(.nan)), ("Weight add 0.1", .single(0.2)), ("-Weight", .single(-0.1)),
    ("tolower('ÄB')", .string("äb")), ("toupper('ß')", .string("SS")),
    ("trim(' \ta ')", .string("a")), ("concat(concat('a','-'),'b')", .string("a-b")),
    ("length(Tags)", .int32(2)),
    ("round(2.5)", .decimal(3)), ("round(-2.5)", .decimal(-3)), ("round(0.4)", .decimal(0)),
    ("round(9.5)", .decimal(10)),
    ("floor(-1.1)", .decimal(-2)), ("ceiling(1.1)", .decimal(2)), ("ceiling(-0.5)", .decimal(0)),
    ("floor(Ratio)", .double(0)), ("round(5)", .int32(5)),
    ("year(Stamp)", .int32(2026)), ("month(Day)", .int32(11)), ("day(Old)", .int32(21)),
    ("hour(Stamp)", .int32(23)), ("minute(Clock)", .int32(30)),
    ("second(Stamp)", .int32(1)), ("fractionalseconds(Stamp)", .decimal(EdmDecimal("0.5")!)),
    ("totalseconds(Span)", .decimal(93_600)),
    ("date(Stamp)", EdmValue(text: "2026-11-21", type: .date)!),
    ("time(Stamp)", EdmValue(text: "23:30:01.5", type: .timeOfDay)!),
    ("totaloffsetminutes(Stamp)", .int32(120)),
    (
      "Stamp add duration'PT1H'",
      EdmValue(text: "2026-11-22T00:30:01.5+02:00", type: .dateTimeOffset)!
    ),
    ("Stamp sub 2026-11-21T20:30:01Z", EdmValue(text: "PT1H0.5S", type: .duration)!),
    ("Day sub 2026-11-01", EdmValue(text: "P20D", type: .duration)!),
    ("Day add duration'P10D'", EdmValue(text: "2026-12-01", type: .date)!),
    ("Span mul 2", EdmValue(text: "P2DT4H", type: .duration)!),
    ("duration'PT1S' div 4", EdmValue(text: "PT0.25S", type: .duration)!),
    ("Span sub duration'P2D'", EdmValue(text: "-PT22H", type: .duration)!),
    ("cast(ID,Edm.String)", .string("7")), ("cast('42',Edm.Int32)", .int32(42)),
    ("cast(Price,Edm.Int32)", .int32(10)), ("cast('x',Edm.Int32)", .null),
    ("cast(300,Edm.Byte)", .null), ("cast(Ratio,Edm.Int64)", .int64(0)),
    ("case(ID lt 0:-1,ID gt 0:1,true:0)", .int32(1)), ("case(false:1)", .null),
    ("maxdatetime()", EdmValue(text: "9999-12-31T23:59:59.999999999999Z", type: .dateTimeOffset)!),
    ("Undelivered", .null),
  ]

  @Test("Values are computed exactly", arguments: values)
  func computes(_ text: String, _ value: EdmValue) throws { #expect(try Self.value(text) == value) }

  @Test("V2's own functions are evaluated")
  func two() throws {
    #expect(try Self.value("substringof('röß',Name)", .v2) == .boolean(true))
    #expect(try Self.value("replace('a-b-','-','++')", .v2) == .string("a++b++"))
    #expect(try Self.value("replace(Comb,'e','o')", .v2) == .string("o\u{301}x\r\n"))
    #expect(try Self.value("replace(Comb,'\n','')", .v2) == .string("e\u{301}x\r"))
    #expect(try Self.value("year(Old) eq 2026 and Price gt 10M", .v2) == .boolean(true))
    #expect(try Self.value("Old lt datetime'2026-11-21T08:00:01'", .v2) == .boolean(true))
  }

  static let faults: [(String, ODataError.Code)] = [
    ("1 div 0", .evaluation), ("1.0 mod 0", .evaluation), ("Big add 1", .evaluation),
    ("Big mul 2", .evaluation),
    ("Name gt 1", .typeMismatch), ("Done add 1", .typeMismatch), ("length(ID)", .typeMismatch),
    ("-Name", .typeMismatch),
    ("year(Name)", .typeMismatch), ("ID", .typeMismatch), ("Customer", .typeMismatch),
    ("Name and true", .typeMismatch),
    ("ID/any()", .typeMismatch), ("Parts/any()", .evaluation), ("now() gt Stamp", .notOffered),
    ("substring('abcdef',-2)", .evaluation), ("substring('abcdef',1,-2)", .evaluation),
    ("substring(Tags,-1)", .evaluation), ("cast(ID,Collection(Edm.String)) eq 1", .notOffered),
    ("Color lt Shop.C'Green'", .evaluation), ("Color eq Shop.C'3'", .evaluation),
    ("Color has Shop.C'1'", .evaluation),
    ("$root/A/B eq 1", .notOffered), ("matchesPattern(Name,'(')", .evaluation),
    ("matchesPattern(Name,'(a)\\1')", .notOffered), ("matchesPattern(Name,'(?=a)')", .notOffered),
    ("matchesPattern(Name,'(((((a{99}){99}){99})')", .evaluation),
    ("matchesPattern(Name,'((a{99}){99}){99}')", .limit),
    ("matchesPattern(Name,'((){999}){999}')", .limit),
    ("matchesPattern(Name,'a{1001}')", .limit),
    ("NS.f(a=1)", .notOffered),
    ("ID/@NS.T eq 1", .notOffered),
    ("9999999999999999999999999999999999999.5 mul 12345678.9 gt 1", .evaluation),
  ]

  @Test("What has no value is an error, never a trap", arguments: faults)
  func fails(_ text: String, _ code: ODataError.Code) throws {
    let condition = try condition(text)
    let error = fault { () throws(ODataError) in
      _ = try ODataEvaluator().holds(condition, for: Self.entry)
    }
    #expect(error?.code == code && error?.hint.isEmpty == false)
  }

  @Test("Aliases, a clock and a pattern engine are given from outside; circles end")
  func outside() throws {
    let now = try #require(EdmDateTimeOffset(EdmDateTime(milliseconds: 0)!))
    let evaluator = ODataEvaluator(
      now: now,
      aliases: [
        .init("a", .path(ODataPath("ID"))), .init("b", try condition("@c")),
        .init("c", try condition("@b")),
      ],
      matches: { text, pattern in text.hasPrefix(pattern) })
    for text in ["@a eq 7", "now() lt Stamp", "matchesPattern(Name,'Gr')"] {
      #expect(try evaluator.holds(condition(text), for: Self.entry))
    }
    let circle = try condition("@b eq 1")
    #expect(
      fault { () throws(ODataError) in _ = try evaluator.holds(circle, for: Self.entry) }?.code
        == .evaluation)
  }

  @Test("Flags and derived types are told by the metadata")
  func metadata() throws {
    var schema = EdmSchema(namespace: "Shop")
    schema.enumTypes = [
      EdmEnumType(
        namespace: "Shop", name: "C", isFlags: true,
        members: [
          .init(name: "Red", value: 1), .init(name: "Blue", value: 2),
          .init(name: "Violet", value: 3),
        ])
    ]
    var thing = EdmStructuredType(.entity, namespace: "Shop", name: "Thing")
    thing.isAbstract = true
    var order = EdmStructuredType(.entity, namespace: "Shop", name: "Order")
    order.baseType = "Shop.Thing"
    schema.entityTypes = [thing, order]
    let evaluator = ODataEvaluator(metadata: EdmMetadata(version: .v4, schemas: [schema]))
    #expect(try evaluator.holds(condition("Color has Shop.C'Violet'"), for: Self.entry))
    #expect(try evaluator.holds(condition("Color has Shop.C'2'"), for: Self.entry))
    #expect(try evaluator.holds(condition("isof(Shop.Thing)"), for: Self.entry))
    for text in [
      "Color eq Shop.C'Violet'", "Color eq Shop.C'3'", "Color eq '3'", "Color gt Shop.C'Blue'",
      "Color le 'Violet'", "Shop.C'Red' lt Shop.C'Blue'", "Color in ('Red','1,2')",
    ] {
      #expect(try evaluator.holds(condition(text), for: Self.entry), "\(text)")
    }
  }

  @Test("Options filter, sort, skip and take; null sorts first, equal ones stay in order")
  func options() throws {
    let entries = [3, 1, nil, 2, 1].enumerated().map { index, number in
      ODataEntry(["A": number.map { .int32(Int32($0)) } ?? .null, "B": .int32(Int32(index))])
    }
    func run(_ query: String) throws -> ([Int64?], Int) {
      let found = try ODataEvaluator().apply(parsed("S?\(query)").options, to: entries)
      return (found.entries.map { $0["B"]?.integer }, found.count)
    }
    #expect(try run("$orderby=A") == ([2, 1, 4, 3, 0], 5))
    #expect(try run("$orderby=A desc,B desc&$top=3") == ([0, 3, 4], 5))
    #expect(try run("$filter=A gt @m&@m=1&$orderby=B desc&$skip=1") == ([0], 2))
    #expect(try run("$filter=A eq null") == ([2], 1))
    #expect(try run("$compute=B mul 2 as C&$filter=C gt 4&$orderby=C desc") == ([4, 3], 2))
    #expect(throws: ODataError.self) { try run("$search=x") }
    for query in ["$skiptoken=x", "$deltatoken=x"] {
      let error = #expect(throws: ODataError.self) { try run(query) }
      #expect(error?.code == .notOffered)
    }
  }

  @Test("Values that do not compare are not sorted, wherever they stand")
  func mixedSort() throws {
    let values: [EdmValue] = [.null, .int32(3), .null, .string("a"), .int32(1)]
    for shift in values.indices {
      let entries = (values[shift...] + values[..<shift]).map { ODataEntry(["A": $0]) }
      let options = try parsed("S?$orderby=A").options
      let error = #expect(throws: ODataError.self) {
        try ODataEvaluator().apply(options, to: entries)
      }
      #expect(error?.code == .typeMismatch)
    }
  }
}
