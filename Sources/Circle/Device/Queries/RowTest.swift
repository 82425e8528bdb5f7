import FerryModel

/// A query's test of one entity's rows, held against values in memory: may a changed row have been
/// in the result, or be in it now?
///
/// What cannot be known from the row alone (other tables, full-text search) is left open, and an
/// open question is a yes: a query is run once too often rather than once too little.
package struct RowTest: Sendable {
  private indirect enum Node: Sendable {
    case open
    case constant(Bool)
    case compare(Int, AttributeType, TestCriteria.Comparison, AttributeValue)
    case pair(Int, AttributeType, TestCriteria.Comparison, Int)
    case like(Int, LikePattern)
    case list(Int, Set<AttributeValue>)
    case object(Int64)
    case and([Node])
    case or([Node])
    case not(Node)
  }

  private let node: Node

  /// Every row.
  package static let any = RowTest(node: .open)

  private init(node: Node) { self.node = node }

  /// `alias` is the entity's in the query; `isAlone` where no other source has attributes; `isFirst`
  /// where no source before it is of the same entity.
  init(
    _ test: TestCriteria.Content, _ entity: Entity, alias: String?, isAlone: Bool,
    isFirst: Bool = true
  ) {
    let names = Names(entity: entity, alias: alias, isAlone: isAlone, isFirst: isFirst)
    node = RowTest.node(test, names)
  }

  package func mayConcern(_ change: RowChange) -> Bool {
    [change.before, change.after].contains { values in
      values.map { RowTest.holds(node, $0, change.object) ?? true } ?? false
    }
  }

  // Making it.

  private struct Names {
    let entity: Entity
    let alias: String?
    let isAlone: Bool
    let isFirst: Bool

    func place(_ item: SelectItem) -> (Int, AttributeType)? {
      guard case .attribute(let source, let name, let attribute) = item.content,
        // Without an alias an attribute is the first source's that is of its entity.
        source.map({ $0 == alias }) ?? isFirst, name == nil || name == entity.name,
        isAlone || source != nil || name != nil, let place = entity.position(of: attribute)
      else { return nil }
      return (place, entity.attributes[place].type)
    }
  }

  private static func node(_ test: TestCriteria.Content, _ names: Names) -> Node {
    switch test {
    case .constant(let holds): return .constant(holds)
    case .compare(let item, let comparison, .value(let value)):
      guard let (place, type) = names.place(item), let value = type.comparable(value),
        // The object may have another key when the row is looked at.
        comparison != .equal || !type.isTemporaryKey(value)
      else { return .open }
      return .compare(place, type, comparison, value)
    case .compare(let item, let comparison, .item(let other)):
      guard let (left, type) = names.place(item), let (right, otherType) = names.place(other),
        type == otherType
      else { return .open }
      return .pair(left, type, comparison, right)
    case .like(let item, let pattern):
      guard let (place, type) = names.place(item), type == .string else { return .open }
      return .like(place, LikePattern(pattern))
    case .inList(let item, let values):
      guard let (place, type) = names.place(item) else { return .open }
      let known = values.compactMap { type.comparable($0) }
      guard known.count == values.count, !known.contains(where: type.isTemporaryKey) else {
        return .open
      }
      return .list(place, Set(known))
    case .object(let entity, let object):
      return entity == names.entity.name && names.isFirst ? .object(object) : .open
    case .and(let tests): return .and(tests.map { node($0, names) })
    case .or(let tests): return .or(tests.map { node($0, names) })
    case .not(let test): return .not(node(test, names))
    case .inQuery, .invalid, .exists, .related, .fullText, .match, .pending: return .open
    }
  }

  // Holding it against a row.

  /// Nil where the row alone does not say.
  private static func holds(_ node: Node, _ values: [AttributeValue], _ object: Int64) -> Bool? {
    switch node {
    case .open: return nil
    case .constant(let holds): return holds
    case .compare(let place, let type, let comparison, let value):
      return compare(values[place], comparison, value, type)
    case .pair(let left, let type, let comparison, let right):
      return compare(values[left], comparison, values[right], type)
    case .like(let place, let pattern):
      if case .text(let text) = values[place] { return pattern.matches(text) }
      return false
    case .list(let place, let known): return known.contains(values[place])
    case .object(let wanted): return wanted == object
    case .and(let nodes):
      var isOpen = false
      for node in nodes {
        guard let holds = holds(node, values, object) else {
          isOpen = true
          continue
        }
        if !holds { return false }
      }
      return isOpen ? nil : true
    case .or(let nodes):
      var isOpen = false
      for node in nodes {
        guard let holds = holds(node, values, object) else {
          isOpen = true
          continue
        }
        if holds { return true }
      }
      return isOpen ? nil : false
    case .not(let node): return holds(node, values, object).map { !$0 }
    }
  }

  private static func compare(
    _ left: AttributeValue, _ comparison: TestCriteria.Comparison, _ right: AttributeValue,
    _ type: AttributeType
  ) -> Bool? {
    if left.isNull || right.isNull {
      return comparison == .equal && left.isNull && right.isNull
    }
    guard let order = left.order(to: right, type) else { return nil }
    return switch comparison {
    case .equal: order == 0
    case .less: order < 0
    case .lessEqual: order <= 0
    case .greater: order > 0
    case .greaterEqual: order >= 0
    }
  }
}

