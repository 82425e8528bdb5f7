import FerryHTTPClient
import FerryTestTraits
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerryApplications
@testable import FerryRegistration
@testable import FerryServer

@Suite("A picture to read before an app registers", .timeLimit(.minutes(60)))
struct CaptchaTests {
  private func desk() async throws -> Desk {
    var application = Desk.plain
    application.asksCaptcha = true
    return try await Desk([application])
  }

  private func app(_ desk: Desk, user: String = "anna") -> ApplicationRegistration {
    ApplicationRegistration(
      RegistrationProfile(
        server: "https://gate.example.com", application: Desk.flights,
        credentials: RegistrationProfile.Credentials(user: user, password: "of-\(user)")),
      stateFile: "\(desk.folder)/\(user).json", transport: DeskTransport(desk),
      world: desk.world)
  }

  @Test(
    "The app gives the text at once where a picture comes, and is registered",
    .reference("ios/RUM-6", "adr/RST-11", "ios/SRV-10", "adr/SV-8"))
  func answered() async throws {
    let desk = try await desk()
    let pictures = Mutex<[CaptchaChallenge]>([])
    let settings = try await app(desk).register { picture in
      let count = pictures.withLock { pictures in
        pictures.append(picture)
        return pictures.count
      }
      // The first text is wrong: there is another picture then.
      return count == 1 ? "wrong" : desk.applications.captchas.text(of: picture.id)
    }
    let shown = pictures.withLock { $0 }
    #expect(shown.count == 2 && shown[0].id != shown[1].id && shown[0].picture != shown[1].picture)
    let id = try #require(settings.connectionID)
    #expect(try await desk.host.connection(id) != nil)
  }

  @Test(
    "The app keeps the picture, and registers a second time with its text",
    .reference("ios/RUM-3"))
  func secondCall() async throws {
    let desk = try await desk()
    let app = app(desk)
    let error = try #require(
      await #expect(throws: RegistrationError.self) { try await app.register() })
    #expect(error.code == .captchaNeeded)
    let picture = try #require(error.captcha)
    let text = try #require(desk.applications.captchas.text(of: picture.id))
    #expect(text.count == 6)
    // Small letters and blanks are what people write.
    try await app.register(answering: picture.answer(" \(text.lowercased()) "))
    #expect(try await app.connectionID != nil)
    let none = await #expect(throws: RegistrationError.self) {
      try await self.app(desk, user: "berta").register { _ in nil }
    }
    #expect(none?.code == .captchaNeeded)
  }

  @Test("A picture is good once, for its own user, and for five minutes; a user gets three of them")
  func limits() async throws {
    let desk = try await desk()
    func ask(_ user: String, _ answer: CaptchaAnswer? = nil) async -> RegistrationError? {
      await #expect(throws: RegistrationError.self) {
        try await app(desk, user: user).register(answering: answer)
      }
    }
    func text(_ picture: CaptchaChallenge) -> String {
      desk.applications.captchas.text(of: picture.id) ?? "none"
    }
    let first = try #require(await ask("anna")?.captcha)
    // Another user has seen it.
    #expect(await ask("berta", first.answer(text(first)))?.code == .wrongCaptcha)
    #expect(text(first) == "none")
    let second = try #require(await ask("anna", first.answer("x"))?.captcha)
    desk.clock.advance(301)
    #expect(await ask("anna", second.answer(text(second)))?.code == .wrongCaptcha)
    _ = await ask("anna")
    #expect(await ask("anna")?.captcha != nil)
    let end = await ask("anna")
    #expect(end?.code == .tooManyAttempts && end?.retryAfterSeconds == 300)
    desk.clock.advance(300)
    let late = try #require(await ask("anna")?.captcha)
    try await app(desk).register(answering: late.answer(text(late)))
  }

  @Test("A picture is a PNG of its size, and two of one text differ")
  func picture() throws {
    let random = (0..<512).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let png = try CaptchaPicture.png("ABC347", random)
    #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47]) && png.count < 6_000)
    #expect(Array(png[16..<24]) == [0, 0, 0, 220, 0, 0, 0, 70])
    #expect(try CaptchaPicture.png("ABC347", random.reversed()) != png)
    // A reader of another hand takes it: zlib's stream and each checksum are right.
    let script = """
      import sys, zlib, struct
      data = sys.stdin.buffer.read()[8:]
      while data:
          n, kind = struct.unpack(">I4s", data[:8])
          assert zlib.crc32(data[4:8 + n]) == struct.unpack(">I", data[8 + n:12 + n])[0], kind
          if kind == b"IDAT": print(len(zlib.decompress(data[8:8 + n])))
          data = data[12 + n:]
      """
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", script]
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data(png))
    try input.fileHandleForWriting.close()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(text == "15470\n")
  }
}
