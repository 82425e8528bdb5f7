import FerryOData
import FerryODataAddress
import Testing

@Suite("Literals") struct LiteralTests {
  static let four: [(String, EdmValue)] = [
    ("null", .null), ("true", .boolean(true)), ("fALSE", .boolean(false)),
    ("0", .int32(0)), ("-7", .int32(-7)), ("%2B42", .int32(42)),
    ("2147483647", .int32(.max)), ("2147483648", .int64(2_147_483_648)),
    ("9223372036854775807", .int64(.max)),
    ("9223372036854775808", .decimal(EdmDecimal("9223372036854775808") ?? 0)),
    ("3.140", .decimal(EdmDecimal("3.140") ?? 0)), ("-0.314e1", .decimal(EdmDecimal("-3.14") ?? 0)),
    ("%2B0.5e%2B1", .decimal(5)), ("1e-3", .decimal(EdmDecimal("0.001") ?? 0)),
    ("INF", .double(.infinity)), ("-INF", .double(-.infinity)), ("NaN", .double(.nan)),
    ("''", .string("")), ("'Hugo''s%20Bar'", .string("Hugo's Bar")),
    ("%27a%27%27b%27", .string("a'b")), ("'%26%28%2B%2F%3F%25'", .string("&(+/?%")),
    ("'%C3%84'", .string("Ä")),
    ("2026-11-21", .date(EdmDate(year: 2026, month: 11, day: 21) ?? zero)),
    ("0000-01-01", .date(EdmDate(year: 0, month: 1, day: 1) ?? zero)),
    ("-10000-04-01", .date(EdmDate(year: -10_000, month: 4, day: 1) ?? zero)),
    ("11:22", text("11:22:00", .timeOfDay)), ("11%3A22%3a33", text("11:22:33", .timeOfDay)),
    ("11:22:33.4444444", text("11:22:33.4444444", .timeOfDay)),
    ("2012-09-03T13:52Z", text("2012-09-03T13:52:00Z", .dateTimeOffset)),
    ("2012-09-03T23%3A59:01.5%2B01%3A00", text("2012-09-03T23:59:01.5+01:00", .dateTimeOffset)),
    ("duration'-P6DT23H59M59.9999S'", text("-P6DT23H59M59.9999S", .duration)),
    ("01234567-89ab-CDEF-0123-456789abcdef", text("01234567-89ab-cdef-0123-456789abcdef", .guid)),
    ("binary'Zm9vYg=='", .binary(Array("foob".utf8))), ("binary'Zm8'", .binary(Array("fo".utf8))),
    ("binary''", .binary([])), ("NS.Color'Red,2'", .enumeration("Red,2", type: "NS.Color")),
    (
      "geography'SRID=4326;Point(8.4 49.3)'",
      .spatial(EdmSpatial(.point([8.4, 49.3]), srid: 4_326))
    ),
    (
      "geometry'SRID=0;LineString(1 2,3.5 -4e0)'",
      .spatial(EdmSpatial(.lineString([[1, 2], [3.5, -4]]), isGeometry: true, srid: 0))
    ),
    (
      "geography'SRID=0;GeometryCollection(Point(1 2),MultiPoint((1 2),(3 4)))'",
      .spatial(
        EdmSpatial(.collection([.point([1, 2]), .multiPoint([[1, 2], [3, 4]])]), srid: 0))
    ),
    (
      "geography'SRID=0;MultiPolygon(((1 2,3 4,1 2)))'",
      .spatial(EdmSpatial(.multiPolygon([[[[1, 2], [3, 4], [1, 2]]]]), srid: 0))
    ),
  ]
  static let zero = EdmDate(daysSince1970: 0)!
  static func text(_ text: String, _ type: EdmPrimitive) -> EdmValue {
    EdmValue(text: text, type: type)!
  }

  @Test("Each literal of V4 is read as its value", arguments: four)
  func readFour(_ spelled: String, _ value: EdmValue) throws {
    #expect(try parsed("A(\(spelled))").path.last == .predicate(.value(.literal(value))))
    let filter = try parsed("A?$filter=B eq \(spelled)").options.filter
    #expect(filter == .compare(.equal, .path(ODataPath("B")), .literal(value)))
  }

