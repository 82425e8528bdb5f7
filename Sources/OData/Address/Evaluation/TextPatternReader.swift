import FerryOData

/// Reads the text of a pattern.
struct TextPatternReader {
  typealias Ranges = [ClosedRange<UInt32>]

  static let digitRanges: Ranges = [0x30...0x39]
  static let wordRanges: Ranges = [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A]
  private static let blankRanges: Ranges = [
    0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029,
    0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
  ]
  private static let lineEndRanges: Ranges = [0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029]
  /// Groups inside each other; and how often something may be repeated by number.
  static let depthLimit = 32
  static let repeatLimit = 1_000

  private let scalars: [Unicode.Scalar]
  private var position = 0
  private var depth = 0

  init(_ pattern: String) { scalars = Array(pattern.unicodeScalars) }

  mutating func whole() throws(AddressFault) -> TextPatternTree {
    let tree = try choice()
    guard position == scalars.count else { throw fault("a ) that closes nothing") }
    return tree
  }

  private func fault(_ what: String) -> AddressFault {
    AddressFault(
      .evaluation, "the pattern has \(what) at character \(position + 1)",
      hint: "correct the pattern")
  }

  private func refusal(_ what: String) -> AddressFault {
    AddressFault(
      .notOffered, "\(what) in a pattern is not supported: the search could take too long",
      hint: "write the pattern without it")
  }

  private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    position += 1
    return true
  }

  private mutating func choice() throws(AddressFault) -> TextPatternTree {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.depthLimit else {
      throw AddressFault(
        .limit, "more than \(Self.depthLimit) groups of a pattern inside each other",
        hint: "write it flatter")
    }
    var parts: [TextPatternTree] = []
    repeat {
      var sequence: [TextPatternTree] = []
      while let scalar = next, scalar != "|", scalar != ")" {
        sequence.append(try repetition())
      }
      parts.append(.sequence(sequence))
    } while take("|")
    return parts.count == 1 ? parts[0] : .choice(parts)
  }

  private mutating func repetition() throws(AddressFault) -> TextPatternTree {
    let inner = try atom()
    var bounds: (Int, Int?)?
    if take("*") {
      bounds = (0, nil)
    } else if take("+") {
      bounds = (1, nil)
    } else if take("?") {
      bounds = (0, 1)
    } else if next == "{" {
      bounds = try counts()
    }
    guard let (least, most) = bounds else { return inner }
    // Whether as little or as much as may be is taken does not change whether it is found.
    _ = take("?")
    if let again = next, again == "*" || again == "+" || again == "?" {
      throw fault("\(again) behind a repetition")
    }
    return .repetition(inner, least, most)
  }

  /// `{2}`, `{2,}`, `{2,5}`.
  private mutating func counts() throws(AddressFault) -> (Int, Int?) {
    position += 1
    let least = try number()
    var most: Int? = least
    if take(",") { most = next == "}" ? nil : try number() }
    guard take("}"), most.map({ $0 >= least }) ?? true else { throw fault("a wrong repetition") }
    return (least, most)
  }

  private mutating func number() throws(AddressFault) -> Int {
    var value = 0
    let start = position
    while let scalar = next, let digit = Int(String(scalar)), digit < 10 {
      value = value * 10 + digit
      position += 1
      guard value <= Self.repeatLimit else {
        throw AddressFault(
          .limit, "a repetition of more than \(Self.repeatLimit)", hint: "repeat less")
      }
    }
    guard position > start else { throw fault("no number in a repetition") }
    return value
  }

  private mutating func atom() throws(AddressFault) -> TextPatternTree {
    guard let scalar = next else { return .sequence([]) }
    position += 1
    switch scalar {
    case "^": return .step(.begin)
    case "$": return .step(.end)
    case ".": return .step(.scalar(Self.complement(of: Self.lineEndRanges)))
    case "[": return .step(.scalar(try set()))
    case "(": return try group()
    case "*", "+", "?", "{": throw fault("\(scalar) with nothing to repeat")
    case "\\":
      if take("b") { return .step(.wordEdge(true)) }
      if take("B") { return .step(.wordEdge(false)) }
      return .step(.scalar(try escape()))
    default: return .step(.scalar([scalar.value...scalar.value]))
    }
  }

  private mutating func group() throws(AddressFault) -> TextPatternTree {
    if take("?") {
      if take("<"), next != "=", next != "!" {
        while let scalar = next, scalar != ">" { position += scalar == ")" ? scalars.count : 1 }
        guard take(">") else { throw fault("a name that does not end") }
      } else if !take(":") {
        guard next != nil else { throw fault("a group that does not end") }
        throw refusal("looking ahead or behind")
      }
    }
    let inner = try choice()
    guard take(")") else { throw fault("a group that does not end") }
    return inner
  }

  /// Behind a backslash.
  private mutating func escape() throws(AddressFault) -> Ranges {
    guard let scalar = next else { throw fault("a backslash with nothing behind it") }
    position += 1
    func one(_ value: UInt32) -> Ranges { [value...value] }
    switch scalar {
    case "d": return Self.digitRanges
    case "D": return Self.complement(of: Self.digitRanges)
    case "w": return Self.wordRanges
    case "W": return Self.complement(of: Self.wordRanges)
    case "s": return Self.blankRanges
    case "S": return Self.complement(of: Self.blankRanges)
    case "t": return one(0x09)
    case "n": return one(0x0A)
    case "v": return one(0x0B)
    case "f": return one(0x0C)
    case "r": return one(0x0D)
    case "0": return one(0)
    case "x": return one(try hexadecimal(2))
    case "u": return one(try hexadecimal(4))
    case "1"..."9", "k": throw refusal("a back reference")
    case "p", "P": throw refusal("a class of Unicode")
    case "a"..."z", "A"..."Z": throw fault("\\\(scalar), which means nothing")
    default: return one(scalar.value)
    }
  }

  private mutating func hexadecimal(_ count: Int) throws(AddressFault) -> UInt32 {
    guard position + count <= scalars.count else { throw fault("too few digits") }
    var text = ""
    text.unicodeScalars.append(contentsOf: scalars[position..<position + count])
    guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
      let value = UInt32(text, radix: 16)
    else { throw fault("invalid hexadecimal digits") }
    position += count
    return value
  }

  /// Behind `[`.
  private mutating func set() throws(AddressFault) -> Ranges {
    let isOther = take("^")
    var ranges: Ranges = []
    while !take("]") {
      let first = try member()
      if next == "-", position + 1 < scalars.count, scalars[position + 1] != "]" {
        position += 1
        let last = try member()
        guard first.count == 1, last.count == 1, first[0].count == 1, last[0].count == 1,
          first[0].lowerBound <= last[0].lowerBound
        else { throw fault("an invalid range") }
        ranges.append(first[0].lowerBound...last[0].lowerBound)
      } else {
        ranges += first
      }
    }
    return isOther ? Self.complement(of: ranges) : ranges
  }

  private mutating func member() throws(AddressFault) -> Ranges {
    guard let scalar = next else { throw fault("a [ that does not end") }
    position += 1
    guard scalar == "\\" else { return [scalar.value...scalar.value] }
    return take("b") ? [0x08...0x08] : try escape()
  }

  private static func complement(of ranges: Ranges) -> Ranges {
    var rest: Ranges = []
    var start: UInt32 = 0
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if range.lowerBound > start { rest.append(start...range.lowerBound - 1) }
      start = max(start, range.upperBound + 1)
    }
    if start <= 0x10FFFF { rest.append(start...0x10FFFF) }
    return rest
  }
}
