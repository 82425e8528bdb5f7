import FerryHTTP
import FerryTestTraits
import Foundation
import Testing

@testable import FerryApplications
@testable import FerryRegistration
@testable import FerryServer

@Suite("Registering over HTTP", .timeLimit(.minutes(60)))
struct RegisterTests {
  private static func entry(_ properties: String) -> String {
    """
    <entry xmlns="http://www.w3.org/2005/Atom" \
    xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" \
    xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices">
    <category term="applications.Connection" \
    scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/>
    <content type="application/xml"><m:properties>\(properties)</m:properties></content></entry>
    """
  }

  @Test(
    "A POST registers: 201, the whole entry, and the id as cookie and header, in both spellings",
    .reference("ios/SRV-7", "adr/SV-5"))
  func registered() async throws {
    let desk = try await Desk()
    let answer = await desk.send(
      "POST", Desk.path, body: Self.entry("<d:DeviceType>iPhone</d:DeviceType>"))
    #expect(answer.status == 201)
    let id = try #require(answer.headers["X-SUP-APPCID"])
    #expect(id.hasSuffix("__com.example.flights") && answer.headers["X-SMP-APPCID"] == id)
    let cookies = answer.headers.values("Set-Cookie")
    #expect(cookies.contains { $0.hasPrefix("X-SUP-APPCID=\(id);") && $0.contains("HttpOnly") })
    #expect(cookies.contains { $0.hasPrefix("X-SMP-APPCID=\(id);") && $0.contains("Secure") })
    #expect(answer.text.contains("<d:DeviceType>iPhone</d:DeviceType>"))
    #expect(answer.text.contains("<d:UserName>anna</d:UserName>"))
    for property in ConnectionProperty.all {
      #expect(answer.text.contains("<d:\(property.name)"), "\(property.name)")
    }
    #expect(answer.headers["Location"]?.hasSuffix("Connections('\(id)')") == true)
    // The cookie alone is enough for what follows.
    let read = await desk.send(
      "GET", "\(Desk.path)('\(id)')", [("Cookie", "a=b; X-SUP-APPCID=\(id)")])
    #expect(read.status == 200 && read.text.contains("<d:DeviceType>iPhone</d:DeviceType>"))
  }

  @Test("A client chooses the id; it is bound to its user, and 128 characters long at most")
  func chosenID() async throws {
    let desk = try await Desk()
    #expect(await desk.register("anna", "my-phone.1") == "my-phone.1")
    let again = await desk.send("POST", Desk.path, [("X-SUP-APPCID", "my-phone.1")])
    #expect(again.status == 409 && again.code == .alreadyRegistered)
    let others = await desk.send(
      "POST", Desk.path, user: "berta", [("X-SUP-APPCID", "my-phone.1")])
    #expect(others.status == 403 && others.code == .wrongUserForRegistration)
    let longest = String(repeating: "x", count: 128)
    #expect(await desk.register("anna", longest) == longest)
    for bad in [longest + "x", "a b", "a/b", "a%00", "a'b", "é", "..", ""] {
      let answer = await desk.send("POST", Desk.path, [("X-SUP-APPCID", bad)])
      #expect(answer.status == 400 && answer.code == .invalidConnectionID, "\(bad)")
    }
    // A cookie of a connection of before chooses nothing.
    let cookie = await desk.send("POST", Desk.path, [("Cookie", "X-SUP-APPCID=my-phone.1")])
    #expect(cookie.status == 201 && cookie.headers["X-SUP-APPCID"] != "my-phone.1")
  }

  @Test("Who is unknown, and an application that is not there, are refused before the body")
  func refusedByHead() async throws {
    let desk = try await Desk()
    let nobody = await desk.send("POST", Desk.path, user: nil)
    #expect(nobody.status == 401 && nobody.headers["WWW-Authenticate"]?.hasPrefix("Basic") == true)
    let wrong = await desk.send(
      "POST", Desk.path, user: nil, [("Authorization", Desk.basic("anna", "wrong"))])
    #expect(wrong.status == 401 && wrong.code == .wrongCredentials)
    let other = "/odata/applications/v1/com.example.other/Connections"
    let unknown = await desk.send("POST", other)
    #expect(unknown.status == 404 && unknown.code == .unknownApplication)
    for path in [
      "/odata/applications/v2/com.example.flights/Connections", "/odata/applications/v1",
      "/odata/applications/v1/com.example.flights/Others",
      "/odata/applications/v1/com.example.flights/Connections('a'b')",
      "/odata/applications/v1/com.example.flights/Connections('a')/X/Y",
    ] {
      #expect(await desk.send("GET", path).status == 404, "\(path)")
    }
    let long = await desk.send(
      "POST", Desk.path, user: nil,
      [("Authorization", Desk.basic(String(repeating: "u", count: 300)))])
    #expect(long.code == .userNameTooLong)
  }

