import FerryModel
import FerrySQLite

/// Writes a query as SQL, and says what is wrong with it.
struct QueryWriter {
  let model: Package
  var parameters: [SQLiteValue] = []
  /// The sources that can be named: the innermost query's last.
  var scopes: [[Place]] = []
  /// Aliases given to sources that have none.
  var given = 0

  init(model: Package) { self.model = model }

  /// What the rows are.
  enum Form {
    /// As the query selects.
    case rows
    /// The system columns and all attributes of this entity, which the query has under its first
    /// alias.
    case objects(Entity)
    /// One number: how many rows there are.
    case count
  }

  typealias Columns = [(name: String, type: AttributeType?)]

  /// A source of the query under its alias.
  struct Place {
    let alias: String
    let entity: Entity?
    /// Of an inner query.
    let columns: Columns
  }

  static func text(
    _ query: RowQuery, _ form: Form, _ model: Package
  ) throws(FerryError) -> QueryText {
    var writer = QueryWriter(model: model)
    var columns: Columns = []
    let sql: String
    switch form {
    case .count where query.isPlain: sql = try writer.select(query, .count, &columns)
    case .count:
      var form = Form.rows
      if query.items.isEmpty, query.groups.isEmpty, case .entity(let name) = query.source.content {
        form = .objects(try writer.entity(name))
      }
      sql = "SELECT count(*) FROM (\(try writer.whole(query, form, &columns)))"
    default: sql = try writer.whole(query, form, &columns)
    }
    return QueryText(sql: sql, parameters: writer.parameters, columns: columns)
  }

  mutating func whole(
    _ query: RowQuery, _ form: Form, _ columns: inout Columns
  ) throws(FerryError) -> String {
    guard !query.parts.isEmpty else {
      return try select(query, form, &columns)
    }
    var first = query
    (first.order, first.taken, first.skipped, first.parts) = ([], nil, 0, [])
    var sql = "SELECT * FROM (\(try select(first, form, &columns)))"
    for part in query.parts {
      var others: Columns = []
      let text = try whole(part.query, form, &others)
      guard others.count == columns.count else {
        throw invalid(
          "the queries of a \(part.composition.rawValue) give \(columns.count) and \(others.count) items",
          hint: "Select the same number of items in both.")
      }
      sql += " \(part.composition.rawValue) SELECT * FROM (\(text))"
    }
    let names = Set(columns.map(\.name))
    let order = try query.order.map { criteria throws(FerryError) -> String in
      let name = criteria.item.plainName
      guard let name, names.contains(name) else {
        throw invalid(
          "a \(query.parts[0].composition.rawValue) cannot be sorted by \(name ?? "an aggregate")",
          hint: "Name an item of it: \(names.sorted().joined(separator: ", ")).")
      }
      let type = columns.first { $0.name == name }?.type
      return quoted(name) + collation(type) + (criteria.isDescending ? " DESC" : "")
    }
    if !order.isEmpty { sql += " ORDER BY \(order.joined(separator: ", "))" }
    return try sql + limit(query)
  }

  private mutating func limit(_ query: RowQuery) throws(FerryError) -> String {
    guard query.taken != nil || query.skipped != 0 else { return "" }
    try RowQuery.checkPage(skip: query.skipped, take: query.taken)
    parameters += [.integer(Int64(query.taken ?? -1)), .integer(Int64(query.skipped))]
    return " LIMIT ? OFFSET ?"
  }

  private mutating func select(
    _ query: RowQuery, _ form: Form, _ columns: inout Columns
  ) throws(FerryError) -> String {
    scopes.append([])
    defer { scopes.removeLast() }
    // The sources first: the items speak of them. Their parameters stand behind those of the items.
    let before = parameters
    parameters = []
    var from = try enter(query.source)
    for join in query.joins {
      let source = try enter(join.source)
      let condition = try self.condition(join)
      from += " \(join.isOuter ? "LEFT JOIN" : "JOIN") \(source) ON \(condition)"
    }
    let sourceParameters = parameters
    parameters = before
    let items = try self.items(query, form, &columns)
    parameters += sourceParameters
    let start = "SELECT \(query.isDistinct ? "DISTINCT " : "")\(items) FROM "
    let rest = try from + tests(query)
    if case .count = form { return start + rest }
    let order = try self.order(query, form, columns)
    guard case .objects(let entity) = form, !query.joins.isEmpty else {
      return try start + rest + order + limit(query)
    }
    // Which objects, and the place of each; then the objects themselves.
    let object = "\(quoted(query.source.alias))._id"
    let page = try limit(query)
    // No attribute has a point in its name.
    return "\(start)\(Schema.table(entity)) JOIN (SELECT \(object) AS \"ferry.id\","
      + " row_number() OVER (\(order.dropFirst())) AS \"ferry.place\" FROM \(rest)"
      + " GROUP BY \(object) ORDER BY \"ferry.place\"\(page))"
      + " ON _id = \"ferry.id\" ORDER BY \"ferry.place\""
  }