extension AttributeValue {
  /// Less than 0 when this one comes first, as SQLite sorts values of this type; nil for two of
  /// different kinds.
  package func order(to other: AttributeValue, _ type: AttributeType) -> Int? {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): return left < right ? -1 : left > right ? 1 : 0
    case (.boolean(let left), .boolean(let right)): return left == right ? 0 : left ? 1 : -1
    case (.double(let left), .double(let right)): return left < right ? -1 : left > right ? 1 : 0
    case (.integer(let left), .double(let right)):
      return Double(left) < right ? -1 : Double(left) > right ? 1 : 0
    case (.text(let left), .text(let right)) where type == .decimal || type == .integer:
      return DecimalText.compare(left, right)
    case (.text(let left), .text(let right)): return RowTest.order(left.utf8, right.utf8)
    case (.bytes(let left), .bytes(let right)): return RowTest.order(left, right)
    default: return nil
    }
  }
}

extension RowTest {
  fileprivate static func order(
    _ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>
  ) -> Int {
    var others = right.makeIterator()
    for byte in left {
      guard let other = others.next() else { return 1 }
      if byte != other { return byte < other ? -1 : 1 }
    }
    return others.next() == nil ? 0 : -1
  }
}

/// SQL's LIKE, as SQLite does it: letters A to Z without case, `\` takes what follows literally.
struct LikePattern: Sendable {
  private enum Piece: Equatable { case any, one, scalar(UInt32) }
  private let pieces: [Piece]

  init(_ pattern: String) {
    var pieces: [Piece] = []
    var isLiteral = false
    for scalar in pattern.unicodeScalars {
      switch scalar {
      case "\\" where !isLiteral:
        isLiteral = true
        continue
      case "%" where !isLiteral: if pieces.last != .any { pieces.append(.any) }
      case "_" where !isLiteral: pieces.append(.one)
      default: pieces.append(.scalar(LikePattern.folded(scalar)))
      }
      isLiteral = false
    }
    self.pieces = pieces
  }

  func matches(_ text: String) -> Bool {
    let letters = text.unicodeScalars.map(LikePattern.folded)
    var (letter, piece) = (0, 0)
    var retry: (letter: Int, piece: Int)?
    while letter < letters.count {
      if piece < pieces.count, pieces[piece] == .any {
        retry = (letter, piece + 1)
        piece += 1
      } else if piece < pieces.count,
        pieces[piece] == .one || pieces[piece] == .scalar(letters[letter])
      {
        letter += 1
        piece += 1
      } else if let again = retry {
        retry = (again.letter + 1, again.piece)
        (letter, piece) = (again.letter + 1, again.piece)
      } else {
        return false
      }
    }
    return pieces[piece...].allSatisfy { $0 == .any }
  }

  private static func folded(_ scalar: Unicode.Scalar) -> UInt32 {
    (65...90).contains(scalar.value) ? scalar.value + 32 : scalar.value
  }
}
