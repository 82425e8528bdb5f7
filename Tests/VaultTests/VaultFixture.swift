import FerryCrypto
import FerryFaultFiles
import FerryVault
import FerryWorld
import Foundation
import Synchronization
import Testing

/// A folder of its own, a clock that only the test moves, and faults when the test wants them.
final class VaultFixture {
  let folder: String
  let clock = GivenClock()
  let files = FaultyFiles()

  init() {
    folder =
      FileManager.default.temporaryDirectory
      .appending(path: "vault-\(UUID().uuidString)").path
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  var world: World { World(clock: clock, chance: SystemChance(), log: SilentLog()) }

  /// With a derivation that costs nothing, so that a test may unlock a thousand times.
  var vaults: DataVaults {
    DataVaults(
      storage: FolderVaultStorage(folder: folder, files: files), world: world,
      derivation: .pbkdf2(rounds: 1))
  }

  /// The path of the only vault in the folder.
  var path: String {
    get throws {
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      return folder + "/" + (try #require(names.first { $0.hasSuffix(".vault") }))
    }
  }

  var bytes: [UInt8] {
    get throws { [UInt8](try Data(contentsOf: URL(filePath: try path))) }
  }
}

final class GivenClock: WorldClock {
  private let state = Mutex(
    (now: Timestamp(milliseconds: 1_700_000_000_000), uptime: Duration.zero))

  var now: Timestamp { state.withLock { $0.now } }
  var uptime: Duration { state.withLock { $0.uptime } }

  func advance(_ duration: Duration) {
    state.withLock {
      $0.now = $0.now.advanced(by: duration)
      $0.uptime += duration
    }
  }

  /// Somebody sets the clock; the uptime goes on as it was.
  func set(byDays days: Int) {
    state.withLock { $0.now = $0.now.advanced(by: .seconds(days * 86_400)) }
  }
}

/// The error that `body` throws.
func failure(
  _ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) -> DataVaultError? {
  do {
    try body()
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    return nil
  } catch {
    #expect(error is DataVaultError, sourceLocation: sourceLocation)
    return error as? DataVaultError
  }
}

func reason(
  _ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) -> DataVaultError.Reason? {
  failure(body, sourceLocation: sourceLocation)?.reason
}
