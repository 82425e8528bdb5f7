import FerryJSON
import FerrySQLiteStore

/// How a server is, put together from what it says of itself and from its folder.
struct ServerStatus {
  /// One of its packages. Nil: not known.
  struct Package {
    let name: String
    var word = ""
    var database: String?
    var devices: Int?
    var channels: Double?
    var waiting: Double?
    var credentialWaits: Double?
    var oldestSeconds: Double?
    /// How long ago the business system had committed what the server has not read yet.
    var behindSeconds: Double?
    var comparedSeconds: Double?
    var cacheGroups: [CacheGroupLine] = []
    /// Rows of a load that is under way, and of how many.
    var loadedRows: Int64?
    var loadRows: Int64?
    /// Rows that do not fit the model, and one of them with its cure.
    var leftOutRows: Int64?
    var leftOutExample: String?
    /// What fails, with its cure where there is one.
    var problems: [String] = []
  }

  let server: String
  private(set) var word = "notRunning"
  private(set) var problems: [String] = []
  private(set) var version: String?
  /// Milliseconds since 1970.
  private(set) var startedAt: Int64?
  private(set) var users: Int?
  private(set) var devices: Int?
  private(set) var lockedDevices: Int?
  private(set) var packages: [Package] = []

  static func read(_ door: OperatorDoor, data: String, users: String) async throws -> ServerStatus {
    var status = ServerStatus(server: door.server)
    do { status.users = try UserList.read(users)?.users.count } catch {
      status.problems.append(CommandFailure(error).text)
    }
    let answer: [UInt8]
    do { answer = try await door.text("health") } catch {
      status.problems.append(CommandFailure(error).text)
      status.readStore(data)
      return status
    }
    guard let health = try? JSONNode.parse(answer) else {
      status.word = "starting"
      return status
    }
    guard health["startedAt"] != nil else {
      throw CommandError(
        "the server \(door.server) does not know the key in \(data)",
        hint: "Name its own data folder with --data.")
    }
    status.take(health)
    do { status.take(metrics: try await door.text("metrics"), health) } catch {
      status.problems.append(CommandFailure(error).text)
    }
    // A store that is stuck would keep these waiting.
    guard status.word != "stuck" else { return status }
    do {
      status.take(devices: try await door.devices())
      status.take(packages: try await door.ask(.get, "packages")["packages"]?.array ?? [])
    } catch {
      status.problems.append(CommandFailure(error).text)
    }
    return status
  }

  private init(server: String) { self.server = server }

  private mutating func readStore(_ data: String) {
    do {
      let store = try StoreCopy("\(data)/\(StoreCopy.fileName)", isThorough: false)
      packages = store.packages.map { Package(name: $0.name) }
    } catch {
      // The store of a node is in PostgreSQL.
      packages = []
    }
  }

  private mutating func take(_ health: JSONNode) {
    word = health["status"]?.string ?? "starting"
    version = health["version"]?.string
    startedAt = health["startedAt"]?.integer
  }

  /// Where there is one package, `health` has its fields at the top.
  private mutating func take(metrics: [UInt8], _ health: JSONNode) {
    let metrics = MetricsReading(String(decoding: metrics, as: UTF8.self))
    packages = metrics.packages.map { name in
      let own =
        health["packages"]?.array?.first { $0["package"]?.string == name } ?? health
      var package = Package(name: name)
      package.word = own["status"]?.string ?? ""
      package.channels = metrics.value("ferry_channels", name)
      package.waiting = metrics.value("ferry_waiting_operations", name)
      package.credentialWaits = metrics.value("ferry_credential_waits", name)
      package.oldestSeconds = metrics.value("ferry_replay_age_seconds", name)
      package.behindSeconds = metrics.value("ferry_capture_lag_seconds", name)
      package.comparedSeconds = metrics.value("ferry_load_age_seconds", name)
      package.loadedRows = own["load"]?["rows"]?.integer
      package.loadRows = own["load"]?["of"]?.integer
      package.cacheGroups = CacheGroupLine.all(own["cacheGroups"])
      if let leftOut = own["leftOut"] {
        func word(_ name: String) -> String { leftOut[name]?.string ?? "" }
        package.leftOutRows = leftOut["rows"]?.integer
        package.leftOutExample =
          "\(word("entity")) \(word("key")): \(word("attribute")): \(word("reason"))"
      }
      if let message = own["message"]?.string {
        package.problems.append(CommandFailure.joined(message, own["hint"]?.string ?? ""))
      }
      if let reason = own["business"]?.string { package.problems.append(reason) }
      return package
    }
  }

  private mutating func take(devices nodes: [JSONNode]) {
    // An activation code that nobody has used is no device.
    let states = nodes.compactMap { $0["state"]?.string }.filter { $0 != "activating" }
    devices = states.count
    lockedDevices = states.filter { $0 == "locked" }.count
  }

  private mutating func take(packages nodes: [JSONNode]) {
    for place in packages.indices {
      let node = nodes.first { $0["package"]?.string == packages[place].name }
      packages[place].database = node?["database"]?.string
      packages[place].devices = node?["devices"]?.array?.count
    }
  }

  var json: String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("server", server)
    writer.field("status", word)
    writer.field("version", version)
    writer.field("startedAt", startedAt)
    writer.field("users", users.map { Int64($0) })
    writer.field("devices", devices.map { Int64($0) })
    writer.field("lockedDevices", lockedDevices.map { Int64($0) })
    writer.key("problems")
    writer.array(problems) { $0.string($1) }
    writer.key("packages")
    writer.array(packages) { writer, package in package.write(to: &writer) }
    writer.endObject()
    return writer.text
  }
}

extension ServerStatus.Package {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("package", name)
    if !word.isEmpty { writer.field("status", word) }
    writer.field("database", database)
    writer.field("devices", devices.map { Int64($0) })
    writer.field("channels", channels.map { Int64($0) })
    writer.field("waitingOperations", waiting.map { Int64($0) })
    writer.field("credentialWaits", credentialWaits.map { Int64($0) })
    writer.field("oldestOperationMilliseconds", oldestSeconds.map { Int64($0 * 1_000) })
    writer.field("behindMilliseconds", behindSeconds.map { Int64($0 * 1_000) })
    writer.field("comparedMillisecondsAgo", comparedSeconds.map { Int64($0 * 1_000) })
    writer.field("loadedRows", loadedRows)
    writer.field("loadRows", loadRows)
    writer.field("leftOutRows", leftOutRows)
    writer.field("leftOutExample", leftOutExample)
    writer.key("cacheGroups")
    writer.array(cacheGroups) { $1.write(to: &$0) }
    writer.key("problems")
    writer.array(problems) { $0.string($1) }
    writer.endObject()
  }
}
