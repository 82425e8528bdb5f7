import FerryHTTP
import FerryHTTPClient
import FerryTestTraits
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerryApplications
@testable import FerryRegistration
@testable import FerryServer

/// Makes ZIP files whose entries are stored as they are.
struct ZipMaker {
  var entries: [(name: String, content: [UInt8])] = []
  /// What the directory says of the size of an entry in place of the truth.
  var claimed: [String: UInt32] = [:]

  static func bundle(_ name: String, _ version: String, _ content: [UInt8] = []) -> ZipMaker {
    ZipMaker(entries: [
      ("META-INF/MANIFEST.MF", Array("Name: \(name)\r\nVersion: \(version)\r\n".utf8)),
      ("logo.png", content),
    ])
  }

  var bytes: [UInt8] {
    func little(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) }
    }
    var file: [UInt8] = []
    var directory: [UInt8] = []
    for (name, content) in entries {
      let size = Int(claimed[name] ?? UInt32(content.count))
      let common =
        little(20, 2) + little(0, 2) + little(0, 2) + little(0, 4) + little(0, 4)
        + little(content.count, 4) + little(size, 4) + little(name.utf8.count, 2) + little(0, 2)
      directory += little(0x0201_4B50, 4) + little(20, 2) + common
      directory += little(0, 2) + little(0, 2) + little(0, 2) + little(0, 4)
      directory += little(file.count, 4) + Array(name.utf8)
      file += little(0x0403_4B50, 4) + common + Array(name.utf8) + content
    }
    return file + directory + little(0x0605_4B50, 4) + little(0, 4)
      + little(entries.count, 2) + little(entries.count, 2) + little(directory.count, 4)
      + little(file.count, 4) + little(0, 2)
  }
}

@Suite("Resource bundles", .timeLimit(.minutes(60)))
final class BundleTests {
  private let folder =
    FileManager.default.temporaryDirectory
    .appendingPathComponent("ferry-bundles-\(UUID().uuidString)").path

  init() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func put(_ name: String, _ maker: ZipMaker) throws {
    try Data(maker.bytes).write(to: URL(filePath: "\(folder)/\(name)"))
  }

  private func desk(_ standard: String? = "brand:1.0") async throws -> Desk {
    var application = Desk.plain
    application.bundles = folder
    application.bundle = standard
    return try await Desk([application])
  }

  private static let registered = [("X-SUP-APPCID", "phone-1")]
  private static let path = "/bundles/com.example.flights"

  private func register(_ desk: Desk) async {
    _ = await desk.send("POST", Desk.path, Self.registered)
  }

  @Test(
    "A connection gets a bundle by name and version, or without a name the default of its application",
    .reference("ios/SRV-14", "adr/SV-16", "adr/BUN-1", "adr/BUN-3"))
  func bundles() async throws {
    try put("one.zip", .bundle("brand", "1.0", [1, 2, 3]))
    try put("two.jar", .bundle("brand", "2.0", [4, 5]))
    let desk = try await desk()
    await register(desk)
    let standard = await desk.send("GET", "\(Self.path)/", Self.registered)
    #expect(standard.status == 200 && standard.headers["X-BUNDLE-ID"] == "brand:1.0")
    #expect(standard.headers["X-BUNDLE-EXTENSION"] == "zip")
    #expect(try await standard.all() == ZipMaker.bundle("brand", "1.0", [1, 2, 3]).bytes)
    let named = await desk.send("GET", "\(Self.path)/brand:2.0", Self.registered)
    #expect(named.status == 200 && named.headers["X-BUNDLE-EXTENSION"] == "jar")
    let absent = await desk.send("GET", "\(Self.path)/brand:3.0", Self.registered)
    #expect(absent.status == 404 && absent.text.contains("70007"))
    // A file that comes while the server runs is there at once, and one that is gone is not.
    try put("three.zip", .bundle("brand", "3.0"))
    #expect(await desk.send("GET", "\(Self.path)/brand:3.0", Self.registered).status == 200)
    try FileManager.default.removeItem(atPath: "\(folder)/three.zip")
    #expect(await desk.send("GET", "\(Self.path)/brand:3.0", Self.registered).status == 404)
  }

  @Test(
    "An administrator gives a connection a bundle of its own, and the app sees its name",
    .reference("adr/BUN-2"))
  func own() async throws {
    try put("one.zip", .bundle("brand", "1.0"))
    try put("two.zip", .bundle("vip", "1.0"))
    let desk = try await desk()
    await register(desk)
    let address = "\(Desk.path)('phone-1')/CustomizationBundleId/$value"
    #expect(await desk.send("GET", address, Self.registered).text == "brand:1.0")
    var connection = try #require(try await desk.host.connection("phone-1"))
    var values = ConnectionValues.read(connection.properties)
    values["CustomizationBundleId"] = .text("vip:1.0")
    connection.properties = ConnectionValues.write(values)
    #expect(try await desk.host.update(connection, from: connection.changes))
    #expect(await desk.send("GET", address, Self.registered).text == "vip:1.0")
    let bundle = await desk.send("GET", Self.path, Self.registered)
    #expect(bundle.headers["X-BUNDLE-ID"] == "vip:1.0")
  }

