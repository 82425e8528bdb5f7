import FerryHTTP
import FerryOData
import FerryTestTraits
import Foundation
import Testing

@testable import FerryApplications
@testable import FerryRegistration
@testable import FerryServer

@Suite("Settings of a connection over HTTP", .timeLimit(.minutes(60)))
struct SettingsTests {
  @Test("The metadata marks what an app may not change, and reads as a service of V2")
  func metadata() async throws {
    let desk = try await Desk()
    let answer = await desk.send("GET", "/odata/applications/latest/com.example.flights/$metadata")
    #expect(answer.status == 200)
    let metadata = try EdmMetadata.read(Array(answer.text.utf8))
    #expect(
      metadata.containers.flatMap { $0.entitySets.map(\.name) }.sorted()
        == ["Capabilities", "Connections", "Endpoints"])
    for property in ConnectionProperty.all {
      let line = answer.text.split(separator: "\n").first {
        $0.contains("<Property Name=\"\(property.name)\"") && $0.contains("Type=")
      }
      #expect(
        line?.contains("sup:ReadOnly=\"true\"") == property.isReadOnly, "\(property.name)")
    }
    let service = await desk.send("GET", "/odata/applications/v1/com.example.flights/")
    #expect(service.text.contains("<collection href=\"Connections\""))
  }

  @Test(
    "All settings are read, one is, and several are changed at once",
    .reference("ios/SRV-11", "adr/SV-10", "adr/SV-11"))
  func changed() async throws {
    let desk = try await Desk()
    let id = await desk.register()
    let path = "\(Desk.path)('\(id)')"
    let headers = [("X-SUP-APPCID", id)]
    let merge = await desk.send(
      "MERGE", path, headers,
      body: #"{"CustomCustom1":"gate 7","ApnsPushEnable":true,"BlackberryBESListenerPort":80}"#)
    #expect(merge.status == 204)
    #expect(await desk.value("CustomCustom1", of: id) == "gate 7")
    #expect(await desk.value("ApnsPushEnable", of: id) == "true")
    #expect(await desk.value("BlackberryBESListenerPort", of: id) == "80")
    #expect(
      await desk.value("ProxyPushEndpoint", of: id) == "https://gate.example.com/Notification/\(id)"
    )
    #expect(
      await desk.value("ProxyApplicationEndpoint", of: id) == "https://gate.example.com/flights/")
    let one = await desk.send("GET", "\(path)/CustomCustom1", headers)
    #expect(one.text.contains(">gate 7</CustomCustom1>"))
    let json = await desk.send("GET", "\(path)/CustomCustom1?$format=json", headers)
    #expect(json.text == #"{"d":{"CustomCustom1":"gate 7"}}"#)
    // PUT is the whole connection: what it leaves out gets its default.
    let put = await desk.send("PUT", path, headers, body: #"{"CustomCustom2":"b"}"#)
    #expect(put.status == 204)
    #expect(await desk.value("CustomCustom1", of: id) == nil)
    #expect(await desk.value("CustomCustom2", of: id) == "b")
    #expect(await desk.value("ApnsPushEnable", of: id) == "false")
    // As apps of the reference write it: every value as a text, and null takes it away.
    let texts = await desk.send(
      "POST", path, headers + [("X-HTTP-Method", "MERGE")],
      body: #"{"ApnsPushEnable":"true","CustomCustom2":null}"#)
    #expect(texts.status == 204)
    #expect(await desk.value("ApnsPushEnable", of: id) == "true")
    #expect(await desk.value("CustomCustom2", of: id) == nil)
  }

  @Test("One property that is read-only, unknown, wrong or there twice refuses all of them")
  func refused() async throws {
    let desk = try await Desk()
    let id = await desk.register(body: #"{"CustomCustom1":"before"}"#)
    let path = "\(Desk.path)('\(id)')"
    let headers = [("X-SUP-APPCID", id)]
    let atom = { (properties: String) in
      """
      <entry xmlns="http://www.w3.org/2005/Atom" \
      xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" \
      xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices">\
      <content type="application/xml"><m:properties>\(properties)</m:properties></content></entry>
      """
    }
    for (body, code) in [
      (#"{"CustomCustom1":"x","UserName":"berta","CustomCustom2":"y"}"#, .readOnlyProperties),
      (#"{"CustomCustom1":"x","PasswordPolicyEnabled":false}"#, .readOnlyProperties),
      (#"{"CustomCustom1":"x","ApplicationConnectionId":"other"}"#, .readOnlyProperties),
      (#"{"CustomCustom1":"x","CustomCustom5":"y"}"#, .unknownProperty),
      (#"{"CustomCustom1":"x","ApnsPushEnable":"perhaps"}"#, .wrongValue),
      (#"{"CustomCustom1":"x","ApnsPushEnable":7}"#, .wrongValue),
      (#"{"CustomCustom1":"x","BlackberryBESListenerPort":99999999999}"#, .wrongValue),
      (#"{"CustomCustom1":true}"#, .wrongValue),
      (#"{"CustomCustom1":"\#(String(repeating: "x", count: 4_097))"}"#, .wrongValue),
      (#"{"CustomCustom1":"x","#, .unreadableRequest),
      (#"["CustomCustom1"]"#, .unreadableRequest),
      ("{}", .emptyParameters), ("", .emptyParameters),
      (
        atom("<d:CustomCustom1>x</d:CustomCustom1><d:CustomCustom1>y</d:CustomCustom1>"),
        .repeatedProperty
      ),
      (
        atom("<d:CustomCustom1>x</d:CustomCustom1><d:UserName>berta</d:UserName>"),
        .readOnlyProperties
      ),
    ] as [(String, RegistrationCode)] {
      let answer = await desk.send("MERGE", path, headers, body: body)
      #expect(answer.code == code, "\(body.prefix(80)): \(answer.text.prefix(300))")
      #expect(answer.status == code.status)
      #expect(await desk.value("CustomCustom1", of: id) == "before", "\(body.prefix(80))")
    }
    let made = await desk.send("POST", Desk.path, body: #"{"UserName":"berta"}"#)
    #expect(made.code == .readOnlyProperties)
  }

  @Test("A change of another state is refused, and one that is unconditional loses no other")
  func concurrent() async throws {
    let desk = try await Desk()
    let id = await desk.register()
    let path = "\(Desk.path)('\(id)')"
    let read = await desk.send("GET", path, [("X-SUP-APPCID", id)])
    let etag = try #require(read.headers["ETag"])
    let headers = [("X-SUP-APPCID", id), ("If-Match", etag)]
    #expect(await desk.send("MERGE", path, headers, body: #"{"Email":"a"}"#).status == 204)
    let late = await desk.send("MERGE", path, headers, body: #"{"Email":"b"}"#)
    #expect(late.status == 412 && late.code == .changedMeanwhile)
    #expect(await desk.value("Email", of: id) == "a")
    await withTaskGroup(of: Int.self) { group in
      for number in 1...4 {
        group.addTask {
          await desk.send(
            "MERGE", path, [("X-SUP-APPCID", id)], body: "{\"CustomCustom\(number)\":\"\(number)\"}"
          ).status
        }
      }
      for await status in group { #expect(status == 204) }
    }
    for number in 1...4 {
      #expect(await desk.value("CustomCustom\(number)", of: id) == "\(number)")
    }
  }

  @Test(
    "A password policy is given out once it is enabled and the app can follow it",
    .reference("ios/SRV-13"))
  func passwordPolicy() async throws {
    let desk = try await Desk()
    var strict = ConnectionTemplate(
      name: "strict",
      values: [
        "passwordPolicy.enabled": .boolean(true), "passwordPolicy.minimumLength": .integer(12),
      ])
    strict.package = Desk.flights
    desk.templates.set([strict])
    let id = await desk.register()
    let path = "\(Desk.path)('\(id)')"
    let headers = [("X-SUP-APPCID", id)]
    let before = await desk.send("GET", "\(path)/PasswordPolicyMinLength/$value", headers)
    #expect(before.status == 404 && before.code == .passwordPolicyNotEnabled)
    #expect(
      await desk.send("GET", path, headers).text.contains(
        #"<d:PasswordPolicyEnabled m:null="true""#))
    _ = await desk.send("MERGE", path, headers, body: #"{"CapabilitiesPasswordPolicy":"true"}"#)
    #expect(await desk.value("PasswordPolicyMinLength", of: id) == "12")
    #expect(await desk.value("PasswordPolicyRetryLimit", of: id) == "10")
  }

  @Test("Both formats have the same values, and a text of any character comes back")
  func formats() async throws {
    let desk = try await Desk()
    let text = "<&>\"' é \u{1F6EB}\t"
    let id = await desk.register()
    let headers = [("X-SUP-APPCID", id)]
    let path = "\(Desk.path)('\(id)')"
    let json = try #require(
      String(data: try JSONEncoder().encode(["CustomCustom1": text]), encoding: .utf8))
    #expect(await desk.send("MERGE", path, headers, body: json).status == 204)
    for accept in ["application/json", "application/atom+xml"] {
      let answer = await desk.send("GET", path, headers + [("Accept", accept)])
      #expect(answer.headers["Content-Type"]?.hasPrefix(accept) == true)
      let options = ODataReadOptions(
        metadata: ApplicationsMetadata.metadata, type: ApplicationsMetadata.connection)
      let entry = try ODataEntry.read(Array(answer.text.utf8), options)
      #expect(entry["CustomCustom1"]?.string == text)
      #expect(entry["ApplicationConnectionId"]?.string == id)
    }
    let feed = await desk.send("GET", "\(Desk.path)?$format=json", headers)
    #expect(feed.status == 200 && feed.text.contains(id))
    let endpoints = await desk.send(
      "GET", "/odata/applications/v1/com.example.flights/Endpoints?$format=json", headers)
    #expect(endpoints.text.contains("https://gate.example.com/news/"))
  }

  @Test("The capabilities of a connection are what its app has said that it can do")
  func capabilities() async throws {
    let desk = try await Desk()
    let id = await desk.register()
    let headers = [("X-SUP-APPCID", id)]
    let path = "/odata/applications/v1/com.example.flights/Capabilities"
    func read() async throws -> [ODataEntry] {
      let answer = await desk.send("GET", path, headers)
      #expect(answer.status == 200)
      let metadata = ApplicationsMetadata.metadata
      let options = ODataReadOptions(metadata: metadata, type: "applications.Capability")
      return try ODataFeed.read(Array(answer.text.utf8), options).entries
    }
    let before = try #require(try await read().first)
    #expect(before["ApplicationConnectionId"]?.string == id)
    #expect(before["Category"]?.string == "capabilities")
    #expect(before["CapabilityName"]?.string == "PasswordPolicy")
    #expect(before["CapabilityValue"]?.string == "false")
    let merge = await desk.send(
      "MERGE", "\(Desk.path)('\(id)')", headers, body: #"{"CapabilitiesPasswordPolicy":true}"#)
    #expect(merge.status == 204)
    #expect(try await read().map { $0["CapabilityValue"]?.string } == ["true"])
    #expect(await desk.send("POST", path, headers, body: "{}").code == .notOffered)
    #expect(await desk.send("GET", path).status == 403)
  }
}
