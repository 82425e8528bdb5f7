import FerryConnector
import FerryModel
import FerryPostgreSQL
import Testing

@testable import FerryPostgreSQLConnector

/// Groups that are done together come to what each would come to alone.
@Suite("Groups that PostgreSQL does together")
struct GroupBlockTests {
  private static let parcels: String = """
    CREATE TABLE item (id int8 PRIMARY KEY, name varchar(5) CHECK (name <> 'bad'),
      at timestamptz, price numeric(8, 2));
    INSERT INTO item VALUES (1, 'a'), (2, 'a'), (3, 'hers'), (4, 'a'), (5, 'a'), (6, 'a')
    """

  private static func operation(
    _ stage: ReplayStage, _ number: Int64, _ kind: OperationKind, _ key: Int64,
    _ name: String? = nil, base: String? = "a", judge: RowJudge? = nil
  ) -> [ConnectorOperation] {
    [
      ConnectorOperation(
        id: stage.create(1_000 + number).id, entity: stage.item, kind: kind,
        key: ObjectKey([.integer(key)]), changed: name.map { [1: .text($0)] } ?? [:],
        base: base.map { kind == .create ? [:] : [1: .text($0)] } ?? [:], judge: judge, user: "ada")
    ]
  }

  /// What each came to: a name afterwards, or the code of its refusal.
  private static func ends(_ stage: ReplayStage, _ groups: [[ConnectorOperation]]) -> [String] {
    var ends: [String] = []
    while ends.count < groups.count {
      let results = stage.connector.perform(Array(groups[ends.count...]), while: { true })
      for result in results {
        switch result {
        case .done(let outcomes, let touched):
          if case .refused(let refusal)? = outcomes.first {
            ends.append(String(refusal.code))
          } else {
            ends.append(touched.first.map(name) ?? "no image")
          }
        default: ends.append("not done")
        }
      }
    }
    return ends
  }

  private static func name(_ image: RowImage) -> String {
    guard let values = image.values else { return "gone" }
    if case .text(let name) = values[1] { return name }
    return "no name"
  }

  private static func rows(_ stage: ReplayStage) throws -> [[String?]] {
    try stage.other.rows("SELECT id, name FROM item ORDER BY id").texts
  }

  /// The same groups in one call, and each in a call of its own.
  private static func compare(
    _ make: (ReplayStage) -> [[ConnectorOperation]], _ expected: [String]
  ) throws {
    let stage = try ReplayStage(parcels)
    let alone = try ReplayStage(parcels)
    let together = ends(stage, make(stage))
    #expect(together == expected)
    #expect(make(alone).flatMap { ends(alone, [$0]) } == expected)
    #expect(try rows(stage) == rows(alone))
    let applied = "SELECT operation, result FROM ferry.applied ORDER BY operation"
    #expect(try stage.other.rows(applied).texts == alone.other.rows(applied).texts)
  }

  @Test("Creates, edits and deletes; conflicts, what is gone, what a rule refuses, a taken key")
  func mixed() throws {
    try Self.compare(
      { stage in
        [
          Self.operation(stage, 1, .update, 1, "b"),
          Self.operation(stage, 2, .create, 7, "new"),
          Self.operation(stage, 3, .update, 2, "b", base: "old"),
          Self.operation(stage, 4, .delete, 4),
          Self.operation(stage, 5, .create, 8, "bad"),
          Self.operation(stage, 6, .update, 99, "b"),
          Self.operation(stage, 7, .create, 5, "taken"),
          Self.operation(stage, 8, .update, 6, "c"),
        ]
      }, ["b", "new", "412", "gone", "412", "404", "412", "c"])
  }

  @Test("Changes of one row follow each other, and each tells how it left the row")
  func oneRow() throws {
    try Self.compare(
      { stage in
        [
          Self.operation(stage, 1, .create, 7, "a"),
          Self.operation(stage, 2, .update, 7, "b"),
          Self.operation(stage, 3, .update, 1, "x"),
          Self.operation(stage, 4, .update, 7, "c", base: "b"),
          Self.operation(stage, 5, .delete, 7, base: "c"),
          Self.operation(stage, 6, .create, 7, "d"),
          Self.operation(stage, 7, .update, 1, "y", base: nil),
          Self.operation(stage, 8, .update, 1, "z", base: nil),
        ]
      }, ["a", "b", "x", "c", "gone", "d", "y", "z"])
  }

  @Test("Rows are judged as they are and as the statement left them, also in the middle of others")
  func judged() throws {
    let mine = RowJudge { row, _ in row[1] != .text("hers") }
    try Self.compare(
      { stage in
        [
          Self.operation(stage, 1, .update, 1, "b", judge: mine),
          Self.operation(stage, 2, .update, 3, "b", base: "hers", judge: mine),
          Self.operation(stage, 3, .update, 2, "hers", judge: mine),
          Self.operation(stage, 4, .create, 7, "hers", judge: mine),
          Self.operation(stage, 5, .create, 8, "new", judge: mine),
          Self.operation(stage, 6, .delete, 4, judge: mine),
        ]
      }, ["b", "403", "403", "403", "new", "gone"])
  }

  @Test("A judge that reads another row sees what the operation before has made of it")
  func judgedByOthers() throws {
    // Item 1 says whether the others may be changed.
    func judge(_ stage: ReplayStage) -> RowJudge {
      let item = stage.item
      return RowJudge { _, lookup throws(ConnectorError) in
        try lookup(item, [0], [.integer(1)])?[1] == .text("open")
      }
    }
    try Self.compare(
      { stage in
        [
          Self.operation(stage, 1, .update, 2, "x", judge: judge(stage)),
          Self.operation(stage, 2, .update, 1, "open"),
          Self.operation(stage, 3, .update, 2, "b", judge: judge(stage)),
          Self.operation(stage, 4, .update, 1, "shut", base: "open"),
          Self.operation(stage, 5, .delete, 4, judge: judge(stage)),
        ]
      }, ["403", "open", "b", "shut", "403"])
  }

  @Test("One that was performed before stands between new ones, and is not done twice")
  func known() throws {
    let stage = try ReplayStage(Self.parcels)
    let known = Self.operation(stage, 3, .update, 2, "b")
    #expect(Self.ends(stage, [known]) == ["b"])
    // What others made of it since stays.
    try stage.other.execute("UPDATE item SET name = 'later' WHERE id = 2")
    let groups = [
      Self.operation(stage, 1, .update, 1, "b"), known, Self.operation(stage, 4, .create, 7, "new"),
    ]
    #expect(Self.ends(stage, groups) == ["b", "later", "new"])
    #expect(try stage.other.value("SELECT count(*) FROM ferry.applied") == "3")
  }

  @Test("A row that others have locked holds up itself alone, and nothing is lost")
  func locked() throws {
    let stage = try ReplayStage(Self.parcels)
    #expect(Self.ends(stage, [Self.operation(stage, 9, .update, 6, "b")]) == ["b"])
    try stage.other.execute("BEGIN; SELECT * FROM item WHERE id = 2 FOR UPDATE")
    let groups = [1, 2, 4].map { Self.operation(stage, $0, .update, $0, "b") }
    #expect(Self.ends(stage, groups) == ["b", "not done", "b"])
    try stage.other.execute("COMMIT")
    #expect(Self.ends(stage, [groups[1]]) == ["b"])
  }
}