  @Test("Only the user of a registered connection gets a bundle")
  func strangers() async throws {
    try put("one.zip", .bundle("brand", "1.0"))
    let desk = try await desk()
    await register(desk)
    #expect(await desk.send("GET", Self.path, user: nil, Self.registered).status == 401)
    #expect(await desk.send("GET", Self.path, user: "berta", Self.registered).status == 403)
    #expect(await desk.send("GET", Self.path).status == 403)
    #expect(await desk.send("GET", Self.path, [("X-SUP-APPCID", "phone-2")]).status != 200)
    #expect(
      await desk.send("GET", "/bundles/com.example.other", Self.registered).status == 404)
    for path in ["/../users.json", "/..%2Fone.zip", "/one.zip", "/brand:1.0/x"] {
      #expect(await desk.send("GET", Self.path + path, Self.registered).status == 404, "\(path)")
    }
  }

  @Test("A download that broke goes on where it was, unless the bundle is another by now")
  func ranges() async throws {
    try put("one.zip", .bundle("brand", "1.0", Array(0...255)))
    let desk = try await desk()
    await register(desk)
    let whole = await desk.send("GET", Self.path, Self.registered)
    let bytes = try await whole.all()
    let etag = try #require(whole.headers["ETag"])
    func get(_ headers: [(String, String)]) async -> Answer {
      await desk.send("GET", Self.path, Self.registered + headers)
    }
    let rest = await get([("Range", "bytes=100-"), ("If-Range", etag)])
    #expect(rest.status == 206)
    #expect(rest.headers["Content-Range"] == "bytes 100-\(bytes.count - 1)/\(bytes.count)")
    #expect(try await rest.all() == Array(bytes[100...]))
    #expect(try await get([("Range", "bytes=-5")]).all() == Array(bytes.suffix(5)))
    #expect(try await get([("Range", "bytes=2-4")]).all() == Array(bytes[2...4]))
    #expect(await get([("Range", "bytes=\(bytes.count)-")]).status == 416)
    for range in ["bytes=4-2", "bytes=0-1,4-5", "lines=1-2", "bytes=x-"] {
      #expect(await get([("Range", range)]).status == 200, "\(range)")
    }
    #expect(await get([("If-None-Match", etag)]).status == 304)
    try put("one.zip", .bundle("brand", "1.0", Array(0...200)))
    #expect(await get([("Range", "bytes=100-"), ("If-Range", etag)]).status == 200)
  }

  @Test("A file that is no bundle is left out, and says what is wrong with it")
  func badFiles() throws {
    var outside = ZipMaker.bundle("brand", "1.0")
    outside.entries.append(("../../etc/passwd", [1]))
    var bomb = ZipMaker.bundle("brand", "1.0", [1])
    bomb.claimed["logo.png"] = 3_000_000_000
    let noManifest = ZipMaker(entries: [("logo.png", [1])])
    let nameless = ZipMaker(entries: [("META-INF/MANIFEST.MF", Array("Version: 1\n".utf8))])
    var cut = ZipMaker.bundle("brand", "1.0", [1]).bytes
    cut.removeLast()
    for (bytes, part) in [
      (outside.bytes, "leads out of its folder: ../../etc/passwd"),
      (bomb.bytes, "would expand to far more"), (noManifest.bytes, "has no META-INF/MANIFEST.MF"),
      (nameless.bytes, "has no name and version"), (cut, "is no ZIP file"),
      ([], "is no ZIP file"), (Array("PK".utf8), "is no ZIP file"),
    ] {
      try Data(bytes).write(to: URL(filePath: "\(folder)/bad.zip"))
      let error = #expect(throws: ApplicationsError.self) {
        try BundleFile(path: "\(folder)/bad.zip")
      }
      #expect(error?.message.contains(part) == true, "\(part): \(error?.message ?? "")")
    }
    let error = #expect(throws: ApplicationsError.self) { try BundleFile(path: folder) }
    #expect(error?.message.contains("cannot be read") == true)
  }

  @Test("A ZIP of another program is read, with a manifest that is compressed")
  func otherProgram() throws {
    let script = """
      import zipfile, sys
      with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as file:
          file.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\\nBundle-Name: brand-of-a-\\n long-name\\nBundle-Version: 7\\n" + "X: y\\n" * 100)
          file.writestr("logo.png", b"0" * 100000)
      """
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", script, "\(folder)/made.zip"]
    try process.run()
    process.waitUntilExit()
    let bundle = try BundleFile(path: "\(folder)/made.zip")
    #expect(bundle.id == "brand-of-a-long-name:7")
  }

  private func app(_ desk: Desk, _ transport: any Transport) -> ApplicationRegistration {
    ApplicationRegistration(
      RegistrationProfile(
        server: "https://gate.example.com", application: Desk.flights,
        credentials: RegistrationProfile.Credentials(user: "anna", password: "of-anna")),
      stateFile: "\(desk.folder)/state.json", transport: transport, world: desk.world)
  }

  @Test(
    "An app downloads a bundle into a file, and a line that breaks goes on where it was",
    .reference("adr/RST-14"))
  func download() async throws {
    let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try put("one.zip", .bundle("brand", "1.0", content))
    let desk = try await desk()
    let line = CuttingTransport(desk)
    let app = app(desk, line)
    let path = "\(folder)/app.bundle"
    await #expect(throws: RegistrationError.self) { try await app.bundle(to: path) }
    try await app.register()
    line.cut(after: [30_000, 1, 0, 50_000])
    let steps = Mutex<[Int64]>([])
    let bundle = try await app.bundle("brand:1.0", to: path) { received, size in
      steps.withLock { $0.append(received) }
      #expect(received <= size)
    }
    let whole = ZipMaker.bundle("brand", "1.0", content).bytes
    #expect(bundle.id == "brand:1.0" && bundle.sizeBytes == Int64(whole.count))
    #expect([UInt8](try Data(contentsOf: URL(filePath: path))) == whole)
    #expect(line.ranges == [nil, "bytes=30000-", "bytes=30001-", "bytes=30001-", "bytes=80001-"])
    #expect(steps.withLock { $0 } == steps.withLock { $0.sorted() })
    // The one that is there stays where there is none in its place.
    let code = await #expect(throws: RegistrationError.self) {
      try await app.bundle("brand:9", to: path)
    }?.code
    #expect(code == .bundleNotAvailable)
    #expect([UInt8](try Data(contentsOf: URL(filePath: path))) == whole)
    line.cut(after: [10, 0, 0, 0, 0, 0, 0])
    let end = await #expect(throws: RegistrationError.self) { try await app.bundle(to: path) }?.code
    #expect(end == .bundleFetchFailed)
    #expect(!FileManager.default.fileExists(atPath: "\(path).part"))
    #expect([UInt8](try Data(contentsOf: URL(filePath: path))) == whole)
  }

  @Test("A bundle that is replaced during a download arrives as the new one, whole")
  func replaced() async throws {
    try put("one.zip", .bundle("brand", "1.0", [UInt8](repeating: 1, count: 50_000)))
    let desk = try await desk()
    let line = CuttingTransport(desk)
    let app = app(desk, line)
    try await app.register()
    let new = ZipMaker.bundle("brand", "1.0", [UInt8](repeating: 2, count: 40_000))
    line.cut(after: [30_000]) { [folder] in
      try? Data(new.bytes).write(to: URL(filePath: "\(folder)/one.zip"))
    }
    try await app.bundle(to: "\(folder)/app.bundle")
    #expect([UInt8](try Data(contentsOf: URL(filePath: "\(folder)/app.bundle"))) == new.bytes)
  }

  @Test("Each byte of a bundle may be wrong: it is refused or read, and nothing else happens")
  func damaged() throws {
    let bytes = ZipMaker.bundle("brand", "1.0", [1, 2, 3]).bytes
    for place in bytes.indices {
      for value in [0x00, 0x7F, 0xFF] as [UInt8] {
        var damaged = bytes
        damaged[place] = value
        try Data(damaged).write(to: URL(filePath: "\(folder)/bad.zip"))
        _ = try? BundleFile(path: "\(folder)/bad.zip")
      }
    }
    #expect(throws: ApplicationsError.self) { try BundleFile(path: "\(folder)/none.zip") }
  }
}

