import FerryModel
import FerryTestTraits
import FerryWire
import FerryWorld
import Testing

@testable import FerryServer

/// Activation codes, templates and inactive devices in the register.
final class ActivationTests {
  private let bench: Bench
  private let users: UserFile

  init() throws {
    bench = try Bench()
    users = try UserFile.anna()
    bench.service.provider = users
  }

  private func activate(_ code: String, _ device: String) -> ServerError.Code? {
    serverErrorCode { () throws(ServerError) in
      _ = try bench.service.activate(code, of: "anna", device: device)
    }
  }

  @Test(
    "A code is good for one device and 72 hours, and a lost answer may be asked for again",
    .reference("facts/2.10")
  )
  func once() throws {
    let made = try bench.service.makeActivation(of: "anna", template: nil)
    #expect(made.code.count == 14)
    #expect(activate("ABCD-EFGH-JKMN", "phone") == .wrongLogin)
    #expect(activate("", "phone") == .wrongLogin)
    #expect(activate(made.code, "phone") == nil)
    #expect(activate(made.code.lowercased(), "phone") == nil, "the answer was lost")
    #expect(activate(made.code, "thief") == .wrongLogin)
    let late = try bench.service.makeActivation(of: "anna", template: nil)
    bench.clock.advance(72 * 3_600)
    #expect(activate(late.code, "tablet") == .wrongLogin)
    #expect(
      serverErrorCode { () throws(ServerError) in
        _ = try bench.service.makeActivation(of: "nobody", template: nil)
      } == .badRequest)
    #expect(
      serverErrorCode { () throws(ServerError) in
        _ = try bench.service.makeActivation(of: "anna", template: "none")
      } == .badRequest)
    // What is stored is not the code.
    let texts = try bench.service.devices().map { "\($0)" }.joined()
    #expect(!texts.contains(made.code.replacing("-", with: "")))
    try bench.service.compact()
    #expect(try bench.service.devices().filter { $0.state == .activating }.isEmpty)
  }

  @Test(
    "An inactive device leaves the register with its subscription and parameters",
    .reference("sync/I7", "sync/Q10"))
  func inactive() throws {
    let pair = try bench.service.login(
      users.authenticate(user: "anna", password: ""), device: "phone")
    let identity = try bench.service.accessTokens.verify(pair.accessToken, now: bench.clock.now)
    var hello = Hello(
      server: nil, package: "shop:1.0", device: "phone", incarnation: "i", groups: [],
      partitions: [], open: [])
    hello.facts.isSubscribed = true
    hello.parameters.sets = [["region": "South"]]
    try bench.service.accounts.register(hello, identity)
    let known = try #require(try bench.service.devices().first)
    #expect(known.subscription == "accepted" && known.parameters == #"[{"region":"South"}]"#)
    // Unsubscribed: its parameters go at once (sync/I6).
    hello.facts.isSubscribed = false
    try bench.service.accounts.register(hello, identity)
    let after = try #require(try bench.service.devices().first)
    #expect(after.subscription == nil && after.parameters == "[]")
    bench.clock.advance(179 * 86_400)
    try bench.service.compact()
    #expect(try bench.service.devices().count == 1)
    #expect(try bench.service.devices()[0].daysLeft(of: 180, now: bench.clock.now) == 1)
    bench.clock.advance(86_400)
    try bench.service.compact()
    #expect(try bench.service.devices().isEmpty)
  }

  @Test(
    "The register has one subscription of a device, accepted or refused with its cause",
    .reference("sync/Q3", "sync/M23")
  )
  func subscription() throws {
    let pair = try bench.service.login(
      users.authenticate(user: "anna", password: ""), device: "phone")
    let identity = try bench.service.accessTokens.verify(pair.accessToken, now: bench.clock.now)
    let ask = { (package: String) in
      var hello = Hello(
        server: nil, package: package, device: "phone", incarnation: "i", groups: [],
        partitions: [], open: [])
      hello.facts.isSubscribed = true
      _ = self.bench.service.exchanges.open(
        ExchangeRequest.read(Message.hello(hello).frame.encoded()), identity, isChannel: false,
        until: identity.expires, id: 1)
    }
    ask("shop:1.0")
    ask("shop:1.0")
    #expect(try bench.service.devices().map(\.subscription) == ["accepted"])
    ask("shop:9.0")
    let cause = try #require(try bench.service.devices().first?.subscription)
    #expect(cause.hasPrefix("refused: ") && cause.contains("shop:9.0"))
    ask("shop:1.0")
    #expect(try bench.service.devices().map(\.subscription) == ["accepted"])
  }

  @Test("A file of templates with an unknown category, property or type is refused with its place")
  func badFiles() throws {
    let faults = [
      (#"{"templates": [{"name": "a", "settings": {"colour": {}}}]}"#, "no category colour"),
      (
        #"{"templates": [{"name": "a", "settings": {"connection": {"prot": 1}}}]}"#,
        "connection.prot"
      ),
      (#"{"templates": [{"name": "a", "settings": {"connection": {"port": "x"}}}]}"#, "no integer"),
      (#"{"templates": [{"name": "a"}, {"name": "a"}]}"#, "two templates a"),
      (#"{"templates": [{}]}"#, "no name"),
      (#"{"templates": "#, "1:"),
      (#"{"templates": [{"name": "a", "login": "magic"}]}"#, "neither password nor token"),
      (#"{"templates": [{"name": "a", "settings": {"custom": {"x": 1.5}}}]}"#, "whole number"),
    ]
    for (text, word) in faults {
      do throws(ServerError) {
        _ = try ConnectionTemplate.read(Array(text.utf8), name: "templates.json")
        Issue.record("\(text) was taken")
      } catch {
        #expect(
          error.message.contains(word) && error.message.contains("templates.json:1:"), "\(error)")
      }
    }
    let good = #"{"templates": [{"name": "a", "settings": {"custom": {"x": [1], "y": true}}}]}"#
    #expect(throws: ServerError.self) {
      _ = try ConnectionTemplate.read(Array(good.utf8), name: "t")
    }
  }
}
