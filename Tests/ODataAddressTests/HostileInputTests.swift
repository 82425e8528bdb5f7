import FerryOData
import FerryODataAddress
import Foundation
import Testing

/// What a thread leaves behind; read after it has signalled.
private final class Box<T>: @unchecked Sendable { var value: T? }

/// Runs on a thread with the smallest stack that a thread gets on Apple's systems.
private func onSmallStack<T: Sendable>(_ body: @escaping @Sendable () -> T) -> T {
  let box = Box<T>()
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    box.value = body()
    done.signal()
  }
  thread.stackSize = 512 << 10
  thread.start()
  done.wait()
  return box.value!
}

@Suite("Hostile addresses") struct HostileInputTests {
  static func nested(_ open: String, _ close: String, _ inside: String, _ count: Int) -> String {
    String(repeating: open, count: count) + inside + String(repeating: close, count: count)
  }

  /// A set A whose entities may have any property.
  static let open: EdmMetadata = {
    var schema = EdmSchema(namespace: "NS")
    var type = EdmStructuredType(.entity, namespace: "NS", name: "T")
    type.isOpen = true
    schema.entityTypes = [type]
    schema.containers = [
      EdmContainer(
        namespace: "NS", name: "C", entitySets: [EdmEntitySet(name: "A", entityType: "NS.T")])
    ]
    return EdmMetadata(version: .v4, schemas: [schema])
  }()

  @Test("A chain of aliases ends at the limit, before the stack does")
  func aliases() throws {
    let chain = (0..<3_000).map { "@a\($0)=@a\($0 + 1)" }.joined(separator: "&")
    let found = try parsed("A?$filter=@a0&" + chain)
    let error = onSmallStack {
      fault { () throws(ODataError) in
        _ = try ODataEvaluator(aliases: found.options.aliases).holds(
          found.options.filter ?? true, for: ODataEntry())
      }
    }
    #expect(error?.code == .limit)
  }

  @Test("Aliases that double at each step end at the limit")
  func doublingAliases() throws {
    let doubled = (0..<38).map { "@a\($0)=@a\($0 + 1) and @a\($0 + 1)" }.joined(separator: "&")
    let found = try parsed("A?$filter=@a0&" + doubled + "&@a38=true")
    let error = fault { () throws(ODataError) in
      _ = try ODataEvaluator(aliases: found.options.aliases).holds(
        found.options.filter ?? true, for: ODataEntry())
    }
    #expect(error?.code == .limit)
  }

  static let shapes: [(String, String, String)] = [
    ("A?$filter=", "(", ")"), ("A?$filter=", "not ", ""), ("A?$filter=", "- ", ""),
    ("A?$filter=", "tolower(", ")"), ("A?$filter=", "A/any(", ")"), ("A?$filter=", "[", "]"),
    ("A?$filter=", "{\"a\":", "}"), ("A?$filter=", "cast(", ",Edm.String)"),
    ("A?$filter=", "case(true:", ")"), ("A?$filter=", "f(a=", ")"), ("A?$filter=", "1 in (", ")"),
    ("A?$filter=", "A/$filter(", ")/$count"), ("A?$filter=", "A/$count($filter=", ")"),
    ("A?$expand=", "B($expand=", ")"), ("A?$select=", "B($select=", ")"), ("A?$search=", "(", ")"),
    ("A?$search=", "NOT ", ""), ("A?@a=", "[", "]"), ("A/$filter(", "(", ")"), ("A(", "(", ")"),
    ("A?$orderby=", "(", ")"), ("A?$compute=", "(", ")"),
    ("A?$filter=", "1 or 1 and 1 eq (", ")"),
  ]

  @Test("3,000 of anything inside each other is a clear refusal", arguments: shapes)
  func depth(_ head: String, _ open: String, _ close: String) {
    let uri = head + Self.nested(open, close, "a", 3_000)
    let error = onSmallStack {
      fault { () throws(ODataError) in _ = try ODataAddress(parsing: uri) }
    }
    #expect(error != nil)
    if !head.hasPrefix("A("), open != "A/any(" {
      #expect(error?.code == .limit && error?.hint.contains("depth") == true)
    }
  }

