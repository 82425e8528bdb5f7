import Foundation

/// `ferryd` before a business database of items.
final class Server: Sendable {
  let child: Child
  let port: Int
  /// The business database.
  let business: String
  let data: String
  /// From the start until its cache was loaded.
  let loadSeconds: Double
  /// The most memory it had by then.
  let loadPeakMegabytes: Double

  /// What `ferry user add` made the hash from.
  static let password = "password"
  private static let users = """
    {"users": [{"name": "anna", "roles": [], "claims": {"shelf": [7], "tenant": ["north"]},
      "passwordHash": "\(hash)"},
      {"name": "mallory", "roles": [], "claims": {"shelf": [8], "tenant": ["south"]},
      "passwordHash": "\(hash)"}\(others)]}
    """
  private static let others = (0..<16).map {
    #", {"name": "user-\#($0)", "roles": [], "claims": {"shelf": [7], "tenant": ["north"]}, "#
      + #""passwordHash": "\#(hash)"}"#
  }.joined()
  private static let hash =
    "$argon2id$v=19$m=19456,t=2,p=1$eTfVKrZZFbFlV6hNeQG+uw$trGTlP2k0h3MslMlj0cz2qGSVwm2XTM518FVTwLE2KM"

  var address: String { "http://127.0.0.1:\(port)" }

  /// `tables`: SQL for what the model has beside the items. `options`: further ones of ferryd.
  /// `postgreSQL`: the business database, which is there; `items` are not made then. `data`: the data
  /// folder of a server of before.
  init(
    items: Int, model text: String = Item.model, tables: String = "", options: [String] = [],
    postgreSQL: String? = nil, data known: String? = nil, _ setting: Setting
  ) throws {
    let folder = setting.folder.appending(path: "server-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    business = folder.appending(path: "business.db").path
    data = known ?? folder.appending(path: "data").path
    if postgreSQL == nil { try Server.makeBusiness(business, items: items) }
    if !tables.isEmpty { try RawDatabase(business).execute(tables) }
    let model = folder.appending(path: "model.json")
    let users = folder.appending(path: "users.json")
    try Data(text.utf8).write(to: model)
    try Data(Server.users.utf8).write(to: users)
    let start = ContinuousClock.now
    child = try Child(
      "\(setting.programs)/ferryd",
      [
        "--model", model.path, "--data", data, "--users", users.path, "--database",
        postgreSQL ?? "sqlite:\(business)", "--port", "0",
      ] + options, readsErrors: true)
    let line = try child.line(within: 60) { $0.contains("\"listening\"") }
    guard let tail = line.range(of: "\"port\":\""),
      let port = Int(line[tail.upperBound...].prefix { $0.isNumber })
    else { throw Trouble("ferryd names no port: \(line)") }
    self.port = port
    let asker = try Line(port: port)
    while try !asker.ask(HTTPText.get("/health")).text.contains("ready") {
      guard start.duration(to: .now) < .seconds(300) else { throw Trouble("ferryd does not load") }
      usleep(20_000)
    }
    loadSeconds = start.duration(to: .now).seconds
    loadPeakMegabytes = child.peakMegabytes
  }

  func end() { child.end() }

  private static func makeBusiness(_ path: String, items: Int) throws {
    let raw = try RawDatabase(path)
    let types = ["INTEGER PRIMARY KEY", "INTEGER", "INTEGER", "INTEGER", "REAL", "REAL"]
    let columns = ItemValues.columns.enumerated().map { position, name in
      "\(name) \(position < 6 ? types[position] : "TEXT") NOT NULL"
    }
    try raw.execute(
      "PRAGMA journal_mode = WAL; CREATE TABLE items (\(columns.joined(separator: ", ")))")
    try insert(items, raw, inOneTransaction: true)
  }

  /// Inserts items by raw SQLite, in one transaction or in one each.
  static func insert(
    from first: Int = 1, _ count: Int, _ raw: RawDatabase, inOneTransaction: Bool
  ) throws {
    guard count > 0 else { return }
    let statement = try raw.prepare(
      "INSERT INTO items VALUES (\(ItemValues.columns.map { _ in "?" }.joined(separator: ", ")))")
    if inOneTransaction { try raw.execute("BEGIN") }
    for number in first..<(first + count) {
      ItemValues.bind(Int64(number), to: statement, from: 1)
      try statement.run()
    }
    if inOneTransaction { try raw.execute("COMMIT") }
  }
}

/// The servers of a run: one for each size, started when it is first asked for.
actor ServerRoom {
  private var servers: [Int: Server] = [:]

  func server(items: Int, _ setting: Setting) throws -> Server {
    if let known = servers[items] { return known }
    setting.say("a server with \(items) rows is loaded")
    let made = try Server(items: items, setting)
    setting.say("loaded in \(String(format: "%.1f", made.loadSeconds)) s")
    servers[items] = made
    return made
  }

  func end() {
    for server in servers.values { server.end() }
    servers = [:]
  }
}