  private mutating func tests(_ query: RowQuery) throws(FerryError) -> String {
    var sql = ""
    var tests: [String] = []
    if let test = query.test { tests.append(try write(test.content)) }
    if let filter = query.filter { tests.append(try write(.pending(filter))) }
    if !tests.isEmpty { sql += " WHERE \(tests.joined(separator: " AND "))" }
    if !query.groups.isEmpty {
      let groups = try query.groups.map { item throws(FerryError) in try write(item).sql }
      sql += " GROUP BY \(groups.joined(separator: ", "))"
    }
    if let test = query.groupTest { sql += " HAVING \(try write(test.content))" }
    return sql
  }

  private mutating func order(
    _ query: RowQuery, _ form: Form, _ columns: Columns
  ) throws(FerryError) -> String {
    let names = Set(query.items.compactMap(\.name))
    var order = try query.order.map { criteria throws(FerryError) -> String in
      let direction = criteria.isDescending ? " DESC" : ""
      if case .named(let name) = criteria.item.content {
        guard names.contains(name) else {
          let (sql, type) = try write(SelectItem(name))
          return sql + collation(type) + direction
        }
        let type = columns.first { $0.name == name }?.type
        return quoted(name) + collation(type) + direction
      }
      let (sql, type) = try write(criteria.item)
      return sql + collation(type) + direction
    }
    // So that skip and take walk through the same row of objects each time.
    if case .objects = form { order.append("\(quoted(query.source.alias))._id") }
    return order.isEmpty ? "" : " ORDER BY \(order.joined(separator: ", "))"
  }

  private mutating func items(
    _ query: RowQuery, _ form: Form, _ columns: inout Columns
  ) throws(FerryError) -> String {
    switch form {
    case .count: return "count(*)"
    case .objects(let entity):
      guard case .entity(entity.name) = query.source.content else {
        throw invalid(
          "a query from \(query.source.alias) gives no \(entity.name) objects",
          hint: "Begin it with Query(from: \(entity.name).self), or take its rows.")
      }
      columns = entity.attributes.map { ($0.name, $0.type) }
      return Rows.visibleColumns(of: entity)
    case .rows: break
    }
    var items = query.items
    if items.isEmpty {
      items =
        (scopes.last?.first).map { place in
          place.entity?.attributes.map { SelectItem("\(place.alias).\($0.name)") }
            ?? place.columns.map { SelectItem("\(place.alias).\($0.name)") }
        } ?? []
    }
    var texts: [String] = []
    for item in items {
      let (sql, type) = try write(item)
      let name = item.name ?? item.plainName ?? item.shown
      columns.append((name, type))
      texts.append("\(sql) AS \(quoted(name))")
    }
    return texts.joined(separator: ", ")
  }

  // Sources.

  private mutating func enter(_ source: RowQuery.Source) throws(FerryError) -> String {
    let last = scopes.count - 1
    guard !scopes[last].contains(where: { $0.alias == source.alias }) else {
      throw invalid(
        "two sources of the query are called \(source.alias)",
        hint: "Give one of them another alias with `as:`.")
    }
    switch source.content {
    case .entity(let name):
      let entity = try entity(name)
      scopes[last].append(Place(alias: source.alias, entity: entity, columns: []))
      return source.alias == entity.name
        ? Schema.table(entity) : "\(Schema.table(entity)) AS \(quoted(source.alias))"
    case .query(let query):
      var columns: Columns = []
      // An inner query in FROM does not see the sources beside it.
      let hidden = scopes.removeLast()
      let sql = try whole(query, .rows, &columns)
      scopes.append(hidden + [Place(alias: source.alias, entity: nil, columns: columns)])
      return "(\(sql)) AS \(quoted(source.alias))"
    }
  }

  private mutating func condition(_ join: RowQuery.Join) throws(FerryError) -> String {
    switch join.condition {
    case .test(let test):
      // Two that have none do not belong together.
      if case .compare(let left, .equal, .item(let right)) = test.content {
        return "\(try write(left).sql) = \(try write(right).sql)"
      }
      return try write(test.content)
    case .relationship(let entity, let source, let name, let inverse):
      let owner = try place(of: entity, source)
      return try pairs(owner, entity, name, inverse, join.source)
    }
  }

