import FerryCertificates
import FerrySQLite
import FerryTestTraits
import Foundation
import Testing

extension Way {
  @Suite struct LoginCertificateTests {
    @Test(
      "A device logs in with a certificate of the company's authority in place of a password, and gets the rows of its user; one of another authority is a wrong login",
      .reference("ios/AFA-5", "adr/AFA-3")
    )
    func login() async throws {
      let business = try await Business.flights(bookings: 200)
      let own = try await Self.authority(business, "company")
      _ = try await Self.authority(business, "other")
      let daemon = try await Daemon.start(business, more: ["--login-authority", own])
      try await daemon.ready()
      let phone = try Phone(business, "phone", daemon.address)
      let stranger = try await Self.login(business, "other", "ada")
      let refused = try await phone.ask(
        #"["login","ada","\#(stranger.password)"]"#, mayFail: true)
      #expect(refused["code"]?.string == "notLoggedIn", "\(refused)")
      let login = try await Self.login(business, "company", "ada")
      #expect(login.subjectCN == "ada")
      try await phone.ask(#"["login","ada","\#(login.password)"]"#)
      try await phone.ask(#"["subscribe"]"#)
      try await phone.synchronize()
      let mine = try Connection(path: business.database)
        .value("SELECT count(*) FROM Bookings WHERE AgencyID = 'AG-01'")?.integer
      #expect(try await phone.count("Bookings") == mine)
      try await phone.quit()
      let lines = daemon.process.errorText.split(separator: "\n")
      #expect(lines.contains { $0.contains("a login certificate was refused") })
      // Neither the blob nor a part of it is written anywhere.
      let audit = try String(contentsOfFile: "\(daemon.data)/audit.jsonl", encoding: .utf8)
      for text in [daemon.process.errorText, audit] {
        #expect(!text.contains(login.password.prefix(60)))
      }
      #expect(try await daemon.stopInOrder() == .exit(0))
      for (file, part) in [(business.model, "PEM"), ("\(own)x", "cannot be read")] {
        let end = try await Daemon.refuse(
          Daemon.arguments(business, more: ["--login-authority", file]))
        #expect(end.end == .exit(part == "PEM" ? 1 : 2) && end.text.contains(part), "\(end.text)")
      }
    }

    /// The file of a new authority.
    private static func authority(_ business: Business, _ name: String) async throws -> String {
      let file = business.place.file("\(name).pem")
      try await openssl(
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
        business.place.file("\(name).key"), "-out", file, "-days", "3", "-subj", "/CN=\(name)")
      return file
    }

    private static func login(
      _ business: Business, _ authority: String, _ user: String
    ) async throws -> LoginCertificate {
      func file(_ ending: String) -> String {
        business.place.file("\(authority)-\(user).\(ending)")
      }
      try await openssl(
        "req", "-newkey", "rsa:2048", "-nodes", "-keyout", file("key"), "-out", file("csr"),
        "-subj",
        "/CN=\(user)")
      try await openssl(
        "x509", "-req", "-in", file("csr"), "-CA", business.place.file("\(authority).pem"),
        "-CAkey",
        business.place.file("\(authority).key"), "-days", "2", "-sha256", "-out", file("pem"))
      try await openssl(
        "pkcs12", "-export", "-inkey", file("key"), "-in", file("pem"), "-passout", "pass:p",
        "-out",
        file("p12"))
      let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file("p12"))))
      return try #require(try CertificateIdentity(pkcs12: bytes, password: "p").login())
    }

    private static func openssl(_ arguments: String...) async throws {
      let process = try ChildProcess("/usr/bin/env", ["openssl"] + arguments)
      guard try await process.ended() == .exit(0) else {
        throw WayFailure("openssl cannot do \(arguments): \(process.errorText)")
      }
    }
  }
}
