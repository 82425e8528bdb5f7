import FerryJSON
import FerrySQLite
import Foundation
import Testing

extension Way {
  /// `ferry status` with a running server.
  @Suite struct StatusTests {
    private func status(
      _ daemon: Daemon, _ business: Business, _ words: String...
    ) async throws -> (code: ChildProcess.End, text: String) {
      let process = try ChildProcess(
        try Programs.path("ferry"),
        ["status", "--data", daemon.data, "--users", business.users]
          + words)
      let end = try await process.ended()
      return (end, process.lines.joined(separator: "\n") + process.errorText)
    }

    private func node(_ daemon: Daemon, _ business: Business) async throws -> JSONNode {
      try JSONNode.parse(Array(try await status(daemon, business, "--json").text.utf8))
    }

    @Test("ferry status shows a ready server, a business system that fails, and a stopped server")
    func page() async throws {
      let business = try await Business.flights(bookings: 200)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let package = business.package.id
      let (code, text) = try await status(daemon, business)
      #expect(code == .exit(0), "\(text)")
      let lines = text.split(separator: "\n").map(String.init)
      #expect(lines.first == "server     \(daemon.data): running, ready")
      #expect(lines.contains("version    0.1"), "\(text)")
      #expect(lines.contains { $0.hasPrefix("since      20") && $0.contains(", for ") })
      #expect(lines.contains("devices    1"), "\(text)")
      #expect(lines.contains { $0.hasPrefix("package    \(package)  ready  ") }, "\(text)")
      #expect(lines.contains("  waiting  0 operations"), "\(text)")
      #expect(lines.contains { $0.hasPrefix("  changes  read up to ") }, "\(text)")
      let ready = try await node(daemon, business)
      #expect(ready["status"]?.string == "ready" && ready["devices"]?.integer == 1)
      #expect((ready["users"]?.integer ?? 0) > 1)
      #expect(ready["packages"]?.array?.first?["devices"]?.integer == 1)

      let key = try business.value(
        """
        SELECT BookingID FROM Bookings JOIN Flights USING (FlightID)
        WHERE AgencyID = 'AG-01' AND Status = 'planned' LIMIT 1
        """)
      do {
        let holder = try business.connection()
        try holder.execute("BEGIN EXCLUSIVE")
        try await ada.update("Bookings", String(key), #"{"note":"waits"}"#)
        try await ada.submit("Bookings", String(key))
        try await until("the server says that the business system fails") {
          try await daemon.health().text.contains(#""status":"degraded""#)
        }
        #expect(try await daemon.health().status == 200)
        #expect(try await Wires.get("\(daemon.address)/health").text == #"{"status":"ready"}"#)
        let (code, text) = try await status(daemon, business)
        #expect(code == .exit(1))
        #expect(text.contains(": running, degraded"), "\(text)")
        #expect(text.contains("  problem  "), "\(text)")
        #expect(text.contains("  waiting  1 operation, the oldest for "), "\(text)")
        try holder.execute("COMMIT")
      }
      try await until("it is ready again") {
        try await node(daemon, business)["status"]?.string == "ready"
      }
      try await ada.quit()
      #expect(try await daemon.stopInOrder() == .exit(0))
      let (ended, last) = try await status(daemon, business)
      #expect(ended == .exit(1))
      #expect(last.contains("\(daemon.data): not running"), "\(last)")
      #expect(last.contains("package    \(package)"), "\(last)")
      #expect(try await node(daemon, business)["status"]?.string == "notRunning")
    }
  }
}
