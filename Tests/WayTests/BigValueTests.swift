import FerryJSON
import FerrySQLite
import FerryTestTraits
import Foundation
import Testing

extension Way {
  @Suite struct BigValueTests {
    private static let pieceBytes: Int64 = 256 << 10
    private static let photoBytes = 20 << 20
    /// What a process may need more than before, for a photo of 20 MB: the line's buffer of 4 MB, the
    /// caches of a few connections, and pieces.
    private static let peakGrowthKilobytes: Int64 = 12 << 10

    @Test(
      "A photo of 20 MB added offline survives kill -9 of device and server at any piece, up and down, in constant memory",
      .reference("sync/P1", "sync/P23", "sync/P25")
    )
    func photo() async throws {
      let business = try await Business.album()
      var daemon = try await Daemon.start(business)
      let port = daemon.port
      try await daemon.ready()
      let network = try RoughNetwork(before: daemon)
      var phone = try await Phone.start(business, "ada", user: "ada", network.address)
      let bytes = try photo(in: business.place)
      let before = (try peak(phone.process), try peak(daemon.process))
      let key = try await phone.create("Photos", #"{"title":"quay","depot":"A"}"#)
      let copied = try await phone.ask(
        #"["copyFrom","Photos","[\#(key)]","image","\#(business.place.file("photo"))"]"#)
      #expect(copied["length"]?.integer == Int64(BigValueTests.photoBytes))
      // The photo comes only while it is looked at: no kill is too late.
      network.allow(up: 0)
      try await phone.submit("Photos", key)
      var chance = SystemRandomNumberGenerator()
      var peaks = (phone: Int64(0), daemon: Int64(0))
      var kills: [Int64] = []
      for round in 0..<5 {
        let next = (kills.last ?? 0) + Int64.random(in: 1...12, using: &chance)
        let seen = try await poll("piece \(next) has come") { () -> Int64? in
          let pieces = try stored(daemon.data) / BigValueTests.pieceBytes
          if pieces < next { network.allow(up: 64 << 10) }
          return pieces >= next ? pieces : nil
        }
        kills.append(seen)
        if round % 2 == 0 {
          peaks.phone = max(peaks.phone, try peak(phone.process))
          try await phone.process.killNow()
          phone = try Phone(business, "ada", network.address)
          try await phone.ask(#"["start"]"#)
        } else {
          peaks.daemon = max(peaks.daemon, try peak(daemon.process))
          try await daemon.stopNow()
          #expect(try stored(daemon.data) / BigValueTests.pieceBytes >= seen)
          daemon = try await Daemon.start(business, port: port)
          try await phone.ask(#"["network"]"#)
        }
      }
      network.allow(up: nil)
      try await until("the photo is in the business system") {
        try business.value("SELECT count(*) FROM Photos WHERE length(Image) > 0") == 1
      }
      #expect(
        try business.connection().value("SELECT Image FROM Photos WHERE Title = 'quay'")?.blob
          == bytes)
      try await until("the device has its answer") {
        try await phone.ask(#"["pending"]"#)["operations"]?.array?.isEmpty == true
      }
      try await until("nothing waits on the server") { try stored(daemon.data) == 0 }
      peaks.phone = max(peaks.phone, try peak(phone.process))
      peaks.daemon = max(peaks.daemon, try peak(daemon.process))
      #expect(kills.count == 5)
      let growth = (peaks.phone - before.0, peaks.daemon - before.1)
      tell("up: killed after \(kills) pieces of 80; the peaks grew by \(growth) KB")
      #expect(growth.0 < BigValueTests.peakGrowthKilobytes)
      #expect(growth.1 < BigValueTests.peakGrowthKilobytes)
      try await download(business, daemon, bytes)
    }

    private func download(_ business: Business, _ daemon: Daemon, _ bytes: [UInt8]) async throws {
      let network = try RoughNetwork(before: daemon)
      var phone = try await Phone.start(business, "ben", user: "ben", network.address)
      let id = try business.value("SELECT ID FROM Photos WHERE Title = 'quay'")
      let length = #"["length","Photos","[\#(id)]","image"]"#
      let told = try await phone.ask(length)
      #expect(told["length"]?.integer == Int64(bytes.count) && told["here"]?.integer == 0)
      let before = (try peak(phone.process), try peak(daemon.process))
      let file = business.place.file("copy")
      let copy = #"["copyTo","Photos","[\#(id)]","image","\#(file)"]"#
      network.allow(down: 0)
      try phone.process.type(copy)
      try await until("a part is here") {
        let isHere = try stored(phone.database, "ferry_content") > 3 * BigValueTests.pieceBytes
        if !isHere { network.allow(down: 64 << 10) }
        return isHere
      }
      try await phone.process.killNow()
      network.allow(down: nil)
      let part = try stored(phone.database, "ferry_content")
      #expect(part < Int64(bytes.count))
      phone = try Phone(business, "ben", network.address)
      #expect(try await phone.ask(length)["here"]?.integer == part)
      try await phone.ask(copy)
      #expect(try Data(contentsOf: URL(filePath: file)) == Data(bytes))
      let growth = (
        try peak(phone.process) - before.0, try peak(daemon.process) - before.1
      )
      tell("down: killed with \(part) bytes here; the peaks grew by \(growth) KB")
      #expect(growth.0 < BigValueTests.peakGrowthKilobytes)
      #expect(growth.1 < BigValueTests.peakGrowthKilobytes)
    }

    @Test(
      "A text of 20 MB goes up and down: both read it in constant memory, and the server writes it so where its column takes bytes",
      .reference("sync/P1", "sync/P23", "facts/1.5", "facts/1.10")
    )
    func text() async throws {
      let business = try await Business.album()
      var daemon = try await Daemon.start(business)
      try await daemon.ready()
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let line = "Der Kran über Pier 4 wird geprüft, 5 € je Stunde.\n"
      let size = BigValueTests.photoBytes
      let text = String(repeating: line, count: size / line.utf8.count)
      let file = try business.place.write(text, to: "text")
      let before = try peak(daemon.process)
      let adaBefore = try peak(ada.process)
      for (attribute, column, growth) in [
        ("journal", "Journal", BigValueTests.peakGrowthKilobytes),
        // SQLite takes a text as a whole, and makes the whole row of it.
        ("report", "Report", BigValueTests.peakGrowthKilobytes + Int64(2 * size >> 10)),
      ] {
        let key = try await ada.create("Photos", #"{"title":"\#(column)","depot":"A"}"#)
        try await ada.ask(#"["copyFrom","Photos","[\#(key)]","\#(attribute)","\#(file)"]"#)
        try await ada.submit("Photos", key)
        try await until("the \(attribute) is in the business system") {
          try business.value("SELECT count(*) FROM Photos WHERE \(column) IS NOT NULL") == 1
        }
        let grown = try peak(daemon.process) - before
        tell("a text of \(size) bytes in a column of \(column): the peak grew by \(grown) KB")
        #expect(grown < growth)
      }
      let up = try peak(ada.process) - adaBefore
      tell("up: with two texts of \(size) bytes the device's peak grew by \(up) KB")
      #expect(up < BigValueTests.peakGrowthKilobytes)
      let found = try business.connection().row(
        "SELECT Report, typeof(Report) FROM Photos WHERE Title = 'Report'")
      #expect(found?[0].text == text && found?[1].text == "text")
      // A server that has just started reads all of it through, to know the references.
      let port = daemon.port
      try await daemon.stopNow()
      daemon = try await Daemon.start(business, port: port)
      try await daemon.ready()
      let ben = try await Phone.start(business, "ben", user: "ben", daemon.address)
      let copy = business.place.file("copy")
      let benBefore = try peak(ben.process)
      for (attribute, title) in [("journal", "Journal"), ("report", "Report")] {
        let id = try business.value("SELECT ID FROM Photos WHERE Title = '\(title)'")
        try await ben.ask(#"["copyTo","Photos","[\#(id)]","\#(attribute)","\#(copy)"]"#)
        #expect(try Data(contentsOf: URL(filePath: copy)) == Data(text.utf8))
        let walked = try await ben.ask(#"["walk","Photos","[\#(id)]","\#(attribute)",""]"#)
        #expect(walked["length"]?.integer == Int64(text.utf8.count))
      }
      let down = try peak(ben.process) - benBefore
      tell("down: with two texts of \(size) bytes the device's peak grew by \(down) KB")
      #expect(down < BigValueTests.peakGrowthKilobytes)
      let grown = try peak(daemon.process) - before
      tell("down: with two texts of \(size) bytes read three times the peak was \(grown) KB higher")
      #expect(grown < BigValueTests.peakGrowthKilobytes)
    }

    @Test(
      "While a photo comes in the server's disk fills: the device is told why, and goes on where it was when there is room",
      .reference("sync/P1", "sync/P25")
    )
    func fullDisk() async throws {
      let business = try await Business.album()
      guard let disk = try await SmallDisk.memory(business.place, "small", megabytes: 64) else {
        return SmallDisk.tellMissing(.none)
      }
      let daemon = try await Daemon.start(business, data: disk.file("data"))
      try await daemon.ready()
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      // Room for a part of the photo.
      try disk.fill(butFor: 8 << 20)
      let bytes = try photo(in: business.place)
      let key = try await ada.create("Photos", #"{"title":"quay","depot":"A"}"#)
      try await ada.ask(
        #"["copyFrom","Photos","[\#(key)]","image","\#(business.place.file("photo"))"]"#)
      try await ada.submit("Photos", key)
      let told = try await poll("the device is told") { () -> JSONNode? in
        let answer = try await ada.ask(#"["synchronize"]"#, mayFail: true)
        return answer["message"]?.string?.contains("is full") == true ? answer : nil
      }
      #expect(told["hint"]?.string == "Free space on the disk; nothing was lost.", "\(told)")
      // A page may still fit where a piece does not: each try of the device tells it anew.
      try await until("/health tells it too") {
        let health = try await daemon.health()
        return health.status == 503 && health.code == "diskFull"
      }
      let there = try stored(daemon.data)
      #expect(there > BigValueTests.pieceBytes && there < Int64(bytes.count))
      #expect(try await ada.ask(#"["pending"]"#)["operations"]?.array?.count == 1)
      let length = try await ada.ask(#"["length","Photos","[\#(key)]","image"]"#)
      #expect(length["here"]?.integer == Int64(bytes.count))
      try disk.free()
      try await until("the photo is in the business system") {
        let now = try stored(daemon.data)
        let isDone = try business.value("SELECT count(*) FROM Photos WHERE length(Image) > 0") == 1
        #expect(isDone || now >= there, "it began anew: \(now) of \(there) bytes were kept")
        return isDone
      }
      #expect(
        try business.connection().value("SELECT Image FROM Photos WHERE Title = 'quay'")?.blob
          == bytes)
      try await until("the device has its answer") {
        try await ada.ask(#"["pending"]"#)["operations"]?.array?.isEmpty == true
      }
      tell("the disk was full after \(there) of \(bytes.count) bytes; nothing was sent anew")
    }

    private func photo(in place: Place) throws -> [UInt8] {
      var state: UInt64 = 0x2545_F491_4F6C_DD1D
      var data = Data(capacity: BigValueTests.photoBytes)
      for _ in 0..<(BigValueTests.photoBytes / 8) {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        withUnsafeBytes(of: state) { data.append(contentsOf: $0) }
      }
      try data.write(to: URL(filePath: place.file("photo")))
      return [UInt8](data)
    }

    /// Bytes of contents in a store.
    private func stored(_ folder: String) throws -> Int64 {
      try stored("\(folder)/server.sqlite", "content")
    }

    private func stored(_ file: String, _ table: String) throws -> Int64 {
      let connection = try Connection(path: file, mode: .readOnly, busyTimeoutMilliseconds: 300_000)
      return try connection.value("SELECT coalesce(sum(stored), 0) FROM \(table)")?.integer ?? 0
    }

    /// The most memory that the process ever had, in KB.
    private func peak(_ process: ChildProcess) throws -> Int64 {
      let status = try String(contentsOfFile: "/proc/\(process.id)/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
      return Int64(line.filter(\.isNumber)) ?? 0
    }
  }
}