  @Test(
    "A second DELETE is answered 404, and the connection is closed for whoever had it",
    .reference("adr/SV-7"))
  func deleted() async throws {
    let desk = try await Desk()
    let id = await desk.register()
    let path = "\(Desk.path)('\(id)')"
    let foreign = await desk.send("DELETE", path, user: "berta", [("X-SUP-APPCID", id)])
    #expect(foreign.code == .wrongUserForRegistration)
    #expect(await desk.send("DELETE", path).code == .noConnectionID)
    #expect(await desk.send("DELETE", path, [("X-SUP-APPCID", id)]).status == 200)
    let second = await desk.send("DELETE", path, [("X-SUP-APPCID", id)])
    #expect(second.status == 404 && second.code == .notRegistered)
    #expect(await desk.send("GET", path, [("X-SUP-APPCID", id)]).status == 404)
    // The id is free again.
    #expect(await desk.register("berta", id) == id)
  }

  @Test(
    "A service of the gateway asks for the caller's own connection of its application",
    .reference("adr/SV-6"))
  func gate() async throws {
    var hotels = Application(id: "com.example.hotels")
    hotels.services = ["hotels"]
    let desk = try await Desk([Desk.plain, hotels])
    let id = await desk.register()
    func refusal(_ path: String, _ user: String, _ id: String?) async -> Int? {
      var request = HTTPRequest(method: .get, path: path)
      request.headers.add("Authorization", Desk.basic(user))
      if let id { request.headers.add("X-SUP-APPCID", id) }
      if let no = desk.applications.refusal(byHead: request) { return no.status }
      return await desk.applications.refusal(of: request)?.status
    }
    #expect(await refusal("/flights/Items", "anna", id) == nil)
    #expect(await refusal("/news/", "anna", id) == nil)
    #expect(await refusal("/flights/Items", "anna", nil) == 403)
    #expect(await refusal("/flights/Items", "anna", "guessed") == 403)
    #expect(await refusal("/flights/Items", "anna", "a/b") == 400)
    #expect(await refusal("/flights/Items", "berta", id) == 403)
    #expect(await refusal("/hotels/Items", "anna", id) == 403)
    #expect(await refusal("/others/Items", "anna", nil) == nil, "no application's")
    let elsewhere = "/odata/applications/v1/com.example.hotels/Connections('\(id)')"
    let foreign = await desk.send("GET", elsewhere, [("X-SUP-APPCID", id)])
    #expect(foreign.code == .wrongUserForRegistration, "the path of another application")
    _ = await desk.send("DELETE", "\(Desk.path)('\(id)')", [("X-SUP-APPCID", id)])
    #expect(await refusal("/flights/Items", "anna", id) == 403)
  }

  @Test("A device that is locked or wiped stays out, and its connection is not deleted")
  func locked() async throws {
    let desk = try await Desk()
    let id = await desk.register()
    let owner = Owner(device: id, user: "anna")
    _ = try await desk.host.decide(.lock, owner, reason: "lost", withPending: false)
    let path = "\(Desk.path)('\(id)')"
    for method in ["GET", "DELETE"] {
      let answer = await desk.send(method, path, [("X-SUP-APPCID", id)])
      #expect(answer.status == 403 && answer.code == .deviceLocked)
    }
    #expect(await desk.send("POST", Desk.path, [("X-SUP-APPCID", id)]).code == .deviceLocked)
    _ = try await desk.host.decide(.unlock, owner, reason: "", withPending: false)
    #expect(await desk.send("GET", path, [("X-SUP-APPCID", id)]).status == 200)
    _ = try await desk.host.decide(.wipe, owner, reason: "lost", withPending: false)
    #expect(await desk.send("GET", path, [("X-SUP-APPCID", id)]).code == .deviceWiped)
  }