  @Test(
    "All that the depth allows is read, evaluated and dropped on a small stack", arguments: shapes)
  func allowed(_ head: String, _ open: String, _ close: String) {
    for count in [12, 20, 28, 31, 40, 58, 62] {
      let uri = head + Self.nested(open, close, "a", count) + (head.hasPrefix("A/") ? ")" : "")
      let isSame = onSmallStack {
        guard let found = try? ODataAddress(parsing: uri), let text = try? found.uri(.v4) else {
          return true
        }
        if let filter = found.options.filter {
          _ = try? ODataEvaluator().holds(filter, for: ODataEntry())
        }
        _ = try? ODataResolvedAddress(found, in: Self.open)
        return (try? ODataAddress(parsing: text)) == found
      }
      #expect(isSame)
    }
  }

  @Test("Long chains of one operator cost no depth with and, or; others end at the limit")
  func chains() throws {
    for joint in ["and", "or"] {
      let text =
        "A?$filter="
        + (0..<1_500).map { "ID eq \($0)" }.joined(separator: "%20\(joint)%20")
        .replacingOccurrences(of: " ", with: "%20")
      let found = try parsed(text)
      #expect(try parsed(found.uri(.v4)) == found)
    }
    for joint in ["add", "eq", "sub"] {
      let text = "A?$filter=" + Array(repeating: "A", count: 200).joined(separator: "+\(joint)+")
      let error = fault { () throws(ODataError) in _ = try ODataAddress(parsing: text) }
      #expect(error?.code == .limit)
    }
  }

  @Test("An address of 1 MB is refused by its length, and read where the quota allows it")
  func length() throws {
    let value = String(repeating: "x", count: 1 << 20)
    let error = fault { () throws(ODataError) in _ = try ODataAddress(parsing: "A('\(value)')") }
    #expect(error?.code == .limit && error?.place?.column == (64 << 10) + 1)
    var limits = ODataAddressLimits()
    limits.lengthBytes = 2 << 20
    let settings = ODataAddressSettings(limits: limits)
    for uri in [
      "A('\(value)')", "A?$filter=B eq '\(value)'", "A?$search=\(value)", "A?x=\(value)",
      "A('" + String(repeating: "%27%27", count: 1 << 17) + "')",
    ] {
      #expect(try ODataAddress(parsing: uri, settings).uri(.v4).utf8.count > 1 << 17)
    }
    let long = fault { () throws(ODataError) in
      _ = try ODataAddress(parsing: "A?$filter=\(value) eq 1", settings)
    }
    #expect(long?.code == .limit)
    for piece in ["a,", "a/", "-", "'", "%", "(", "a eq 1 or ", "a=1&", "$", "/", "@a", "1,"] {
      let many = String(repeating: piece, count: (1 << 17) / piece.utf8.count)
      for head in ["A?$select=", "A?$filter="] {
        let error = fault { () throws(ODataError) in
          _ = try ODataAddress(parsing: head + many + "!", settings)
        }
        #expect(error != nil, "\(head)\(piece)")
      }
    }
  }

