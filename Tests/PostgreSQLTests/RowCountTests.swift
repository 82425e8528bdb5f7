import FerryConnector
import FerryPostgreSQL
import FerryPostgreSQLConnector
import Testing

@Suite("How many rows a load has to read")
struct RowCountTests {
  @Test(
    "A small table and a view are counted; of a large one the statistics say how many there are")
  func counted() throws {
    let address = try Cluster.database()
    let other = try PostgreSQLConnection(address)
    try other.execute(
      """
      CREATE TABLE item (id int8 PRIMARY KEY, name text);
      INSERT INTO item VALUES (1, 'a'), (2, 'b')
      """
    )
    let connector = PostgreSQLConnector(address, package: ItemTable.package)
    #expect(try connector.rowCount([ItemTable.entity]) == 2)
    try other.execute(
      """
      INSERT INTO item SELECT n, 'many' FROM generate_series(3, 120000) AS n; ANALYZE item;
      DELETE FROM item WHERE id > 110000
      """)
    // Nobody has counted: the rows that were deleted since are among them.
    let estimate = try #require(try connector.rowCount([ItemTable.entity]))
    #expect((115_000...125_000).contains(estimate))
    try other.execute("ALTER TABLE item RENAME TO hidden; CREATE VIEW item AS SELECT * FROM hidden")
    let viewed = PostgreSQLConnector(address, package: ItemTable.package)
    #expect(try viewed.rowCount([ItemTable.entity]) == 110_000)
  }
}
