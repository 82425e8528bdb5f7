import FerryModel

/// Which rows of which entities a query's result hangs on.
package struct QueryDependencies: Sendable {
  /// By entity: a changed row matters if one of the tests says so.
  package private(set) var tests: [String: [RowTest]] = [:]
  private let model: Package

  package init(_ query: RowQuery, _ model: Package) {
    self.model = model
    add(query)
  }

  /// The same, and everything of the entities that `paths` lead over.
  package init<Object: BusinessObject>(
    _ query: RowQuery, with paths: [any RelationshipPath<Object>], _ model: Package
  ) {
    self.init(query, model)
    for path in paths { for step in path.steps { tests[step.target] = [.any] } }
  }

  /// Everything of these entities.
  package init(all entities: [String], _ model: Package) {
    self.model = model
    for name in entities { tests[name] = [.any] }
  }

  package func concern(_ changes: RowChanges) -> Bool {
    changes.entities.contains { name, extent in
      guard let tests = tests[name] else { return false }
      guard case .rows(let rows) = extent else { return true }
      return rows.contains { row in tests.contains { $0.mayConcern(row) } }
    }
  }

  private mutating func add(_ query: RowQuery) {
    let isAlone = query.joins.isEmpty
    var entities: Set<String> = []
    add(query.source, query.test, isAlone: isAlone, after: &entities)
    for join in query.joins {
      // Of an outer join a row matters also where it does not pass: it may take a row's place that
      // has nobody at the other end.
      add(join.source, join.isOuter ? nil : query.test, isAlone: false, after: &entities)
      if case .test(let test) = join.condition { addInner(test.content) }
    }
    if let test = query.test { addInner(test.content) }
    if let test = query.groupTest { addInner(test.content) }
    for part in query.parts { add(part.query) }
  }

  /// `entities` are those of the query's sources before this one.
  private mutating func add(
    _ source: RowQuery.Source, _ test: TestCriteria?, isAlone: Bool,
    after entities: inout Set<String>
  ) {
    switch source.content {
    case .query(let query): add(query)
    case .entity(let name):
      guard let entity = model.entity(named: name) else { return }
      let isFirst = entities.insert(name).inserted
      let rowTest = test.map {
        RowTest($0.content, entity, alias: source.alias, isAlone: isAlone, isFirst: isFirst)
      }
      tests[name, default: []].append(rowTest ?? .any)
    }
  }

  /// What a test asks of other entities.
  private mutating func addInner(_ test: TestCriteria.Content) {
    switch test {
    case .inQuery(_, let query), .exists(let query): add(query)
    case .related(_, _, _, let target, let inner):
      if let entity = model.entity(named: target) {
        tests[target, default: []].append(
          RowTest(inner, entity, alias: nil, isAlone: true))
      }
      addInner(inner)
    case .and(let tests), .or(let tests): for test in tests { addInner(test) }
    case .not(let test): addInner(test)
    case .constant, .compare, .like, .inList, .invalid, .fullText, .match, .object,
      .pending:
      break
    }
  }
}