  static let two: [(String, EdmValue)] = [
    ("Nan", .double(.nan)), ("5L", .int64(5)), ("5l", .int64(5)), ("5", .int32(5)),
    ("1.50M", .decimal(EdmDecimal("1.5") ?? 0)),
    ("1.5m", .decimal(EdmDecimal("1.5") ?? 0)), ("2f", .single(2)), ("2.5F", .single(2.5)),
    ("2.5d", .double(2.5)), ("2.5", .double(2.5)), ("1e3", .double(1_000)),
    ("X'0aFF'", .binary([10, 255])), ("binary'0aFF'", .binary([10, 255])),
    (
      "guid'01234567-89ab-cdef-0123-456789abcdef'",
      text("01234567-89ab-cdef-0123-456789abcdef", .guid)
    ),
    ("datetime'2026-11-21T08:30'", text("2026-11-21T08:30:00", .dateTime)),
    ("datetime'2026-11-21T08:30:01.1234567'", text("2026-11-21T08:30:01.1234567", .dateTime)),
    (
      "datetimeoffset'2026-11-21T08:30:00%2B02:00'",
      text("2026-11-21T08:30:00+02:00", .dateTimeOffset)
    ),
    (
      "datetimeoffset'2026-11-21T08:30:00+02:00'",
      text("2026-11-21T08:30:00+02:00", .dateTimeOffset)
    ),
    ("time'PT8H30M'", text("PT8H30M", .time)), ("'O''Neil'", .string("O'Neil")),
  ]

  @Test("Each literal of V2 is read as its value", arguments: two)
  func readTwo(_ spelled: String, _ value: EdmValue) throws {
    #expect(try parsed("A(\(spelled))", .v2).path.last == .predicate(.value(.literal(value))))
  }

  static let refused: [(String, ODataVersion, Int)] = [
    ("A(X'1a2B')", .v4, 3), ("A('O'Neil')", .v4, 6), ("A('O%27Neil')", .v4, 8),
    ("A('Tablet/Slate')", .v4, 3), ("A(42.)", .v4, 5), ("A(.1)", .v4, 3),
    ("A(1e2e3)", .v4, 6), ("A(01234567-89ab-cdef-456789abcdef)", .v4, 11), ("A(24:00:00)", .v4, 3),
    ("A(2011-12-31T24:00Z)", .v4, 3), ("A(2011-02-30)", .v4, 3), ("A(2011-12-31T10:00)", .v4, 19),
    ("A(duration'P1Y')", .v4, 12), ("A(duration'+P1D')", .v4, 12),
    ("A(datetime'2011-01-01T00:00')", .v4, 3),
    ("A(binary'Zg=')", .v4, 10), ("A(binary'Z')", .v4, 10), ("A(NS.Color'')", .v4, 12),
    ("A(NS.Color'1x')", .v4, 12), ("A(geography'Point(1 2)')", .v4, 13),
    ("A(geography'SRID=1;Point(1)')", .v4, 27), ("A(wrong)", .v4, 3), ("A(ID=wrong)", .v4, 6),
    ("A(1,2)", .v4, 4), ("A(B=1,B=2)", .v4, 7), ("A(B=1;C=2)", .v4, 6),
    ("A(01234567-89ab-cdef-0123-456789abcdef)", .v2, 3), ("A(2011-01-01)", .v2, 3),
    ("A(08:30:00)", .v2, 3), ("A(duration'P1D')", .v2, 3), ("A(X'0aF')", .v2, 5),
    ("A(guid'0123')", .v2, 8), ("A(datetime'2011-01-01')", .v2, 12),
    ("A(99999999999999999999L)", .v2, 3),
  ]

  @Test("What is no literal is refused where it goes wrong", arguments: refused)
  func refuses(_ uri: String, _ version: ODataVersion, _ column: Int) {
    #expect(refusal(uri, version) == column)
  }