/// Requests to a desk whose answers are cut after so many bytes.
private final class CuttingTransport: Transport {
  private let desk: Desk
  private let state = Mutex((cuts: [Int](), ranges: [String?](), then: {} as @Sendable () -> Void))

  init(_ desk: Desk) { self.desk = desk }

  /// Of each request for a bundle the header `Range`.
  var ranges: [String?] { state.withLock { $0.ranges } }

  /// `then` is called at each cut.
  func cut(after bytes: [Int], then: @escaping @Sendable () -> Void = {}) {
    state.withLock { $0 = (bytes, [], then) }
  }

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    let response = try await DeskTransport(desk).send(request)
    guard request.url.contains("/bundles/") else { return response }
    let cut = state.withLock { state in
      state.ranges.append(request.headers["Range"])
      return state.cuts.isEmpty ? nil : state.cuts.removeFirst()
    }
    guard let cut else { return response }
    return TransportResponse(
      status: response.status, headers: response.headers,
      body: Body(response.body, cut, state.withLock { $0.then }))
  }

  private final class Body: TransportBody {
    private let body: any TransportBody
    private let left: Mutex<Int>
    private let then: @Sendable () -> Void

    init(_ body: any TransportBody, _ bytes: Int, _ then: @escaping @Sendable () -> Void) {
      self.body = body
      left = Mutex(bytes)
      self.then = then
    }

    func next() async throws(TransportError) -> [UInt8]? {
      let room = left.withLock { $0 }
      guard room > 0, let bytes = try await body.next() else {
        then()
        throw TransportError(
          code: .cut, message: "cut", hint: "none", isTransient: true, requestWasSent: true)
      }
      left.withLock { $0 = max(0, room - bytes.count) }
      return Array(bytes.prefix(room))
    }

    func cancel() { body.cancel() }
  }
}
