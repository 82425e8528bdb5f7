import FerryModel
import FerryWire
import FerryWorld
import Testing

@testable import FerryServer

/// What follows for a user whose package is taken away.
@Suite struct PackageRightsTests {
  private let bench: Bench
  private let users = DoorUsers()

  init() throws {
    bench = try Bench()
    bench.service.provider = users
    bench.business.put(Shop.order, Shop.order(10, 1, "Oslo"))
    try bench.load()
  }

  @Test("A change that waits is refused once its user may not use the package any more")
  func waiting() throws {
    let device = try Device(bench).exchange()
    let change = bench.operation(
      Shop.order, .update, ObjectKey([.integer(10)]), changed: [2: .text("Bergen")],
      base: [2: .text("Oslo")])
    device.open = [change.0]
    try device.exchange([change.1])
    users.change { $0.packages["anna"] = ["other"] }
    try bench.replay()
    #expect(bench.business.performed == [:])
    users.change { $0.packages["anna"] = ["shop"] }
    try device.exchange()
    #expect(device.answers[change.0]?.outcome == .replayFailed)
    #expect(device.answers[change.0]?.logRecords.first?.code == 403)
  }

  @Test("The register tells the operator why; the device hears only that there is no such package")
  func register() throws {
    let pair = try bench.service.login(
      users.authenticate(user: "anna", password: ""), device: "phone")
    let identity = try bench.service.accessTokens.verify(pair.accessToken, now: bench.clock.now)
    let device = try Device(bench, "phone", identity).exchange()
    users.change { $0.packages["anna"] = [] }
    try device.exchange()
    #expect(device.failure?.message == "this server has no package shop:1.0")
    let known = try bench.service.devices().first { $0.device == "phone" }
    #expect(known?.subscription == "refused: anna may not use the package shop:1.0")
  }

  @Test("Who names a package of others at the login is not registered by its template")
  func template() throws {
    var template = ConnectionTemplate(name: "shops", values: [:])
    template.package = "shop"
    bench.service.templates.set([template])
    for (device, names) in [("one", ["other"]), ("two", ["shop"])] {
      users.change { $0.packages["anna"] = names }
      _ = try bench.service.login(
        users.authenticate(user: "anna", password: ""), device: device, package: "shop:1.0")
    }
    let templates = try bench.service.devices().map { [$0.device: $0.template] }
    #expect(templates == [["two": "shops"]])
  }

  @Test("A user file that says anything but names of packages is refused whole, with its place")
  func userFile() throws {
    func file(_ packages: String) throws -> UserFile {
      try UserFile(
        Array(#"{"users": [{"name": "anna", "passwordHash": "$a"\#(packages)}]}"#.utf8),
        name: "users.json"
      ) { _, _ in true }
    }
    #expect(try file("").record(of: "anna")?.packages == .all)
    #expect(try file(#", "packages": []"#).record(of: "anna")?.packages == .only([]))
    #expect(
      try file(#", "packages": ["a", "b"]"#).record(of: "anna")?.packages == .only(["a", "b"]))
    for wrong in [#""Travel""#, "null", "{}", "[1]", #"["a", null]"#, #"[""]"#, #"["Travel:1.0"]"#]
    {
      let error = #expect(throws: ServerError.self) { try file(#", "packages": \#(wrong)"#) }
      #expect(error?.code == .badUserFile, "\(wrong)")
      #expect(error?.message.hasPrefix("users.json:1:12") == true, "\(error?.message ?? "")")
    }
  }
}
