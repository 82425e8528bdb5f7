import FerryCrypto
import FerryGenerator
import FerryModel
import FerryPasswords
import FerryServer
import FerryWorld
import Foundation

/// What `ferryd --dev business.db` makes so that an app can be written against a database at once: a
/// model, one user, and a folder that the next start finds again.
struct DevelopmentSetup {
  static let user = "dev"
  static let password = "dev"
  /// What it makes itself, so that a command line may not name it too.
  static let made = ["model", "database", "connections-file", "users", "address"]

  let database: String
  let folder: String
  let model: String
  let users: String
  let translation: Translation
  /// Why the package has another version than at the last start; nil where the model is the same.
  let newVersion: String?

  /// Reads the database and writes model and user into `folder`, or into one of this database's own
  /// in the temporary folder. The business database is only read.
  init(database path: String, folder: String?) throws {
    database = URL(filePath: path).standardizedFileURL.path
    self.folder = folder ?? DevelopmentSetup.folder(of: database)
    // The name in the temporary folder can be guessed: nobody else may have made it.
    try Folder.make(self.folder, followsLink: folder != nil)
    model = "\(self.folder)/model.json"
    users = "\(self.folder)/users.json"
    let last = DevelopmentSetup.package(in: model)
    var options = TranslationOptions(name: TextFile.stem(of: database))
    // On one's own machine, where everything should be tried.
    options.writable = .all
    if let last { options.version = last.version }
    var result = try ModelMaker.make(
      fromSQLite: database, options: options, file: model, source: "sqlite:\(database)")
    if let last, result.translation.package != last {
      // Devices of the model before it go on; the server keeps both under one identity.
      options.version = DevelopmentSetup.next(last.version)
      result = try ModelMaker.make(
        fromSQLite: database, options: options, file: model, source: "sqlite:\(database)")
      newVersion = options.version
    } else {
      newVersion = nil
    }
    translation = result.translation
    try TextFile.write(result.text, to: model)
    if !TextFile.exists(users) {
      let hash = try PasswordHash.make(
        password: DevelopmentSetup.password, salt: World.system().chance.bytes(16))
      try TextFile.write(
        """
        {"users": [{"name": "\(DevelopmentSetup.user)", "passwordHash": "\(hash)"}]}

        """, to: users)
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o600], ofItemAtPath: users)
    }
  }

  /// What is printed when the server listens.
  func text(port: Int) -> String {
    let package = translation.package
    let address = "http://127.0.0.1:\(port)"
    let entities = package.entities.map(\.name).joined(separator: ", ")
    var lines = [
      "Ferry serves \(database) for development.", "",
      "  entities  \(entities)", "  address   \(address)",
      "  user      \(DevelopmentSetup.user), password \(DevelopmentSetup.password)",
      "  model     \(model)",
    ]
    if let newVersion {
      lines += [
        "",
        "The database has changed since the last start: the model has version \(newVersion) now.",
        "Copy it into the app again.",
      ]
    }
    let leftOut = translation.notes(.leftOut)
    if !leftOut.isEmpty {
      lines += ["", "Not in the model:"]
      lines += leftOut.map { "  - \($0.subject): \($0.what). \($0.cure)" }
    }
    lines += [
      "", "In the package of your app:", "",
      "  cp \(DevelopmentSetup.quoted(model)) Sources/App/", "", "In the app:", "",
      "  let profile = ConnectionProfile(server: \"\(address)\")",
      "  let database = try \(package.name).open(at: path, profile: profile)",
      "  if database.state.login == .needed {",
      "    try await database.signIn(user: \"\(DevelopmentSetup.user)\", "
        + "password: \"\(DevelopmentSetup.password)\")",
      "  } else {", "    database.startBackgroundSynchronization()", "  }", "",
      "Everybody may read and change everything; only programs on this machine can connect.",
      "Control-C ends it. The next start with the same database continues from here.",
    ]
    return lines.joined(separator: "\n")
  }

  /// The same for the same database, so that devices find their server again after a restart.
  private static func folder(of database: String) -> String {
    let digest = hexadecimal(SHA256Digest.hash(Array(database.utf8)).prefix(6))
    let temporary = FileManager.default.temporaryDirectory
    return temporary.appending(path: "ferry-dev-\(TextFile.stem(of: database))-\(digest)").path
  }

  private static func package(in model: String) -> Package? {
    guard let bytes = FileManager.default.contents(atPath: model) else { return nil }
    return ModelReader.read([UInt8](bytes), file: model).package
  }

  private static func next(_ version: String) -> String {
    let parts = version.split(separator: ".").compactMap { Int($0) }
    return parts.count == 2 ? "\(parts[0]).\(parts[1] + 1)" : "1.1"
  }

  private static func quoted(_ path: String) -> String {
    "'"
      + path.split(separator: "\u{27}", omittingEmptySubsequences: false).joined(
        separator: #"'\''"#)
      + "'"
  }
}
