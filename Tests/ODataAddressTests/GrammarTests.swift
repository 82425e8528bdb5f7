import FerryOData
import FerryODataAddress
import Testing

/// A small reader of grammars: alternatives between `|`, items between blanks, `'x'` as it stands
/// (in either case), `"x"` exactly, `2*4 item` repeated, `2* item` without end.
struct Grammar: Sendable {
  indirect enum Item: Sendable {
    case text(String, isExact: Bool)
    case rule(String)
    case many(ClosedRange<Int>, Item)
  }
  var rules: [String: [[Item]]] = [:]

  init(_ lines: [String: String]) {
    for (name, body) in lines {
      rules[name] = body.components(" | ").map { alternative in
        var items: [Item] = []
        var count: ClosedRange<Int>?
        for word in alternative.components(" ") where !word.isEmpty {
          if let star = word.firstIndex(of: "*"), word.first?.isNumber == true {
            let least = Int(word[..<star]) ?? 0
            count = least...(Int(word[word.index(after: star)...]) ?? 5)
            continue
          }
          var item = Item.rule(word)
          if word.hasPrefix("'") {
            item = .text(String(word.dropFirst().dropLast()), isExact: false)
          }
          if word.hasPrefix("\"") {
            item = .text(String(word.dropFirst().dropLast()), isExact: true)
          }
          items.append(count.map { .many($0, item) } ?? item)
          count = nil
        }
        return items
      }
    }
  }

  func make(_ rule: String, _ random: inout SeededGenerator) -> String {
    rules[rule]!.randomElement(using: &random)!.map { make($0, &random) }.joined()
  }

  private func make(_ item: Item, _ random: inout SeededGenerator) -> String {
    switch item {
    case .text(let text, _): text
    case .rule(let name): make(name, &random)
    case .many(let count, let item):
      (0..<Int.random(in: count, using: &random)).map { _ in make(item, &random) }.joined()
    }
  }

  /// Where a rule may end that begins at a place.
  func ends(_ rule: String, _ text: [UInt8], _ start: Int) -> Set<Int> {
    rules[rule]!.reduce(into: []) { found, items in
      found.formUnion(
        items.reduce(into: Set([start])) { places, item in
          places = places.reduce(into: Set()) { $0.formUnion(ends(item, text, $1)) }
        })
    }
  }

  private func ends(_ item: Item, _ text: [UInt8], _ start: Int) -> Set<Int> {
    switch item {
    case .text(let word, let isExact):
      let end = start + word.utf8.count
      guard end <= text.count else { return [] }
      let here = String(decoding: text[start..<end], as: UTF8.self)
      return (isExact ? here == word : here.lowercased() == word.lowercased()) ? [end] : []
    case .rule(let name): return ends(name, text, start)
    case .many(let count, let item):
      var found: Set<Int> = count.lowerBound == 0 ? [start] : []
      var places: Set<Int> = [start]
      var times = 0
      // A rule without an upper bound makes five at most, and takes any number.
      while !places.isEmpty, times < (count.upperBound == 5 ? 400 : count.upperBound) {
        places = places.reduce(into: []) { $0.formUnion(ends(item, text, $1)) }
        times += 1
        if times >= count.lowerBound { found.formUnion(places) }
      }
      return found
    }
  }

  func accepts(_ rule: String, _ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return ends(rule, bytes, 0).contains(bytes.count)
  }
}

extension String {
  fileprivate func components(_ separator: String) -> [String] {
    split(separator: separator, omittingEmptySubsequences: false).map(String.init)
  }
}

/// The literals and simple options of the ABNF of OData 4.01, as data.
@Suite("The ABNF of OData") struct GrammarTests {
  static func either(_ letters: String) -> String {
    letters.map { "\"\($0)\"" }.joined(separator: " | ")
  }

