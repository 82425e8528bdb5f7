import FerryConformance
import FerryTestTraits
import Testing

@Suite("PostgreSQL keeps the contract of a connector", .reference("sync/P25", "sync/Q11"))
struct PostgreSQLSuiteTests {
  @Test("PostgreSQL", arguments: ConnectorSuite.cases)
  func postgresql(_ one: ConnectorCase) throws {
    #expect(one.failures(on: try PostgreSQLStage()) == [])
  }

  @Test("PostgreSQL without a table of Ferry's operations", arguments: ConnectorSuite.cases)
  func withoutMemory(_ one: ConnectorCase) throws {
    #expect(one.failures(on: try PostgreSQLStage(remembersOperations: false)) == [])
  }
}
