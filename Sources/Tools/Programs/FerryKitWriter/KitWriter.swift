import FerryCrypto
import FerryPersistence
import FerryVault
import FerryWorld
import Foundation

/// `ferry-kit-writer FOLDER`: changes a vault and a store without end and says after each change
/// what is stored, so that a test can kill it at any moment and compare.
struct KitWriter {
  private let folder: String

  init?(arguments: [String]) {
    guard arguments.count == 2 else {
      print("usage: ferry-kit-writer FOLDER")
      return nil
    }
    folder = arguments[1]
  }

  /// In every value and name; nowhere on the disk.
  static let marker = "PLAINTEXT-MARKER"

  func run() throws {
    // Guessing is not what is tested here; each round opens the vault.
    let vaults = DataVaults(
      storage: FolderVaultStorage(folder: folder + "/vaults"), derivation: .pbkdf2(rounds: 1))
    let isKnown = try vaults.vaultExists("v")
    let vault =
      try isKnown
      ? vaults.getVault("v") : vaults.createVault("v", password: "p", salt: KitWriter.marker)
    if isKnown { try vault.unlock("p", salt: KitWriter.marker) }
    let key = try vault.getValue("key") ?? Persistence.generateSecretKey()
    try vault.setValue("key", value: key)
    let store = try Persistence(folder: folder + "/store", key: key)
    var number =
      Int(try vault.getString("\(KitWriter.marker) number")?.split(separator: " ").last ?? "0") ?? 0
    while true {
      number += 1
      try vault.setString(
        "\(KitWriter.marker) number", value: "\(KitWriter.marker) \(number)")
      say("vault \(number)")
      if number % 7 == 0 {
        try vault.changePassword("p", salt: KitWriter.marker)
        say("vault \(number)")
      }
      let text = "\(KitWriter.marker) \(number) "
      let bytes = Array(String(repeating: text, count: number % 5 == 0 ? 10_000 : 3).utf8)
      try store.storeData(bytes, id: "\(KitWriter.marker) data")
      say("store \(number)")
      if number % 11 == 0 {
        try store.removeData("\(KitWriter.marker) data")
        say("removed \(number)")
      }
    }
  }

  private func say(_ text: String) {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
  }
}
