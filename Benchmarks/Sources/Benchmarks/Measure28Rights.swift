extension Measure {
  /// What it costs to judge whose each row is, inside the business transaction: replay with a rule by
  /// column, and with a rule through two parents, against replay of the same operations without one.
  static let rights = Measure(number: 28, name: "rights") { setting in
    let count = setting.n(4_000, quick: 200)
    let models: [(name: String, text: String, tables: String)] = [
      (name: "", text: Item.model, tables: ""),
      (
        "a rule by column",
        Item.model(rule: #", "partition": {"columns": {"shelf": "claim:shelf"}}"#), ""
      ),
      ("a rule through two parents", throughParents, parentTables),
    ]
    var speeds = [[Double]](repeating: [], count: models.count)
    for round in setting.eachRound() {
      for (place, model) in models.enumerated() {
        let run = try ReplayRun(
          operations: count, devices: 4, model: model.text, tables: model.tables, setting)
        speeds[place].append(Double(count) / (try run.take()))
        run.server.end()
      }
      setting.say(
        "\(speeds.map { Int($0[round]) }) operations/s without a rule, by column, through parents")
    }
    return [1, 2].map { place in
      Figure(
        28, "replay with \(models[place].name)", n: count, unit: "operations/s",
        ours: median(speeds[place]), limit: median(speeds[0]), of: "replay without a rule",
        aim: .ratioAtLeast(place == 1 ? 0.95 : 0.85))
    }
  }

  private static let throughParents = Item.model(
    rule: """
      , "relationships": [{"name": "place", "target": "Shelf", "attributes": ["shelf"]}],
      "partition": {"through": "place"}
      """,
    others: """
      , {"name": "Shelf", "table": "shelves", "attributes": [
        {"name": "id", "type": "long"}, {"name": "hallID", "type": "long"}], "key": ["id"],
        "relationships": [{"name": "hall", "target": "Hall", "attributes": ["hallID"]}],
        "partition": {"through": "hall"}},
      {"name": "Hall", "table": "halls", "attributes": [
        {"name": "id", "type": "long"}, {"name": "tenant", "type": "string"}], "key": ["id"],
        "partition": {"columns": {"tenant": "claim:tenant"}}}
      """)

  private static let parentTables = """
    CREATE TABLE halls (id INTEGER PRIMARY KEY, tenant TEXT NOT NULL);
    CREATE TABLE shelves (id INTEGER PRIMARY KEY, hallID INTEGER NOT NULL REFERENCES halls);
    INSERT INTO halls VALUES (1, 'north');
    INSERT INTO shelves VALUES (7, 1);
    """
}
