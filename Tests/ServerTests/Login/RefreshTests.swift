import FerryCrypto
import FerryModel
import FerrySQLite
import FerryWorld
import Testing

@testable import FerryServer

/// Refresh tokens of devices that lose answers, and of thieves.
final class RefreshTests {
  private let bench: Bench
  private let users: UserFile
  private var ends: [String] = []

  init() throws {
    bench = try Bench()
    users = try RefreshTests.users()
    bench.service.listen { [weak self] in
      guard case .sessionEnded(let user, let device, let reason) = $0 else { return }
      self?.ends.append("\(user) \(device ?? "") \(reason)")
    }
  }

  private static func users(_ hash: String = "$a", more: String = "") throws -> UserFile {
    let json = #"{"users": [{"name": "anna", "passwordHash": "\#(hash)"\#(more)}]}"#
    return try UserFile(Array(json.utf8), name: "users.json") { _, _ in true }
  }

  private func writer() throws -> Connection {
    try Connection(path: "\(bench.folder)/server.sqlite", mode: .readWrite)
  }

  private func login(_ device: String = "phone") throws -> String {
    try bench.service.login(try users.authenticate(user: "anna", password: ""), device: device)
      .refreshToken
  }

  private func renew(_ token: String, device: String = "phone") throws -> String {
    try bench.service.renew(token, device: device, provider: users).refreshToken
  }

  private func isOver(_ token: String, device: String = "phone") -> Bool {
    do throws(ServerError) {
      _ = try bench.service.renew(token, device: device, provider: users)
      return false
    } catch {
      return error.code == .revokedToken
    }
  }

  @Test("An answer that is lost five times gives the same successor six times")
  func lost() throws {
    let key = try P256Key.generate()
    var token = try bench.service.login(
      try users.authenticate(user: "anna", password: ""), device: "phone", key: key.publicKeyInfo
    ).refreshToken
    func renewed() throws -> String {
      let proof = TokenProof(
        key: key.publicKeyInfo, signature: try key.signFixed(TokenProof.text(token)))
      return try bench.service.renew(token, device: "phone", proof: proof, provider: users)
        .refreshToken
    }
    for _ in 0..<3 {
      let next = try renewed()
      for _ in 0..<5 { #expect(try renewed() == next) }
      token = next
    }
    try bench.restart()
    bench.clock.advance(30 * 86_400)
    #expect(try renewed() == renewed())
  }

  @Test("An app and its extension that renew at once both go on")
  func atOnce() throws {
    let token = try login()
    let (app, extensions) = (try renew(token), try renew(token))
    #expect(app == extensions)
    let next = try renew(app)
    #expect(try renew(extensions) == next)
    _ = try renew(next)
    #expect(ends == [])
  }

  @Test("A phone that is restored from a backup ends the session, and logs in again")
  func backup() throws {
    let old = try login()
    var token = old
    for _ in 0..<3 { token = try renew(token) }
    #expect(isOver(old))
    #expect(isOver(token), "nobody knows which of the two is the phone")
    #expect(ends == ["anna phone reused"])
    _ = try renew(try login())
  }

  @Test("A thief who renews first is out when the phone comes")
  func thiefFirst() throws {
    let token = try login()
    let thief = try renew(try renew(token))
    #expect(isOver(token))
    #expect(isOver(thief))
    #expect(ends == ["anna phone reused"])
  }

  @Test("A thief who comes after the phone ends the session for both")
  func victimFirst() throws {
    let token = try login()
    let phone = try renew(try renew(token))
    #expect(isOver(token), "the thief's")
    #expect(isOver(phone))
  }

  @Test("A token of another device, of another server or with another number is none")
  func strange() throws {
    let token = try login()
    #expect(isOver(token, device: "laptop"))
    for position in stride(from: 0, to: token.count, by: 3) {
      var letters = Array(token)
      letters[position] = letters[position] == "1" ? "2" : "1"
      #expect(isOver(String(letters)))
    }
    let other = try Bench(seed: 2)
    #expect(
      isOver(try other.service.login(UserRecord(name: "anna"), device: "phone").refreshToken))
    for text in ["", ".", "...", "fr1...", String(repeating: "a", count: 64)] {
      #expect(isOver(text))
    }
    _ = try renew(token)
  }

