import FerryLogger
import FerryOData
import FerryODataCache
import FerryPersistence
import FerryTelemetry
import FerryTrace
import FerryVault
import FerryWorld
import Foundation

/// `ferry-kit FOLDER`: an app in a terminal on the device kit. It reads commands from its input:
///
///     login PASSWORD                      opens the vault, or makes it, and loads the cache
///     read SERVICE METADATA FEED SET      reads files of a service into the cache and stores it
///     type TEXT                           finds entries as one types
///     log                                 shows what was done, in earlier runs too
///     send ADDRESS                        sends the trace of this run to a collector of OTLP
final class KitProgram {
  private let folder: String
  private let cache = ODataCache(uniqueID: "flights")
  private let trace = TraceController(world: .system())
  private let log: DeviceLog
  private let id: String
  private var persistence: Persistence?
  private static let commands = ["login", "read", "type", "log", "send"]

  init?(arguments: [String]) throws {
    guard arguments.count == 2 else {
      print("usage: ferry-kit FOLDER")
      return nil
    }
    folder = arguments[1]
    let files = try LogFiles(folder: folder + "/log")
    log = DeviceLog(world: .system(), handlers: [files])
    log.restore(files.earlier)
    log.level = .info
    id = trace.start(name: "ferry-kit").hexadecimal
  }

  func run() async throws {
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      // A word that is no command may be a password in the wrong place.
      let name = words.first.flatMap { Self.commands.contains($0) ? $0 : nil } ?? "unknown"
      log.info("the command \(name)", tag: "Kit", correlationID: id)
      do {
        try trace.createStep().addUIAction(name)
        switch (words.first, words.count) {
        case ("login", 2): try login(words[1])
        case ("read", 5): try read(Array(words.dropFirst()))
        case ("type", 2...): try type(words.dropFirst().joined(separator: " "))
        case ("log", 1): for entry in log.records() { say(TextLogFormatter().line(entry)) }
        case ("send", 2): try await send(words[1])
        default: say("commands: \(Self.commands.joined(separator: ", "))")
        }
      } catch {
        log.error("it failed", tag: "Kit", error: error, correlationID: id)
        say("\(error)")
      }
    }
  }

  private func login(_ password: String) throws {
    let vaults = DataVaults(folder: folder + "/vaults")
    let isKnown = try vaults.vaultExists("login")
    let vault =
      try isKnown
      ? vaults.getVault("login") : vaults.createVault("login", password: password, salt: "user")
    if isKnown { try vault.unlock(password, salt: "user") }
    let token = try vault.getString("token") ?? UUID().uuidString
    let key = try vault.getValue("store key") ?? Persistence.generateSecretKey()
    try vault.setString("token", value: token)
    try vault.setValue("store key", value: key)
    vault.lock()
    let opened = try Persistence(folder: folder + "/store", key: key)
    persistence = opened
    try cache.load(from: opened)
    say("token \(token), \(cache.collections(workspace: "Data").count) collections loaded")
  }

  private func read(_ names: [String]) throws {
    guard let persistence else { return say("login first") }
    let files = try names.prefix(3).map { [UInt8](try Data(contentsOf: URL(filePath: $0))) }
    try cache.setServiceDocument(files[0], metadata: files[1])
    try cache.setEntries(try ODataFeed.read(files[2]).entries, collection: names[3])
    try cache.store(in: persistence)
    say("\(cache.count(collection: names[3])) entries stored")
  }

  private func type(_ text: String) throws {
    for collection in cache.workspaces.flatMap(\.collections) {
      for entry in try cache.filterEntries(collection: collection.name, searchText: text) {
        say("found \(entry.id ?? "")")
      }
    }
    say("end of \(text)")
  }

  private func send(_ address: String) async throws {
    let collector = TransportReceiver(address: address)
    let status = try await trace.upload(to: collector, as: .openTelemetry(service: "ferry-kit"))
    say("sent \(id), answer \(status)")
  }

  private func say(_ text: String) {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
  }
}
