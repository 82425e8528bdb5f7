import FerryModel
import FerrySQLite

extension QueryWriter {
  mutating func write(_ test: TestCriteria.Content) throws(FerryError) -> String {
    switch test {
    case .constant(let holds): return holds ? "1" : "0"
    case .compare(let item, let comparison, .value(let value)):
      return try compare(item, comparison, value)
    case .compare(let item, let comparison, .item(let other)):
      let (left, type) = try write(item)
      let right = try write(other).sql
      if comparison == .equal { return "\(left) IS \(right)" }
      return "\(left) \(comparison.rawValue) \(right)\(collation(type))"
    case .like(let item, let pattern):
      let sql = try write(item).sql
      parameters.append(.text(pattern))
      return "\(sql) LIKE ? ESCAPE '\\'"
    case .inList(let item, let values): return try inList(item, values)
    case .inQuery(let item, let query):
      let left = try write(item).sql
      return "\(left) IN (\(try innerQuery(query, items: 1)))"
    case .invalid(let problem, let hint): throw invalid(problem, hint: hint)
    case .exists(let query): return "EXISTS (\(try innerQuery(query, items: nil)))"
    case .related(let entity, let name, let inverse, let target, let test):
      return try related(entity, name, inverse, target, test)
    case .fullText(let entity, let words): return try fullText(entity, words)
    case .match(let item, let words): return try match(item, words)
    case .object(let entity, let object):
      parameters.append(.integer(object))
      return "\(quoted(try place(of: entity, nil)))._id = ?"
    case .pending(let filter): return pending(filter)
    case .and(let tests): return try several(tests, " AND ", none: "1")
    case .or(let tests): return try several(tests, " OR ", none: "0")
    case .not(.compare(let item, .equal, .value(let value))) where !value.isNull:
      let (sql, type) = try write(item)
      guard !isTemporary(value, type) else {
        return "\(try compare(item, .equal, value)) IS NOT TRUE"
      }
      parameters.append(try canonical(value, type, item))
      return "\(sql) IS NOT ?"
    case .not(.compare(let item, .equal, .value(.null))):
      return "\(try write(item).sql) IS NOT NULL"
    case .not(let test): return "(\(try write(test))) IS NOT TRUE"
    }
  }

  private mutating func several(
    _ tests: [TestCriteria.Content], _ word: String, none: String
  ) throws(FerryError) -> String {
    let texts = try tests.map { test throws(FerryError) in try write(test) }
    return texts.isEmpty ? none : "(\(texts.joined(separator: word)))"
  }

  private mutating func compare(
    _ item: SelectItem, _ comparison: TestCriteria.Comparison, _ value: AttributeValue
  ) throws(FerryError) -> String {
    let (sql, type) = try write(item)
    guard !value.isNull else { return comparison == .equal ? "\(sql) IS NULL" : "0" }
    parameters.append(try canonical(value, type, item))
    guard comparison != .equal else {
      let former = try replaced(item, sql, type, [value])
      return former.map { "(\(sql) = ? OR \($0))" } ?? "\(sql) = ?"
    }
    return "\(sql) \(comparison.rawValue) ?\(collation(type))"
  }

  private mutating func inList(
    _ item: SelectItem, _ values: [AttributeValue]
  ) throws(FerryError) -> String {
    let (sql, type) = try write(item)
    let present = try values.filter { !$0.isNull }.map { value throws(FerryError) in
      try canonical(value, type, item)
    }
    let hasNull = present.count < values.count
    var tests: [String] = hasNull ? ["\(sql) IS NULL"] : []
    if let list = SQLiteValue.list(present) {
      // One text for lists of every length.
      parameters.append(.text(list))
      tests.append("\(sql) IN (SELECT value FROM json_each(?))")
    } else {
      parameters += present
      tests.append("\(sql) IN (\(present.map { _ in "?" }.joined(separator: ", ")))")
    }
    if let former = try replaced(item, sql, type, values) { tests.append(former) }
    return "(\(tests.joined(separator: " OR ")))"
  }

