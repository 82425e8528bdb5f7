import FerryOData
import FerryODataCache
import FerryPersistence
import FerryVault
import Foundation

/// `ferry-kit FOLDER`: an app in a terminal on the device kit. It reads commands from its input:
///
///     login PASSWORD                      opens the vault, or makes it, and loads the cache
///     read SERVICE METADATA FEED SET      reads files of a service into the cache and stores it
///     type TEXT                           finds entries as one types
final class KitProgram {
  private let folder: String
  private let cache = ODataCache(uniqueID: "flights")
  private var persistence: Persistence?

  init?(arguments: [String]) {
    guard arguments.count == 2 else {
      print("usage: ferry-kit FOLDER")
      return nil
    }
    folder = arguments[1]
  }

  func run() throws {
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      do {
        switch (words.first, words.count) {
        case ("login", 2): try login(words[1])
        case ("read", 5): try read(Array(words.dropFirst()))
        case ("type", 2...): try type(words.dropFirst().joined(separator: " "))
        default: say("commands: login, read, type")
        }
      } catch {
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

  private func say(_ text: String) {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
  }
}
