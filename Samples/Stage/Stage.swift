import FerryModel
import FerryPasswords
import Foundation

/// Where a story plays: the folder, the programs, the server and the devices.
package final class Stage {
  package let narrator: Narrator
  private let settings: StageSettings
  private var children: [ChildProcess] = []
  /// Options of the server beside those that it always gets.
  package var serverOptions: [String] = []
  private var port = 0
  private var starts = 0
  private var server: ChildProcess?
  /// Told of each process as soon as it runs.
  package var hasStarted: ((ChildProcess) -> Void)?

  package init(_ settings: StageSettings, _ narrator: Narrator) {
    self.settings = settings
    self.narrator = narrator
  }

  package func path(_ name: String) -> String { "\(settings.folder)/\(name)" }

  /// Runs a program to its end and gives what it printed.
  func run(_ program: String, _ arguments: [String]) throws -> String {
    let child = try start(program, program, arguments)
    let output = try child.outputAtEnd()
    guard child.exitCode == 0 else {
      throw StageFailure("\(program) ended with \(child.exitCode):\n\(output)\(child.complaints)")
    }
    return output
  }

  package func makeModel(
    of database: BusinessDatabase, _ options: [String]
  ) throws -> (Package, String) {
    let file = path("model.json")
    let report = try run("ferry", ["new", "--from", database.address, "--out", file] + options)
    let bytes = [UInt8](FileManager.default.contents(atPath: file) ?? Data())
    let reading = ModelReader.read(bytes, file: file)
    guard let package = reading.package else {
      throw StageFailure(reading.errors.map(\.description).joined(separator: "\n"))
    }
    return (package, report)
  }

  /// The password of every user.
  static let password = "a password for the demo"

  /// Users with the agencies that each of them works for.
  package func writeUsers(_ users: [(name: String, agencies: [String])]) throws {
    try writeUsers(
      users.map { user in
        let list = user.agencies.map { "\"\($0)\"" }.joined(separator: ",")
        return (user.name, "{\"agency\":[\(list)]}")
      })
  }

  package func writeUsers(_ names: [String], claims: String) throws {
    try writeUsers(names.map { ($0, claims) })
  }

  private func writeUsers(_ users: [(name: String, claims: String)]) throws {
    let users = try users.map { name, claims in
      let salt = (0..<16).map { _ in UInt8.random(in: 0...255) }
      let hash = try PasswordHash.make(password: Stage.password, salt: salt)
      return #"{"name":"\#(name)","passwordHash":"\#(hash)","roles":[],"claims":\#(claims)}"#
    }
    let text = #"{"users":[\#(users.joined(separator: ","))]}"#
    guard FileManager.default.createFile(atPath: path("users.json"), contents: Data(text.utf8))
    else { throw StageFailure("the file \(path("users.json")) cannot be written") }
  }

  /// Starts the server, at the port it had before if it had one, and waits until it listens.
  package func startServer(_ database: BusinessDatabase) throws -> Duration {
    starts += 1
    let begin = ContinuousClock.now
    let child = try start(
      "ferryd", "ferryd-\(starts)",
      [
        "--model", path("model.json"), "--data", path("data"), "--users", path("users.json"),
        "--port", String(port), "--database", database.address,
      ] + serverOptions)
    server = child
    let deadline = begin + ChildProcess.patience
    while true {
      let lines = child.complaints.split(separator: "\n")
      if let listening = lines.first(where: { $0.contains(#""message":"listening""#) }) {
        port = Stage.port(in: listening) ?? port
        break
      }
      guard child.isRunning else {
        throw StageFailure("the server did not start:\n\(child.complaints)")
      }
      guard ContinuousClock.now < deadline else {
        throw StageFailure(
          "the server did not listen within \(ChildProcess.patience):\n\(child.complaints)")
      }
      usleep(5_000)
    }
    return begin.duration(to: .now)
  }

  private static func port(in line: Substring) -> Int? {
    guard let range = line.range(of: #""port":""#) else { return nil }
    return Int(line[range.upperBound...].prefix { $0.isNumber })
  }

  package var isServerRunning: Bool { server?.isRunning ?? false }

  /// Lets go of the processes that have ended, and of their pipes.
  package func forgetEnded() { children.removeAll { !$0.isRunning } }

  package func stopServer() throws {
    try server?.terminate()
    server = nil
  }

  package var address: String { "http://127.0.0.1:\(port)" }

  package func startDevice(_ name: String, user: String, _ package: Package) throws -> Device {
    let child = try start(
      "ferry-device", name, [path("model.json"), path("\(user).device"), address])
    return Device(name: name, user: user, package: package, process: child)
  }

  private func start(
    _ program: String, _ name: String, _ arguments: [String]
  ) throws
    -> ChildProcess
  {
    let log = path("\(name.replacingOccurrences(of: " ", with: "-")).log")
    let child = try ChildProcess(
      name, program: "\(settings.programs)/\(program)", arguments, log: log)
    children.append(child)
    remember(child)
    hasStarted?(child)
    return child
  }

  /// The script that began the story ends what is in this file, should the story itself be killed.
  private func remember(_ child: ChildProcess) {
    guard let file = settings.processes else { return }
    let before = FileManager.default.contents(atPath: file) ?? Data()
    _ = FileManager.default.createFile(
      atPath: file, contents: before + Data("\(child.processID)\n".utf8))
  }

  /// What the server and the devices had to say that is worse than information.
  func complainOfChildren() {
    // Those that ran to their end have told in the failure itself.
    for child in children where child.name.hasPrefix("ferryd") || child.name.hasPrefix("device") {
      let lines = child.complaints.split(separator: "\n").filter {
        !$0.contains(#""level":"info""#)
      }
      guard !lines.isEmpty else { continue }
      narrator.complain("\(child.name) wrote:\n\(lines.suffix(10).joined(separator: "\n"))")
    }
  }

  /// Ends every process that is still there.
  func end() {
    for child in children { child.finish() }
  }
}