  @Test("Many renewals are one row, and 60 days after the login the user logs in again")
  func greatestAge() throws {
    var token = try login()
    for day in 0..<60 {
      bench.clock.advance(day == 0 ? 0 : 86_400)
      token = try renew(token)
    }
    #expect(try bench.database.value("SELECT count(*) FROM session") == .integer(1))
    let pair = try bench.service.renew(token, device: "phone", provider: users)
    #expect(pair.answer(now: bench.clock.now).sessionExpiresIn == 86_400)
    bench.clock.advance(86_400)
    #expect(isOver(pair.refreshToken))
  }

  @Test("A new password and a logout in the user file end sessions at once; claims do not")
  func credentials() throws {
    for (hash, more, ends) in [
      ("$b", "", true), ("$a", #","loggedOut":"2026-11-25T10:00:00Z""#, true),
      ("$a", #","claims":{"region":["south"]}"#, false),
    ] {
      let token = try login()
      let access = try bench.service.login(
        try users.authenticate(user: "anna", password: ""), device: "pad")
      let identity = try bench.service.accessTokens.verify(access.accessToken, now: bench.clock.now)
      let changed = try RefreshTests.users(hash, more: more)
      bench.service.provider = changed
      defer { bench.service.provider = users }
      var code: ServerError.Code?
      do throws(ServerError) { try bench.service.check(identity) } catch { code = error.code }
      #expect(code == (ends ? .revokedToken : nil), "\(more)")
      let renewed = try? bench.service.renew(token, device: "phone", provider: changed)
      #expect((renewed == nil) == ends)
    }
  }

  @Test("A token that a server of before gave is renewed once more, and has one successor")
  func before() throws {
    let old = String(repeating: "ab", count: 32)
    bench.stop()
    let writer = try writer()
    try writer.execute(
      """
      DROP TABLE session; DROP TABLE token_user; DROP TABLE registered_device; DROP TABLE payload;
      DROP TABLE correction; DROP TABLE border; DROP INDEX operation_refused; DROP INDEX operation_unknown;
      DROP INDEX operation_user; ALTER TABLE operation DROP COLUMN sent_at;
      CREATE TABLE refresh_token (
        hash BLOB PRIMARY KEY, parent BLOB, user TEXT NOT NULL, device TEXT NOT NULL,
        expires INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      PRAGMA user_version = 2;
      """)
    try writer.run(
      "INSERT INTO refresh_token (hash, user, device, expires) VALUES (?, 'anna', 'phone', ?)",
      .blob(SHA256Digest.hash(Array(old.utf8))),
      .integer(bench.clock.now.milliseconds + 59 * 86_400_000))
    try bench.restart()
    let next = try renew(old)
    #expect(try renew(old) == next)
    _ = try renew(next)
    #expect(isOver(old))
  }

  @Test("A store that is restored to an earlier state goes on with the tokens that came after it")
  func restored() throws {
    var token = try login()
    for _ in 0..<3 { token = try renew(token) }
    bench.stop()
    try writer().execute("UPDATE session SET used = 1")
    try bench.restart()
    let next = try renew(token)
    #expect(try renew(token) == next)
    _ = try renew(next)
  }

  @Test("A thousand partitions fit: a token stays under 4 KB, whatever the claims")
  func small() throws {
    let claims = ["agency": (0..<1_000).map { "AGENCY-\($0)-OF-THE-NORTH" }]
    let pair = try bench.service.login(UserRecord(name: "anna", claims: claims), device: "phone")
    #expect(pair.accessToken.utf8.count < 4 << 10)
  }
}
