import FerryConformance
import FerryTestTraits
import Testing

@Suite("Every connector keeps the contract", .reference("sync/P25", "sync/Q11"))
struct ConnectorSuiteTests {
  @Test("SQLite", arguments: ConnectorSuite.cases)
  func sqlite(_ one: ConnectorCase) throws {
    #expect(one.failures(on: try SQLiteStage(remembersOperations: true)) == [])
  }

  @Test("SQLite without a table of Ferry's own", arguments: ConnectorSuite.cases)
  func sqliteWithoutMemory(_ one: ConnectorCase) throws {
    #expect(one.failures(on: try SQLiteStage(remembersOperations: false)) == [])
  }

  @Test("SQLite with triggers that note changes", arguments: ConnectorSuite.cases)
  func sqlitePrepared(_ one: ConnectorCase) throws {
    #expect(
      one.failures(on: try SQLiteStage(remembersOperations: true, isPrepared: true)) == [])
  }

  @Test(
    "SQLite with big values in columns of bytes, and in a table without row ids",
    .reference("sync/P23"),
    arguments: ConnectorSuite.contents, [SQLiteStage.Documents.bytes, .withoutRowID])
  func sqliteContents(_ one: ConnectorCase, _ documents: SQLiteStage.Documents) throws {
    let stage = try SQLiteStage(remembersOperations: true, documents: documents)
    #expect(one.failures(on: stage) == [])
  }

  @Test("Memory", arguments: ConnectorSuite.cases)
  func memory(_ one: ConnectorCase) {
    #expect(one.failures(on: MemoryStage()) == [])
  }

  @Test("Memory without transactions", arguments: ConnectorSuite.cases)
  func memoryOneByOne(_ one: ConnectorCase) {
    #expect(one.failures(on: MemoryStage(isTransactional: false)) == [])
  }

  @Test("Memory that notes what changes", arguments: ConnectorSuite.cases)
  func memoryThatNotes(_ one: ConnectorCase) {
    #expect(one.failures(on: MemoryStage(notesChanges: true)) == [])
  }

  @Test("Memory that performs as the user", arguments: ConnectorSuite.cases)
  func memoryAsUser(_ one: ConnectorCase) {
    #expect(one.failures(on: MemoryStage(credentials: CredentialOfAnna())) == [])
  }

  @Test(
    "The suite finds each bug that is planted in a connector", arguments: ConnectorFlaw.allCases)
  func flawed(_ flaw: ConnectorFlaw) throws {
    let found = try ConnectorSuite.cases.filter { one in
      let stage: any ConnectorStage =
        switch flaw {
        case .probeGuesses: MemoryStage(remembersOperations: false)
        case .absentOutsideScope: MemoryStage()
        case .deltaLinkBeforeRows:
          try SQLiteStage(remembersOperations: true, isPrepared: true)
        case .userAsTechnical: MemoryStage(credentials: CredentialOfAnna())
        }
      return !one.failures(on: FlawedStage(stage, flaw)).isEmpty
    }
    #expect(!found.isEmpty, "no case finds it")
  }

  @Test("Memory that forgets operations", arguments: ConnectorSuite.cases)
  func memoryThatForgets(_ one: ConnectorCase) {
    #expect(one.failures(on: MemoryStage(remembersOperations: false)) == [])
  }
}
