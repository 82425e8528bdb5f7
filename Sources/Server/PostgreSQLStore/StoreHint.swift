import FerryModel
import FerryPostgreSQL
import FerryServer

/// Listens to what nodes call to each other. Only a hint: what it says is read from the store, and all
/// nodes look once a second without it.
package final class StoreHint {
  private let address: PostgreSQLAddress
  private let package: Int64
  private var connection: PostgreSQLConnection?

  static func news(of package: Int64) -> String { "ferry_news_\(package)" }
  static func arrivals(of package: Int64) -> String { "ferry_arrivals_\(package)" }

  package init(_ address: PostgreSQLAddress, package: Int64) {
    self.address = address
    self.package = package
  }

  /// Whether something came for a node that leads, or for one that follows. Waits for `patience`.
  package func wait(leads: () -> Bool, patience: Duration) throws(PostgreSQLError) -> Bool {
    let listening: PostgreSQLConnection
    if let connection, connection.isOpen {
      listening = connection
    } else {
      listening = try PostgreSQLConnection(
        address, deadlines: Line.deadlines, application: "ferryd listens")
      try listening.execute(
        "LISTEN \(StoreHint.news(of: package)); LISTEN \(StoreHint.arrivals(of: package))")
      connection = listening
    }
    let channels = try listening.notifications(patience: patience)
    return channels.contains(
      leads() ? StoreHint.arrivals(of: package) : StoreHint.news(of: package))
  }
}