  private mutating func innerQuery(
    _ query: RowQuery, items expected: Int?
  ) throws(FerryError) -> String {
    var columns: Columns = []
    let sql = try whole(query, .rows, &columns)
    guard expected == nil || columns.count == expected else {
      throw invalid(
        "an inner query behind `in` gives \(columns.count) items", hint: "Select one.")
    }
    return sql
  }

  private mutating func related(
    _ entity: String, _ name: String, _ inverse: String?, _ target: String,
    _ test: TestCriteria.Content
  ) throws(FerryError) -> String {
    let owner = try place(of: entity, nil)
    given += 1
    let alias = "ferry.\(given)"
    let other = RowQuery.Source(content: .entity(target), alias: alias)
    let ties = try pairs(owner, entity, name, inverse, other)
    let targetEntity = try self.entity(target)
    scopes.append([Place(alias: alias, entity: targetEntity, columns: [])])
    defer { scopes.removeLast() }
    let condition = try write(test)
    return "EXISTS (SELECT 1 FROM \(Schema.table(targetEntity)) AS \(quoted(alias))"
      + " WHERE \(ties) AND \(condition))"
  }

  private mutating func fullText(_ name: String, _ words: String) throws(FerryError) -> String {
    let entity = try self.entity(name)
    guard !entity.searched.isEmpty else { throw unmarked(entity, name) }
    return found(in: entity, try place(of: name, nil), SearchWords(words).expression)
  }

  /// Words in one attribute: FTS5's column filter.
  private mutating func match(
    _ item: SelectItem, _ words: String
  ) throws(FerryError) -> String {
    guard case .attribute(let source, let name, let attribute) = item.content else {
      throw invalid(
        "\(item.shown) cannot be searched for words", hint: "Name an attribute of an entity.")
    }
    let (place, _) = try self.attribute(source, name, attribute)
    guard let entity = place.entity else {
      throw invalid(
        "\(place.alias).\(attribute) is of an inner query, which cannot be searched for words",
        hint: "Search inside of it.")
    }
    guard let marked = entity.searched.first(where: { $0.name == attribute }) else {
      throw unmarked(entity, "\(place.alias).\(attribute)")
    }
    return found(
      in: entity, place.alias, "\(quoted(marked.name)) : (\(SearchWords(words).expression))")
  }

  private mutating func found(
    in entity: Entity, _ alias: String, _ expression: String
  ) -> String {
    parameters.append(.text(expression))
    let index = Schema.textIndex(entity)
    return "\(quoted(alias))._id IN (SELECT rowid FROM \(index) WHERE \(index) MATCH ?)"
  }

  private func unmarked(_ entity: Entity, _ shown: String) -> FerryError {
    guard !entity.searched.isEmpty else {
      return invalid(
        "\(entity.name) has no attribute for full-text search",
        hint: "Mark its texts with \"fullText\": true in the model.")
    }
    let marked = entity.searched.map(\.name).joined(separator: ", ")
    return invalid(
      "\(shown) is not marked for full-text search",
      hint: "Marked are \(marked); mark it with \"fullText\": true in the model.")
  }

  private func pending(_ filter: EntityFilter) -> String {
    guard filter.rawValue < EntityFilter.all.rawValue, let place = scopes.last?.first else {
      return "1"
    }
    let column = "\(quoted(place.alias))._pending"
    // An owner is pending with its parts, though nothing of itself is.
    let letter =
      place.entity.map { Rows.pendingLetter(of: $0, place: "\(quoted(place.alias)).") } ?? column
    let tests: [(EntityFilter, String)] = [
      (.pending, "\(letter) <> 'N'"), (.notPending, "\(letter) = 'N'"),
      (.created, "\(column) = 'C'"), (.notCreated, "\(column) <> 'C'"),
      (.updated, "\(column) = 'U'"), (.notUpdated, "\(column) <> 'U'"),
      (.deleted, "\(column) = 'D'"), (.notDeleted, "\(column) <> 'D'"),
    ]
    let wanted = tests.filter { filter.contains($0.0) }.map(\.1)
    return wanted.isEmpty ? "1" : "(\(wanted.joined(separator: " AND ")))"
  }
}