  @Test("A literal of another version is refused with the cure")
  func cures() {
    let cases: [(String, ODataVersion, String)] = [
      ("A(guid'01234567-89ab-cdef-0123-456789abcdef')", .v4, "bare"),
      ("A(datetime'2011-01-01T00:00')", .v4, "bare"), ("A(2011-01-01)", .v2, "datetime'"),
      ("A(X'00')", .v4, "base64url"), ("A('a'b')", .v4, "correct"),
      ("A?$filter=B eq 5L", .v4, "without L"), ("A?$filter=B eq 2.5m", .v4, "without m"),
      ("A?$filter=B eq 5eq", .v4, "put a blank"), ("f(p={\"a\":1})", .v4, "(p=@p)?@p={…}"),
      ("f(p=[1])", .v4, "(p=@p)?@p=[…]"), ("f(p=#)", .v4, "single quotes"),
    ]
    for (uri, version, word) in cases {
      let error = fault { () throws(ODataError) in
        _ = try ODataAddress(parsing: uri, ODataAddressSettings(version: version))
      }
      #expect(error?.hint.contains(word) == true, "\(uri): \(String(describing: error))")
    }
  }

  /// A quote beside one of these is no `Character` of its own.
  static let joined = [
    "'\u{301}", "a'\u{200D} or true eq true or A eq 'x", "\u{600}'", "'\u{FE0F}'", "\u{301}'",
    "''\u{301}", "\u{301}",
  ]

  @Test("No text ends its own quotes, whatever joins them", arguments: joined)
  func joinedQuotes(_ text: String) throws {
    for version in [ODataVersion.v2, .v4] {
      var delta = ODataAddress().entitySet("A")
      delta.options.deltaToken = text
      let all = [
        ODataAddress().entitySet("A").key(text), delta,
        ODataAddress().entitySet("A").filter(Property("B") == text),
      ]
      for address in all {
        let written = try address.uri(version)
        let found = try parsed(written, version)
        #expect(found == address, "\(written)")
        #expect(try found.uri(version) == written)
      }
      #expect(EdmValue.string(text).literal(version).utf8.count { $0 == 0x27 } % 2 == 0)
    }
    var typed = ODataAddress().entitySet("A")
    typed.options.search = .incomplete(text)
    #expect(try parsed(typed.uri(.v4)) == typed)
  }

  @Test("A double quote in a phrase comes back, and a quote in a member is not written")
  func unwritableQuotes() throws {
    for text in ["a\"\u{301} b", "\"", "a\"", "\" OR \"b", "\\\"", "\"\\", "a\\\\\"b\\"] {
      let phrase = ODataAddress().entitySet("A").search(.phrase(text))
      #expect(try parsed(phrase.uri(.v4)) == phrase, "\(text)")
    }
    let member = ODataAddress().entitySet("A").key(
      EdmValue.enumeration("Red' or B eq NS.C'Red", type: "NS.C"))
    let error = fault { () throws(ODataError) in _ = try member.uri(.v4) }
    #expect(error?.code == .unwritable && error?.hint.isEmpty == false)
  }

  @Test("A decimal without a fraction stays one when it is written")
  func wholeDecimals() throws {
    for (text, written) in [
      ("a eq 1e1 div 4", "a eq 10.0 div 4"), ("a eq 0.314e%2B1", "a eq 3.14"),
      ("a eq 0e5", "a eq 0.0"), ("a eq 0.05e1", "a eq 0.5"), ("a eq 1e400", "a eq 1e400"),
    ] {
      let found = try parsed("A?$filter=\(text)")
      #expect(try found.options.filter?.text(.v4) == written)
      #expect(try parsed(found.uri(.v4)) == found)
    }
  }

  @Test("A plus in a string is a plus, or a blank where the server reads forms")
  func plus() throws {
    let uri = "A?$filter=B+eq+'a+b'"
    let literal = try parsed(uri).options.filter
    #expect(literal == .compare(.equal, .path(ODataPath("B")), .literal(.string("a+b"))))
    let form = try ODataAddress(
      parsing: uri, ODataAddressSettings(version: .v2, readsPlusAsBlank: true))
    #expect(
      form.options.filter == .compare(.equal, .path(ODataPath("B")), .literal(.string("a b"))))
    #expect(try parsed("A('a+b')").path.last == .predicate(.value(.literal(.string("a+b")))))
  }
}