  static let grammar = Grammar([
    "digit": either("0123456789"), "nonzero": either("123456789"),
    "hex": either("0123456789abcdefABCDEF"),
    "letter": either("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"),
    "sign": "'%2B' | '-'", "q": "\"'\" | \"%27\"", "colon": "':' | '%3A'", "comma": "',' | '%2C'",
    "number": "0*1 sign 1* digit 0*1 fraction 0*1 exponent",
    "fraction": "'.' 1* digit", "exponent": "'e' 0*1 sign 1* digit",
    "special": "\"INF\" | \"-INF\" | \"NaN\"", "boolean": "'true' | 'false'", "null": "\"null\"",
    "guid": "8*8 hex '-' 4*4 hex '-' 4*4 hex '-' 4*4 hex '-' 12*12 hex",
    "year": "0*1 minus year4", "minus": "'-'", "year4": "'0' 3*3 digit | nonzero 3* digit",
    "month": "'0' nonzero | '1' month2", "month2": either("012"),
    "day": "'0' nonzero | day1 digit", "day1": either("12"),
    "date": "year '-' month '-' day", "hour": "hour1 digit | '2' hour2", "hour1": either("01"),
    "hour2": either("0123"), "sixty": "sixty1 digit", "sixty1": either("012345"),
    "time": "hour colon sixty 0*1 seconds", "seconds": "colon sixty 0*1 parts",
    "parts": "'.' 1*12 digit",
    "moment": "date 'T' time zone", "zone": "'Z' | sign zonehour colon sixty",
    "zonehour": "'0' digit | '1' zone1", "zone1": either("0123"),
    "duration": "'duration' q 0*1 minus 'P' spans q", "spans": "days | 0*1 days 'T' spantime",
    "days": "1* digit 'D'", "spantime": "hours 0*1 minutes 0*1 rest | minutes 0*1 rest | rest",
    "hours": "1* digit 'H'", "minutes": "1* digit 'M'", "rest": "1* digit 0*1 parts 'S'",
    "string": "q 0* inside q", "inside": "letter | digit | twice | other | joiner",
    // U+0301, U+200D and U+0600, which join the quote beside them.
    "joiner": "\"%CC%81\" | \"%E2%80%8D\" | \"%D8%80\"",
    "twice": "q q", "other": either("!()*,;=:@$&-.~") + " | '%' low hex | '%2' high",
    "low": either("0134567"), "high": either("012345689ABCDEFabcdef"),
    "binary": "'binary' q 0* four 0*1 tail q", "four": "4*4 base", "base": "letter | digit | '-'",
    "tail": "2*2 base tail16 0*1 pad | base tail8 0*1 padpad", "pad": "'='", "padpad": "'=='",
    "tail16": either("AEIMQUYcgkosw048"), "tail8": either("AQgw"),
    "enumeration": "name 1* dotted q member 0* members q", "members": "comma member",
    "dotted": "'.' name",
    "member": "name | 0*1 sign 1* digit", "name": "letter 0* namechar",
    "namechar": "letter | digit",
    "literal": "number | special | boolean | null | guid | date | time | moment | duration | string"
      + " | binary | enumeration",
    "blank": "\"%20\" | \"+\" | \"%09\"", "open": "'(' | '%28'", "close": "')' | '%29'",
    "slash": "'/'", "path": "name 0*2 below", "below": "slash name",
    "top":
      "'$top=' 1* digit | 'skip=' 1* digit | '$count=' boolean | '$index=' 0*1 minus 1*3 digit",
    "order": "'$orderby=' path 0*1 way 0*2 orders", "orders": "',' path 0*1 way",
    "way": "1*2 blank ways", "ways": "'asc' | 'desc'",
    "select": "'$select=' selected 0*2 selects", "selects": "',' selected",
    "selected": "'*' | path | name '.*' | name '.' name slash name | '@' name '.' name",
    "expand": "'$expand=' expanded 0*2 expands", "expands": "',' expanded",
    "expanded": "'*' | '*/$ref' | path | path '/$ref' | path '/$count' | path open inner close",
    "inner": "'$levels=' levels | select | order | top1 | expand | '$filter=' condition",
    "top1": "'$top=' 1*3 digit", "levels": "'max' | nonzero 0*2 digit",
    "condition":
      "path 1*1 blank verb 1*2 blank literal | 'not' blank path | path blank 'in' blank open"
      + " literal close", "verb": "'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge'",
    "filter": "'$filter=' condition 0*2 conditions", "conditions": "blank joint blank condition",
    "joint": "'and' | 'or'", "format": "'$format=' formats",
    "formats": "'json' | 'atom' | 'xml' | 'text/html'",
    "token": "'$skiptoken=' 1*4 tokens | '$deltatoken=' 1*4 tokens",
    "tokens": either("aZ0-._~!()*,;:@/?$'=") + " | \"%26\"",
    "alias": "'@' name '=' literal", "custom": "'sap-' name '=' 0*3 tokens",
    "option": "top | order | select | expand | filter | format | token | alias | custom",
  ])

