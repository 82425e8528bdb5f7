import FerryConformance
import FerryTestTraits
import Testing

@Suite("MariaDB keeps the contract of a connector", .reference("sync/P25", "sync/Q11"))
struct MariaDBSuiteTests {
  @Test("MariaDB", arguments: ConnectorSuite.cases)
  func mariaDB(_ one: ConnectorCase) throws {
    #expect(one.failures(on: try MariaDBStage()) == [])
  }

  @Test("MariaDB without a table of Ferry's operations", arguments: ConnectorSuite.cases)
  func withoutMemory(_ one: ConnectorCase) throws {
    #expect(one.failures(on: try MariaDBStage(remembersOperations: false)) == [])
  }
}
