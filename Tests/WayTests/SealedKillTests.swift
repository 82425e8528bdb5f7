import Foundation
import Testing

extension Way {
  @Suite struct SealedKillTests {
    private func files(_ path: String) throws -> [String: Data] {
      let url = URL(filePath: path)
      let folder = url.deletingLastPathComponent()
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
        $0.hasPrefix(url.lastPathComponent)
      }
      return try Dictionary(
        uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: folder.appending(path: $0))) })
    }

    private func end(_ process: ChildProcess) async throws -> (ChildProcess.End, String) {
      let end = try await process.ended()
      return (end, process.lines.joined(separator: "\n") + process.errorText)
    }

    private func with(_ passphrase: String) -> [String] {
      ["/usr/bin/env", "FERRY_DATABASE_PASSPHRASE=\(passphrase)"]
    }

    @Test(
      "kill -9 of a sealed device loses nothing, whoever comes without its key, or with another")
    func killed() async throws {
      let business = try await Business.flights(bookings: 200)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let ada = try await Phone.start(
        business, "ada", user: "ada", daemon.address, prefix: with("right"))
      let before = try await ada.count("Bookings")
      let done = try business.booked()
      try await ada.ask(#"["stop"]"#)
      try await ada.book(0..<3, business)
      try await ada.process.killNow()
      let left = try files(ada.database)
      #expect(try #require(left["ada.db-wal"]).count > 100_000, "everything is in the log")

      for prefix in [[], with("wrong")] {
        let phone = try Phone(business, "ada", daemon.address, prefix: prefix)
        var (code, said) = try await end(phone.process)
        #expect(code == .exit(1))
        #expect(
          said.contains(prefix.isEmpty ? "the database is sealed" : "does not open"), "\(said)")
        #expect(try files(ada.database) == left)
        let ferry = prefix + [try Programs.path("ferry"), "inspect", ada.database]
        (code, said) = try await end(ChildProcess(ferry[0], Array(ferry.dropFirst())))
        #expect(code == .exit(1), "\(said)")
        #expect(try files(ada.database) == left)
      }

      let again = try Phone(business, "ada", daemon.address, prefix: with("right"))
      #expect(try await again.count("Bookings") == before + 3)
      try await again.ask(#"["submitAll"]"#)
      try await again.synchronize()
      try await until("the three are in the business system") {
        try business.booked() == done + 3
      }
      try await again.quit()
    }
  }
}
