/// What the context address of V4 says of the members of an entity: only a navigation property that
/// is expanded has parentheses or a plus there, as in `#Items(ID,Product(Name),Parts+)`.
struct JSONSelection {
  /// No entity of a service is expanded deeper; what is does not count as expanded.
  private static let depthLimit = 100

  private(set) var isExpanded = false
  private(set) var members: [String: JSONSelection] = [:]

  private init() {}

  /// Nil where the address names nothing that is expanded.
  init?(context: String) {
    guard let hash = context.utf8.firstIndex(of: UInt8(ascii: "#")) else { return nil }
    let fragment = Array(context.utf8[context.utf8.index(after: hash)...])
    guard let list = Self.list(in: fragment) else { return nil }
    var place = list.lowerBound
    guard read(fragment, &place, depth: 0), place == list.upperBound, !members.isEmpty else {
      return nil
    }
  }

  /// The parentheses at the end; those before it hold keys, where quotes hide brackets.
  private static func list(in fragment: [UInt8]) -> Range<Int>? {
    var end = fragment.count
    for suffix in ["/$entity", "/$delta"]
    where fragment[..<end].suffix(suffix.utf8.count).elementsEqual(suffix.utf8) {
      end -= suffix.utf8.count
    }
    var depth = 0
    var start: Int?
    var isQuoted = false
    for place in 0..<end {
      switch fragment[place] {
      case UInt8(ascii: "'"): isQuoted.toggle()
      case UInt8(ascii: "(") where !isQuoted:
        if depth == 0 { start = place + 1 }
        depth += 1
      case UInt8(ascii: ")") where !isQuoted:
        depth -= 1
        if depth < 0 { return nil }
        if depth == 0, place == end - 1 { return start.map { $0..<end } }
      default: break
      }
    }
    return nil
  }

  /// Reads `A,B/C,D(E)` up to and with the parenthesis that closes it; false where it is no list.
  private mutating func read(_ text: [UInt8], _ place: inout Int, depth: Int) -> Bool {
    var path: [String] = []
    var isExpanded = false
    var start = place
    while place < text.count {
      let byte = text[place]
      guard Self.marks.contains(byte) else {
        place += 1
        continue
      }
      if start < place {
        let name = String(decoding: text[start..<place], as: UTF8.self)
        // A type on the way is no member.
        if !name.utf8.contains(UInt8(ascii: ".")) { path.append(name) }
      }
      place += 1
      start = place
      let level = depth + path.count
      guard level < Self.depthLimit else { return false }
      switch byte {
      case UInt8(ascii: "/"): continue
      case UInt8(ascii: "+"): isExpanded = true
      case UInt8(ascii: "("):
        var inner = JSONSelection()
        inner.isExpanded = true
        guard inner.read(text, &place, depth: level) else { return false }
        start = place
        add(inner, path[...])
        (path, isExpanded) = ([], false)
      default:
        if isExpanded {
          var leaf = JSONSelection()
          leaf.isExpanded = true
          add(leaf, path[...])
        }
        (path, isExpanded) = ([], false)
        if byte == UInt8(ascii: ")") { return true }
      }
    }
    return false
  }

  private static let marks: Set<UInt8> = Set("/+(),".utf8)

  private mutating func add(_ inner: JSONSelection, _ path: ArraySlice<String>) {
    guard let first = path.first else { return }
    guard path.count > 1 else {
      members[first] = inner
      return
    }
    members[first, default: JSONSelection()].add(inner, path.dropFirst())
  }
}