  @Test("A session carries a login on for half an hour after its last request")
  func sessions() async throws {
    let desk = try await Desk()
    let first = await desk.send("POST", Desk.path)
    let id = try #require(first.headers["X-SUP-APPCID"])
    let cookie = try #require(
      first.headers.values("Set-Cookie").first { $0.hasPrefix("X-SUP-SESSID=") })
    let session = String(cookie.prefix { $0 != ";" })
    let path = "\(Desk.path)('\(id)')"
    let headers = [("Cookie", "\(session); X-SUP-APPCID=\(id)")]
    for _ in 0..<3 {
      desk.clock.advance(29 * 60)
      #expect(await desk.send("GET", path, user: nil, headers).status == 200)
    }
    desk.clock.advance(30 * 60)
    #expect(await desk.send("GET", path, user: nil, headers).status == 401)
    let second = await desk.send("GET", path, [("X-SUP-APPCID", id)])
    let other = try #require(
      second.headers.values("Set-Cookie").first { $0.hasPrefix("X-SUP-SESSID=") })
    let renewed = [("Cookie", "\(other.prefix { $0 != ";" }); X-SUP-APPCID=\(id)")]
    #expect(await desk.send("GET", path, user: nil, renewed).status == 200)
    desk.people.change("anna")
    #expect(await desk.send("GET", path, user: nil, renewed).status == 401, "a new password")
    let forged = [
      ("Cookie", "X-SUP-SESSID=\(String(repeating: "0", count: 64)); X-SUP-APPCID=\(id)")
    ]
    #expect(await desk.send("GET", path, user: nil, forged).status == 401)
  }

  @Test("Nobody logs in where the application allows it, and a token protects the connection")
  func anonymous() async throws {
    var open = Application(id: Desk.flights)
    open.isAnonymous = true
    let desk = try await Desk([open])
    let made = await desk.send("POST", "/public" + Desk.path, user: nil)
    #expect(made.status == 201)
    let id = try #require(made.headers["X-SUP-APPCID"])
    let token = try #require(made.headers["X-SUP-SECTOKEN"])
    let path = "\(Desk.path)('\(id)')"
    let right = [("X-SUP-APPCID", id), ("X-SMP-SECTOKEN", token)]
    #expect(await desk.send("GET", path, user: nil, right).status == 200)
    #expect(await desk.send("GET", path, user: nil, [("X-SUP-APPCID", id)]).status == 403)
    let other = (token.first == "0" ? "1" : "0") + token.dropFirst()
    let wrong = [("X-SUP-APPCID", id), ("X-SUP-SECTOKEN", other)]
    #expect(await desk.send("GET", path, user: nil, wrong).status == 403)
    // A token opens no connection of a user.
    let annas = await desk.register()
    let theft = [("X-SUP-APPCID", annas), ("X-SUP-SECTOKEN", token)]
    #expect(await desk.send("GET", "\(Desk.path)('\(annas)')", user: nil, theft).status == 401)
  }

  @Test("Templates give a new connection its values; two that match are refused with both names")
  func templates() async throws {
    let desk = try await Desk()
    var field = ConnectionTemplate(
      name: "field", values: ["deviceAdvanced.traceLevel": .text("high")])
    field.package = Desk.flights
    desk.templates.set([field])
    let id = await desk.register()
    #expect(await desk.value("ConnectionLogLevel", of: id) == "high")
    var office = ConnectionTemplate(name: "office", values: [:])
    office.package = Desk.flights
    desk.templates.set([field, office])
    let answer = await desk.send("POST", Desk.path)
    #expect(answer.status == 403 && answer.code == .ambiguousTemplate)
    #expect(answer.text.contains("field and office"))
    // A template that changes is not applied to connections that there are.
    desk.templates.set([])
    #expect(await desk.value("ConnectionLogLevel", of: id) == "high")
    var named = Desk.plain
    named.template = "gone"
    let other = try await Desk([named])
    #expect(await other.send("POST", Desk.path).code == .templateNotFound)
  }

  @Test("An activation code registers one connection of its user, once", .reference("adr/SV-3"))
  func activation() async throws {
    var closed = Desk.plain
    closed.admission = .code
    let desk = try await Desk([closed])
    let without = await desk.send("POST", Desk.path)
    #expect(without.status == 403 && without.code == .automaticRegistrationDisabled)
    let code = try await desk.host.makeActivation(of: "anna", template: nil).code
    func register(_ id: String, _ code: String, user: String = "anna") async -> Answer {
      await desk.send(
        "POST", Desk.path, user: user,
        [("X-SUP-APPCID", id), ("X-SUP-ACTIVATION-CODE", code)])
    }
    #expect(await register("1", "ABCD-EFGH-JKMN").code == .invalidActivationCode)
    #expect(await register("1", "no code").code == .invalidActivationCode)
    #expect(await register("1", code, user: "berta").code == .wrongUserForCode)
    #expect(await register("1", code.lowercased()).status == 201)
    #expect(await register("2", code).code == .wrongDeviceForCode)
    let late = try await desk.host.makeActivation(of: "anna", template: nil).code
    desk.clock.advance(72 * 3_600)
    #expect(await register("3", late).code == .invalidActivationCode)
  }

  @Test("Who guesses activation codes has to wait, as with passwords")
  func guesses() async throws {
    let desk = try await Desk()
    var last = await desk.send("POST", Desk.path)
    for number in 0..<100 where last.status != 429 {
      last = await desk.send(
        "POST", Desk.path,
        [("X-SUP-APPCID", "id\(number)"), ("X-SUP-ACTIVATION-CODE", "ABCD-EFGH-JKMN")])
    }
    #expect(last.status == 429 && last.code == .tooManyAttempts)
    #expect(last.headers["Retry-After"] != nil)
  }

  @Test("An application may name its users")
  func whiteList() async throws {
    var listed = Desk.plain
    listed.users = ["berta"]
    let desk = try await Desk([listed])
    #expect(await desk.send("POST", Desk.path).code == .userNotAllowed)
    #expect(await desk.send("POST", Desk.path, user: "berta").status == 201)
  }
}
