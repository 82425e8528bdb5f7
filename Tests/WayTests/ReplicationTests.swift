import FerryModel
import FerryTestTraits
import Foundation
import Testing

extension Way {
  @Suite struct ReplicationTests {
    private func statuses(_ phone: Phone) -> [String] {
      var found: [String] = []
      for line in phone.events("synchronize") {
        guard
          let status = line.components(separatedBy: #""status":""#).last?.prefix(while: {
            $0 != "\""
          })
        else { continue }
        if found.last != String(status) { found.append(String(status)) }
      }
      return found
    }

    @Test(
      "An upload-only session of a device process, and the automatic one behind it, through nginx",
      .reference("sync/R11", "sync/R12", "sync/R17"),
      arguments: [false, true])
    func uploadOnly(isProxied: Bool) async throws {
      let business = try await Business.flights(bookings: 200)
      let daemon = try await Daemon.start(business)
      let proxy = isProxied ? try await Proxy.startSample(before: daemon) : nil
      let phone = try Phone(
        business, "ada", proxy?.address ?? daemon.address, prefix: proxy?.trusting ?? [],
        isReplicationBased: true)
      try await phone.ask(#"["login","ada","\#(Business.password)"]"#)
      try await phone.ask(#"["subscribe"]"#)
      try await phone.synchronize()
      let key = String(
        try business.value(
          """
          SELECT BookingID FROM Bookings JOIN Flights USING (FlightID)
          WHERE AgencyID = 'AG-01' AND Status = 'planned' LIMIT 1
          """))
      try await phone.update("Bookings", key, #"{"passenger":"Grace"}"#)
      try await phone.submit("Bookings", key)
      let before = statuses(phone).count
      try await phone.ask(#"["begin",["default"],"evening",true]"#)
      try await until("the automatic session ends") {
        try await phone.show("Bookings", key)["pending"]?.string == "N"
          && statuses(phone).last == "finishing"
      }
      #expect(
        Array(statuses(phone).dropFirst(before)) == [
          "starting", "uploading", "asyncReplayUploaded", "finishing", "asyncReplayCompleted",
          "starting", "downloading", "finishing",
        ])
      #expect(phone.events("synchronize", #""context":"evening""#).count >= 8)
      #expect(try await phone.text("Bookings", key, "passenger") == "Grace")
    }
  }
}
