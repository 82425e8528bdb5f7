// The lines between the two marks are those of Documentation/OfflineOData.md.
// README begins
import Ferry
import FerryODataOffline

func openDepot(at path: String, service: String) async throws -> OfflineStore {
  try await OfflineStore.open(
    service, package: Depot.package, at: path,
    defining: ["Items?$filter=Stock lt 10", "Shelves"])
}

/// In the tunnel: needs no network.
func count(_ item: Item, _ stock: Int32, in store: OfflineStore) async throws -> Item {
  var item = item
  item.stock = stock
  return try await store.database.save(item)
}

/// With a network again: sends, waits for the answers, and fetches what has changed.
func bringUpToDate(_ store: OfflineStore) async throws -> [String] {
  try await store.synchronize()
  var refusals: [String] = []
  for item in try Item.pendingObjects(in: store.database) {
    if let refusal = try await store.database.refusal(of: item) {
      refusals.append(refusal.message)
    }
  }
  return refusals
}
// README ends