  @Test(
    "What the rules of literals make is read, and a changed letter is refused unless they allow it")
  func literals() throws {
    var random = SeededGenerator(11)
    let alphabet = Array("0159-:.aEfTZPDHMS'%2BxN+=,_e".utf8).filter { $0 != UInt8(ascii: "+") }
    var refusedMutants = 0
    for _ in 0..<2_000 {
      let text = Self.grammar.make("literal", &random)
      guard isReal(text) else { continue }
      #expect(refusal("A(\(text))") == nil, "\(text)")
      // Other letters that a change makes of these are none of the rules.
      guard !["%CC", "%E2", "%D8"].contains(where: { text.contains($0) }) else { continue }
      var bytes = Array(text.utf8)
      let place = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: bytes.remove(at: place)
      case 1: bytes[place] = alphabet.randomElement(using: &random)!
      default: bytes.insert(alphabet.randomElement(using: &random)!, at: place)
      }
      guard !bytes.isEmpty else { continue }
      let mutant = String(decoding: bytes, as: UTF8.self)
      // The rules are about addresses whose letters and digits stand for themselves.
      guard
        mutant.matches(of: /%(?:3[0-9]|4[1-9a-fA-F]|5[0-9aAfF]|6[1-9a-fA-F]|7[0-9aAeE]|2[dDeE])/)
          .isEmpty
      else { continue }
      let isValid = Self.grammar.accepts("literal", mutant)
      let isRead = refusal("A(\(mutant))") == nil
      if !isValid {
        refusedMutants += 1
        #expect(!isRead, "\(mutant), of \(text)")
      } else if isReal(mutant) {
        #expect(isRead, "\(mutant), of \(text)")
      }
    }
    #expect(refusedMutants > 500)
  }

  /// Days that there are: the rules allow the 31st of February.
  private func isReal(_ text: String) -> Bool {
    guard let dash = text.dropFirst(4).firstIndex(of: "-"), !text.contains("'") else { return true }
    let day = text[dash...].prefix(6).suffix(2)
    return day < "29"
  }

  /// Whether it holds no day that its month may not have.
  private func isRealEverywhere(_ text: String) -> Bool {
    text.matches(of: /-(?:29|30|31)/).isEmpty
  }

  @Test(
    "What the rules of options make is read",
    arguments: [
      "top", "order", "select", "expand", "filter", "format", "token", "alias", "custom",
    ])
  func options(_ rule: String) throws {
    var random = SeededGenerator(5)
    for _ in 0..<400 {
      let text = Self.grammar.make(rule, &random)
      let isText = rule == "token" || rule == "custom"
      // Inside of the query a string writes & as %26.
      guard isText || isRealEverywhere(text) && !text.contains("&") else { continue }
      #expect(refusal("A?\(text)") == nil, "\(text)")
    }
  }
}
