import FerryCrypto
import FerryModel
import FerryTestTraits
import FerryText
import FerryWorld
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite struct SecurityTests {
  let bench: Bench
  let users: UserFile

  init() throws {
    bench = try Bench()
    let json = """
      {"users": [{"name": "anna", "passwordHash": "$plain$secret", "roles": ["sales"],
        "claims": {"employee": [5, "6"], "region": "north"}}]}
      """
    users = try UserFile(Array(json.utf8), name: "users.json") { password, hash in
      hash == "$plain$\(password)"
    }
  }

  @Test("A login gives a token that says who and what", .reference("sync/I1", "sync/M15"))
  func login() throws {
    let record = try users.authenticate(user: "anna", password: "secret")
    let pair = try bench.service.login(record, device: "phone")
    let identity = try bench.service.accessTokens.verify(pair.accessToken, now: bench.clock.now)
    #expect(identity.user == "anna")
    #expect(identity.device == "phone")
    #expect(identity.roles == ["sales"])
    #expect(identity.claims == ["employee": ["5", "6"], "region": ["north"]])
    let now = bench.clock.now.milliseconds / 1_000 * 1_000
    #expect(identity.expires.milliseconds == now + 900_000)
  }

  @Test("A wrong name and a wrong password are told alike", .reference("sync/M16"))
  func wrong() throws {
    var errors: [ServerError] = []
    for (user, password) in [("anna", "guess"), ("nobody", "secret")] {
      do {
        _ = try users.authenticate(user: user, password: password)
      } catch {
        errors.append(error)
      }
    }
    #expect(errors.count == 2)
    #expect(errors.first == errors.last)
    #expect(errors.first?.code == .wrongLogin)
  }

  @Test("A token that is late, changed or of another server is refused, each with its own code")
  func tokens() throws {
    let pair = try bench.service.login(UserRecord(name: "anna"), device: "phone")
    let tokens = bench.service.accessTokens
    func code(_ token: String, _ tokens: AccessTokens) -> ServerError.Code? {
      do {
        _ = try tokens.verify(token, now: bench.clock.now)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(code(pair.accessToken, tokens) == nil)
    for position in stride(from: 0, to: pair.accessToken.count, by: 11) {
      var letters = Array(pair.accessToken)
      letters[position] = letters[position] == "A" ? "B" : "A"
      #expect(code(String(letters), tokens) != nil)
    }
    #expect(code("", tokens) == .forgedToken)
    #expect(code("a.b.c", tokens) == .forgedToken)
    #expect(code(pair.accessToken, AccessTokens(key: [1], server: "other")) == .otherServersToken)
    let unsigned = "eyJhbGciOiJub25lIn0." + pair.accessToken.split(separator: ".")[1] + "."
    #expect(code(unsigned, tokens) == .forgedToken)
    bench.clock.advance(901)
    #expect(code(pair.accessToken, tokens) == .expiredToken)
  }

  @Test("A signed token whose end lies beyond all time is refused as forged, and traps nothing")
  func endBeyondTime() throws {
    let key = [UInt8](repeating: 7, count: 32)
    let tokens = AccessTokens(key: key, server: "here")
    let head = Base64.encode(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8), .url)
    func code(_ end: String) -> ServerError.Code? {
      let body = #"{"iss":"here","sub":"anna","iat":0,"exp":\#(end)}"#
      let text = "\(head).\(Base64.encode(Array(body.utf8), .url))"
      let seal = SHA256Digest.authenticate(Array(text.utf8), key: key)
      do {
        _ = try tokens.verify("\(text).\(Base64.encode(seal, .url))", now: bench.clock.now)
        return nil
      } catch {
        return error.code
      }
    }
    let last = Int64.max / 1_000
    #expect(code("\(last)") == nil)
    for end in ["\(last + 1)", "\(Int64.max)", "\(Int64.min)", "1e300"] {
      #expect(code(end) == .forgedToken, "exp \(end)")
    }
    #expect(code("-1") == .expiredToken)
  }

  @Test(
    "A token of a clock that was ahead is refused once the clock is right, and the session goes on with the rights of now"
  )
  func clockSetBack() throws {
    let year: Int64 = 365 * 86_400
    bench.clock.advance(year)
    let pair = try bench.service.login(
      UserRecord(name: "anna", claims: ["region": ["south"]]), device: "phone")
    func code() -> ServerError.Code? {
      do {
        _ = try bench.service.accessTokens.verify(pair.accessToken, now: bench.clock.now)
        return nil
      } catch {
        return error.code
      }
    }
    bench.clock.advance(-60)
    #expect(code() == nil, "a minute is no other time")
    bench.clock.advance(-1)
    #expect(code() == .expiredToken)
    bench.clock.advance(61 - year)
    #expect(code() == .expiredToken)
    let renewed = try bench.service.renew(pair.refreshToken, device: "phone", provider: users)
    let identity = try bench.service.accessTokens.verify(
      renewed.accessToken, now: bench.clock.now)
    #expect(identity.claims == ["employee": ["5", "6"], "region": ["north"]])
  }

  @Test("A refresh token ends after 60 days")
  func refreshEnds() throws {
    let pair = try bench.service.login(UserRecord(name: "anna"), device: "phone")
    bench.clock.advance(60 * 86_400)
    #expect(throws: ServerError.self) {
      try bench.service.renew(pair.refreshToken, device: "phone", provider: users)
    }
  }

  @Test("A user file that cannot be read names the place and the cure")
  func userFile() throws {
    for (text, part) in [
      ("{\"users\": [{\"name\": \"a\"}]}", "users.json:1:12"), ("{", "users.json:1"),
      ("{}", "names no users"),
    ] {
      do {
        _ = try UserFile(Array(text.utf8), name: "users.json") { _, _ in true }
        Issue.record("\(text) was taken")
      } catch {
        #expect(error.code == .badUserFile)
        #expect(error.message.contains(part))
      }
    }
  }
}
