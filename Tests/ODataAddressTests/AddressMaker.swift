import FerryOData
import FerryODataAddress

/// Makes addresses of every form that a version can write. In V4 only numbers that its literals
/// tell apart.
struct AddressMaker {
  var random: SeededGenerator
  let version: ODataVersion
  var variables: [String] = []
  var isNew: Bool { version >= .v4 }

  init(_ seed: UInt64, _ version: ODataVersion) {
    random = SeededGenerator(seed)
    self.version = version
  }

  mutating func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &random) == 0 }
  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
  mutating func pick<T>(_ all: [T]) -> T { all[number(0...(all.count - 1))] }
  mutating func some<T>(_ range: ClosedRange<Int>, _ make: (inout Self) -> T) -> [T] {
    (0..<number(range)).map { _ in make(&self) }
  }

  mutating func name() -> String {
    pick([
      "Orders", "Lines", "Name", "Größe", "_id", "x1", "Preis_€".filter { $0 != "€" }, "in", "any2",
      "desc", "漢字",
    ])
  }

  mutating func qualified() -> String { "NS.\(chance(2) ? "Sub." : "")\(name())" }

  mutating func string() -> String {
    some(0...8) {
      $0.pick([
        "a", "'", "''", "+", "%", "%27", "&", "/", "?", "#", ";", ",", "(", ")", "\"", " ",
        "é", "😀", "\\", "\n", "\u{0}", "=", "@", "$", "%2", "and", ":", "[", "{",
        "\u{301}", "\u{200D}", "\u{600}", "\u{FE0F}",
      ])
    }.joined()
  }

  mutating func value() -> EdmValue {
    let moment = "\(number(1000...9999))-\(number(10...12))-\(number(10...28))"
    let clock = "\(number(10...23)):\(number(10...59)):\(number(10...59)).\(number(1...999))5"
    let guid = EdmGuid(high: random.next(), low: random.next())
    let bytes = some(0...5) { UInt8($0.number(0...255)) }
    let duration = EdmDuration(
      seconds: UInt64(number(0...1_000_000)), picoseconds: UInt64(number(0...999)) * 1_000,
      isNegative: chance(3))
    let decimal = EdmDecimal("\(number(-999...999)).\(number(1...99_999))5") ?? 1
    let both: [EdmValue] = [
      .null, .boolean(chance(2)), .string(string()), .string(string()),
      .int32(Int32(number(-9...9))),
      .int64(Int64(number(3_000_000_000...9_000_000_000_000))), .decimal(decimal), .guid(guid),
      .binary(bytes),
      EdmValue(text: "\(moment)T\(clock)+0\(number(0...9)):30", type: .dateTimeOffset)!,
    ]
    let old: [EdmValue] = [
      .int64(5), .decimal(7), .single(Float(number(1...99)) / 8),
      .double(Double(number(1...99)) * 1e20),
      EdmValue(text: "\(moment)T\(clock)", type: .dateTime)!, .time(duration),
    ]
    let new: [EdmValue] = [
      EdmValue(text: moment, type: .date)!, EdmValue(text: clock, type: .timeOfDay)!,
      .duration(duration), .enumeration("Red,-2", type: qualified()), .double(-.infinity),
      .double(.nan),
      .spatial(
        EdmSpatial(.polygon([[[1, 2], [1.5e30, -4], [1, 2]]]), isGeometry: chance(2), srid: 12)),
      .spatial(EdmSpatial(.collection([.point([1, 2, 3]), .multiPoint([])]), srid: 4_326)),
    ]
    return pick(both + (isNew ? new : old))
  }

  mutating func key() -> ODataPredicate {
    func plain(_ maker: inout Self) -> ODataExpression {
      maker.isNew && maker.chance(5)
        ? .path(ODataPath(.alias(maker.name()), [])) : .literal(maker.value())
    }
    if chance(2) { return .value(plain(&self)) }
    var names: [String] = []
    return .named(
      some(0...3) { ODataNamedValue($0.name(), plain(&$0)) }.filter {
        names.append($0.name)
        return names.filter { [last = $0.name] in $0 == last }.count == 1
      })
  }

  mutating func path(_ depth: Int) -> ODataPath {
    var path = ODataPath(.entry, [.name(variables.last.map { chance(2) ? $0 : name() } ?? name())])
    if isNew, chance(6) {
      path = ODataPath(pick([.it, .this, .root, .alias(name())]), [.name(name())])
    }
    for _ in 0..<number(0...2) {
      path.steps.append(.name(chance(5) ? qualified() : name()))
      if chance(6) {
        path.steps.append(.predicate(.named([.init(name(), expression(depth - 1))])))
      }
    }
    guard isNew, depth > 0 else { return path }
    switch number(0...9) {
    case 0: path.steps.append(.filter(expression(depth - 1)))
    case 1: path.steps.append(.count(chance(2) ? ODataQueryOptions() : counted(depth - 1)))
    case 2: path.steps.append(.annotation(qualified() + (chance(2) ? "#Q" : "")))
    default: break
    }
    return path
  }

  mutating func counted(_ depth: Int) -> ODataQueryOptions {
    var options = ODataQueryOptions()
    options.filter = expression(depth)
    if chance(2) { options.search = pick([.word("x+y"), .not(.phrase("(x;y)"))]) }
    return options
  }

  mutating func expression(_ depth: Int) -> ODataExpression {
    guard depth > 0 else { return chance(2) ? .literal(value()) : .path(path(0)) }
    func inner(_ maker: inout Self) -> ODataExpression { maker.expression(depth - 1) }
    switch number(0...(isNew ? 17 : 10)) {
    case 0: return .literal(value())
    case 1: return .path(path(depth))
    case 2: return .not(inner(&self))
    case 3: return .negate(inner(&self))
    case 4: return .and(some(2...4, inner))
    case 5: return .or(some(2...4, inner))
    case 6, 7:
      let all: [ODataComparison] = [
        .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
      ]
      return .compare(pick(all), inner(&self), inner(&self))
    case 8:
      let all = ODataArithmetic.allCases.filter { isNew || $0 != .divideBy }
      return .arithmetic(pick(all), inner(&self), inner(&self))
    case 9:
      let function = pick(ODataFunction.allCases.filter { $0.isOffered(by: version) })
      return .call(function, (0..<function.arity.upperBound).map { _ in inner(&self) })
    case 10:
      let type = EdmTypeReference(chance(2) ? "Edm.String" : qualified(), isCollection: chance(4))
      let value = chance(3) ? nil : inner(&self)
      return chance(2) ? .cast(value, type) : .isOf(value, type)
    case 11: return .compare(.isIn, inner(&self), .list(some(0...3, inner)))
    case 12: return .compare(.isIn, inner(&self), .array(some(0...3, inner)))
    case 13: return .compare(.has, .path(path(0)), .literal(.enumeration("Red", type: qualified())))
    case 14: return .object(some(0...3) { ODataNamedValue($0.string(), inner(&$0)) })
    case 15: return .choice(some(1...3) { ODataChoice(when: inner(&$0), then: inner(&$0)) })
    default:
      let variable = "v\(variables.count)"
      let collection = ODataPath(name() + "/" + name())
      if chance(6) { return .lambda(ODataLambda(.any, of: collection)) }
      variables.append(variable)
      let predicate = inner(&self)
      variables.removeLast()
      return .lambda(
        ODataLambda(
          chance(2) ? .any : .all, of: collection, variable: variable, predicate: predicate))
    }
  }

  mutating func search(_ depth: Int) -> ODataSearch {
    func inner(_ maker: inout Self) -> ODataSearch { maker.search(depth - 1) }
    switch depth > 0 ? number(0...4) : number(0...1) {
    case 0:
      return .word(pick(["blue", "a;b", "O'Neil", "x+y", "#1", "Δ", "08/15", "a=b&c", "nota"]))
    case 1: return .phrase(pick(["a b", "(x;y)", "AND", "é & %"]))
    case 2: return .not(inner(&self))
    case 3: return .and(some(2...3, inner))
    default: return .or(some(2...3, inner))
    }
  }

  mutating func options(_ depth: Int, isNested: Bool) -> ODataQueryOptions {
    var options = ODataQueryOptions()
    if chance(2) { options.filter = expression(depth) }
    if chance(3) {
      options.orderBy = some(1...3) { ODataOrder($0.expression(1), isDescending: $0.chance(2)) }
    }
    if chance(3) {
      options.select = some(1...3) { maker in
        var item = ODataSelectItem(maker.some(1...2) { $0.name() })
        guard maker.isNew else { return item }
        if maker.chance(5) { item = ODataSelectItem(["NS.*"]) }
        if maker.chance(5) { item.parameters = item.path == ["NS.*"] ? nil : ["A", "B"] }
        if maker.chance(6), item.parameters == nil, depth > 0, item.path != ["NS.*"] {
          item.options.top = 3
          item.options.filter = maker.expression(depth - 1)
        }
        return item
      }
    }
    if chance(3), depth > 0 {
      options.expand = some(1...2) { maker in
        var item = ODataExpandItem(maker.some(1...2) { $0.name() })
        guard maker.isNew else { return item }
        switch maker.number(0...5) {
        case 0: item.content = .references
        case 1: item.content = .count
        case 2: item = ODataExpandItem(["*"])
        case 3: item.options.levels = maker.chance(2) ? .max : .exactly(maker.number(1...9))
        case 4: item.options = maker.options(depth - 1, isNested: true)
        default: break
        }
        return item
      }
    }
    if chance(4) { options.top = number(0...99) }
    if chance(4) { options.skip = number(0...99) }
    if chance(4) { options.count = chance(2) }
    if isNew {
      if chance(4) { options.search = search(2) }
      if chance(4) { options.compute = [ODataComputation(expression(1), as: name())] }
      if chance(4) { options.aliases = [ODataNamedValue("p", expression(depth))] }
    }
    guard !isNested else { return options }
    if chance(5) { options.format = "application/json;odata.metadata=full" }
    if chance(5) { options.skipToken = "t" + string() }
    if chance(5) { options.deltaToken = "t" + string() }
    if chance(3) {
      options.custom = [.init("sap-client", "100"), .init("my " + string(), string())]
    }
    return options
  }

  mutating func address() -> ODataAddress {
    var address = ODataAddress(pick(["", "http://host/s.svc/", "https://h:8443/a/b/"]))
    address.path = [.name(name())]
    for _ in 0..<number(0...3) {
      if chance(2), case .name? = address.path.last { address.path.append(.predicate(key())) }
      switch number(0...4) {
      case 0: address.path.append(.name(qualified()))
      case 1 where isNew: address.path.append(.keySegment("\(number(0...99))-" + string()))
      case 2 where isNew: address.path.append(.filter(expression(2)))
      default: address.path.append(.name(name()))
      }
    }
    if chance(5) { address.path.append(pick([.count, .value] + (isNew ? [.ref, .query] : []))) }
    address.options = options(3, isNested: false)
    return address
  }
}
