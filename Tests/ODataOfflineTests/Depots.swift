import Ferry
import FerryODataOffline
import FerryWorld
import Foundation

/// Folders of stores, which go with the value.
final class Depots: Sendable {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "depot-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func path(_ name: String = "store") -> String { folder.appending(path: name).path }

  func open(
    _ service: DepotService, _ queries: [String] = ["Items", "Shelves"], at name: String = "store",
    world: World = .system()
  ) async throws -> OfflineStore {
    var options = OfflineOptions()
    // Nothing that was sent arrives later than the answer.
    options.late = .zero
    return try await OfflineStore.open(
      DepotService.root, package: Depot.package, at: path(name), defining: queries,
      options: options, transport: service, world: world)
  }

  /// What a disk has at this moment, as after a sudden end of the app.
  func copy(_ name: String, to other: String) throws {
    try FileManager.default.copyItem(atPath: path(name), toPath: path(other))
  }
}

/// The system's clock, some time ahead.
struct LaterClock: WorldClock {
  private let system = SystemClock()
  let ahead: Duration

  var now: Timestamp { system.now.advanced(by: ahead) }
  var uptime: Duration { system.uptime + ahead }
}

extension OfflineStore {
  var names: [String] {
    get async throws {
      try await Item.find(orderBy: [.ascending(Item.Attributes.id)], in: database)
        .map { $0.name ?? "" }
    }
  }
}