  /// The attributes by which two sources hang together.
  func pairs(
    _ owner: String, _ entityName: String, _ name: String, _ inverse: String?,
    _ other: RowQuery.Source
  ) throws(FerryError) -> String {
    guard case .entity(let target) = other.content else { return "1" }
    let many = try entity(inverse == nil ? entityName : target)
    guard let relationship = many.relationship(named: inverse ?? name) else {
      throw unknown(
        "relationship", inverse ?? name, of: many.name, many.relationships.map(\.name))
    }
    let (from, to) = inverse == nil ? (owner, other.alias) : (other.alias, owner)
    return zip(relationship.attributes, relationship.targetAttributes).map {
      "\(quoted(from)).\(quoted($0)) = \(quoted(to)).\(quoted($1))"
    }.joined(separator: " AND ")
  }

  func place(of entity: String, _ alias: String?) throws(FerryError) -> String {
    for scope in scopes.reversed() {
      for place in scope where place.entity?.name == entity {
        if alias == nil || place.alias == alias { return place.alias }
      }
    }
    throw invalid(
      "the query has no \(alias ?? entity)", hint: "Join \(entity), or begin the query with it.")
  }

  // Items.

  /// An item as SQL, and its type where it has one.
  mutating func write(
    _ item: SelectItem
  ) throws(FerryError) -> (sql: String, type: AttributeType?) {
    switch item.content {
    case .named(let name): return (quoted(name), nil)
    case .attribute(let source, let entity, let name): return try column(source, entity, name)
    case .aggregate(let aggregate, nil): return ("\(aggregate.rawValue)(*)", .long)
    case .aggregate(let aggregate, let inner?):
      let (sql, type) = try write(inner)
      switch aggregate {
      case .count: return ("count(\(item.isDistinct ? "DISTINCT " : "")\(sql))", .long)
      case .sum where type == .decimal || type == .integer: return ("ferry_sum(\(sql))", type)
      case .sum: return ("sum(\(sql))", type?.isWhole == true ? .long : type == nil ? nil : .double)
      case .avg: return ("avg(\(sql))", .double)
      case .min, .max: return ("\(aggregate.rawValue)(\(sql)\(collation(type)))", type)
      }
    }
  }

  private func column(
    _ alias: String?, _ entity: String?, _ name: String
  ) throws(FerryError) -> (sql: String, type: AttributeType?) {
    let (place, type) = try attribute(alias, entity, name)
    let isAlone = scopes.count == 1 && scopes[0].count == 1
    return ((isAlone ? "" : "\(quoted(place.alias)).") + quoted(name), type)
  }

  /// The source that has the attribute, and its type.
  func attribute(
    _ alias: String?, _ entity: String?, _ name: String
  ) throws(FerryError) -> (Place, AttributeType?) {
    var known: [String] = []
    for scope in scopes.reversed() {
      for place in scope {
        known.append(place.alias)
        if let alias, place.alias != alias { continue }
        if let entity, place.entity?.name != entity { continue }
        if let attribute = place.entity?.attribute(named: name) { return (place, attribute.type) }
        if let column = place.columns.first(where: { $0.name == name }) {
          return (place, column.type)
        }
        guard alias != nil || entity != nil else { continue }
        let names = place.entity?.attributes.map(\.name) ?? place.columns.map(\.name)
        throw unknown("attribute", name, of: place.alias, names)
      }
    }
    if let missing = alias ?? entity {
      throw invalid(
        "the query has no \(missing), whose \(name) it names",
        hint: "It has \(known.joined(separator: ", ")); join the other one.")
    }
    let names = scopes.joined().flatMap { $0.entity?.attributes.map(\.name) ?? [] }
    throw unknown("attribute", name, of: known.joined(separator: ", "), names)
  }

  // What is wrong.

  func canonical(
    _ value: AttributeValue, _ type: AttributeType?, _ item: SelectItem
  ) throws(FerryError) -> SQLiteValue {
    guard let type else { return value.stored }
    guard let canonical = type.comparable(value) else {
      throw invalid(
        "\(item.shown) is a \(type.rawValue) and cannot be compared with \(value.shown)",
        hint: "Give a value of that type.")
    }
    return canonical.stored
  }

  func entity(_ name: String) throws(FerryError) -> Entity {
    if let entity = model.entity(named: name) { return entity }
    throw unknown("entity", name, of: model.id, model.entities.map(\.name))
  }

  func unknown(
    _ kind: String, _ name: String, of owner: String, _ known: [String]
  ) -> FerryError {
    invalid("\(owner) has no \(kind) \(name)", hint: NearestWord.cure(name, among: known))
  }

  func invalid(_ problem: String, hint: String) -> FerryError {
    FerryError(.invalidQuery, problem, hint: hint)
  }
}

/// Decimals and unbounded integers are texts that are numbers.
func collation(_ type: AttributeType?) -> String {
  type == .decimal || type == .integer ? " COLLATE ferry_decimal" : ""
}
