import FerryHTTPClient

/// The items' changes since a link was given.
extension FakeService {
  /// How the service tells of changes.
  struct Delta {
    /// Whether it gives links.
    var isOn = false
    /// The items when each link was given.
    var snapshots: [[Int64: Row]] = []
    /// In place of an answer to the next link.
    var refusals: [Int] = []
    /// The next answer has no new link.
    var hasNoLink = false
    /// Changed items come without their amount.
    var isSparse = false
    /// Orders cannot be read.
    var ordersFail = false
  }

  /// A part of the last page; empty where it was not asked for.
  static func link(_ request: TransportRequest, _ state: inout State) -> String {
    guard state.delta.isOn,
      request.headers["Prefer"]?.contains("odata.track-changes") == true
    else { return "" }
    return newLink(&state)
  }

  private static func newLink(_ state: inout State) -> String {
    state.delta.snapshots.append(state.items)
    let number = state.delta.snapshots.count - 1
    return ",\"@odata.deltaLink\":\"\(root)Items?$deltatoken=\(number)\""
  }

  /// Nil where the address is not that of changes.
  static func readDelta(_ name: String, _ query: String, _ state: inout State) -> Reply? {
    if name == "Orders", state.delta.ordersFail { return Reply(status: 502) }
    guard name == "Items", query.hasPrefix("$deltatoken="), let number = Int(query.dropFirst(12))
    else { return nil }
    if !state.delta.refusals.isEmpty {
      return error(state.delta.refusals.removeFirst(), "no changes of that time")
    }
    let before = state.delta.snapshots[number]
    let now = state.items
    var parts: [String] = []
    for row in now.values.sorted(by: { $0.id < $1.id }) where before[row.id] != row {
      parts.append(
        state.delta.isSparse
          ? "{\"@odata.id\":\"Items(\(row.id))\",\"ID\":\(row.id)}" : json(row))
    }
    for key in before.keys.sorted() where now[key] == nil {
      parts.append(
        "{\"@odata.context\":\"\(root)$metadata#Items/$deletedEntity\",\"id\":\"Items(\(key))\","
          + "\"reason\":\"deleted\"}")
    }
    let link = state.delta.hasNoLink ? "" : newLink(&state)
    state.delta.hasNoLink = false
    return Reply(
      status: 200,
      body: "{\"@odata.context\":\"\(root)$metadata#Items/$delta\",\"value\":["
        + parts.joined(separator: ",") + "]\(link)}")
  }
}
