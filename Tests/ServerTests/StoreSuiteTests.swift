import FerryModel
import FerrySQLiteStore
import FerryServer
import FerryStoreConformance
import FerryWorld
import Foundation
import Testing

@Suite("SQLite keeps the contract of a store")
struct SQLiteStoreSuiteTests {
  @Test("SQLite", arguments: StoreSuite.cases)
  func sqlite(_ one: StoreCase) throws {
    #expect(one.failures(on: SQLiteStage()) == [])
  }
}

private final class SQLiteStage: StoreStage {
  private var folders: [String]
  private let clock = HandClock()
  private let chance = SeededChance(1)
  private var store: SQLiteStore?

  init() {
    folders = [
      FileManager.default.temporaryDirectory
        .appendingPathComponent("ferry-store-\(UUID().uuidString)").path
    ]
  }

  deinit {
    for folder in folders { try? FileManager.default.removeItem(atPath: folder) }
  }

  func open(_ package: Package) throws -> any Store {
    // What a crash leaves: the files as they are, while the store of before has not closed them.
    if store != nil, let folder = folders.last {
      try FileManager.default.copyItem(atPath: folder, toPath: folder + "+")
      folders.append(folder + "+")
    }
    let made = try SQLiteStore(
      folder: folders[folders.count - 1], package: package,
      world: World(clock: clock, chance: chance, log: KeptLog()), synchronous: .normal)
    store = made
    return made
  }

  func advance(days: Int64) { clock.advance(days * 86_400) }
}