  @Test("Names are as long as the specification allows")
  func names() throws {
    let name = String(repeating: "n", count: 128)
    #expect(try parsed(name).path == [.name(name)])
    #expect(
      fault { () throws(ODataError) in _ = try ODataAddress(parsing: name + "n") }?.code == .limit)
  }

  static let encodings: [(String, Int)] = [
    ("A('%')", 4), ("A('%4')", 4), ("A('%G1')", 4), ("A?$filter=B eq '%zz'", 17), ("A?%=1", 3),
    ("A('%C0%AF')", 4), ("A('%E0%80%AF')", 4), ("A('%F0%80%80%AF')", 4), ("A('%ED%A0%80')", 4),
    ("A('%F4%90%80%80')", 4), ("A('%80')", 4), ("A('%C3')", 4), ("A('%C3(')", 4), ("A('%FF')", 4),
    ("A('x%C0%A7 or 1')", 5), ("A('\u{1}')", 4), ("A('\n')", 4), ("A%00", 2),
    ("A?$filter=%C1%81 eq 1", 11),
  ]

  @Test(
    "Wrong percent-encodings and overlong UTF-8 are refused where they stand", arguments: encodings)
  func refusesEncodings(_ uri: String, _ column: Int) { #expect(refusal(uri) == column) }

  @Test("Columns count characters, not bytes")
  func columns() { #expect(refusal("Ä('é')x") == 7) }

  @Test("A quote that is encoded twice stays what it is")
  func doubleEncoding() throws {
    let found = try parsed("A('%2527')")
    #expect(found.path.last == .predicate(.value(.literal(.string("%27")))))
    #expect(try found.uri(.v4) == "A('%2527')")
  }

  static let whole = [
    "https://h/s.svc/Orders(No=1,Of='O''N%2F%C3%84')/NS.T/Lines/$filter(A gt 1)/$count?$filter=not"
      + " (A/any(x:x/B eq 2026-11-21T08:30:00.5%2B02:00 and contains(x/C,'(')) or D in (1,2))"
      + "&$expand=L($select=A;$expand=*($levels=max);@p=[{\"a\":\"\\u00e9\"}]),M/$count($search=a)"
      + "&$search=NOT \"a b\" OR (c d)&$orderby=A desc,case(B:1,true:-2)&$compute=A div 2 as H"
      + "&@a=duration'P1DT2S'&@g=geography'SRID=1;Polygon((1 2,3 4,1 2))'&sap-client=100&$top=5",
    "Flights(carrid='AA',fldate=datetime'2026-11-21T00:00:00')/$links/Bookings(guid'01234567-89ab-"
      + "cdef-0123-456789abcdef')?$filter=substringof('x',A) and B gt 1.5M or C eq X'0F'"
      + "&$inlinecount=none&!deltatoken='x'",
  ]

  @Test(
    "Every prefix of a valid address is read or refused with a place, none traps", arguments: whole)
  func prefixes(_ whole: String) throws {
    let version: ODataVersion = whole.contains("$links") ? .v2 : .v4
    _ = try parsed(whole, version)
    let bytes = Array(whole.utf8)
    for length in 0...bytes.count {
      let prefix = String(decoding: bytes[..<length], as: UTF8.self)
      let error = fault { () throws(ODataError) in
        _ = try ODataAddress(parsing: prefix, ODataAddressSettings(version: version))
      }
      if let error {
        let column = error.place?.column ?? 0
        #expect(column >= 1 && column <= prefix.count + 1 && !error.hint.isEmpty, "\(error)")
      }
    }
  }

  @Test("Changed bytes are read or refused, none traps, and what is read is written again")
  func mutations() throws {
    var random = SeededGenerator(7)
    let alphabet = Array("()'\"%/?&=;,:.@$*+- 0a\u{7F}[]{}#".utf8)
    for whole in Self.whole {
      let version: ODataVersion = whole.contains("$links") ? .v2 : .v4
      for _ in 0..<2_000 {
        var bytes = Array(whole.utf8)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let place = Int.random(in: 0..<bytes.count, using: &random)
          let byte = alphabet.randomElement(using: &random) ?? 0
          switch Int.random(in: 0..<3, using: &random) {
          case 0: bytes[place] = byte
          case 1: bytes.insert(byte, at: place)
          default: bytes.remove(at: place)
          }
        }
        let uri = String(decoding: bytes, as: UTF8.self)
        let settings = ODataAddressSettings(version: version)
        guard let found = try? ODataAddress(parsing: uri, settings) else { continue }
        let again = ODataAddressSettings(version: version, service: found.service)
        let written = try found.uri(version)
        #expect(try ODataAddress(parsing: written, again) == found, "\(uri)\n\(written)")
      }
    }
  }
}

/// Random numbers from a seed, so that a failure can be seen again.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64
  init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
