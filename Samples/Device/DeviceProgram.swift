import Ferry
import FerryHTTPClient
import FerryJSON
import FerryModel
import FerryReference
import Foundation
import Synchronization

/// One model, one database file, one server.
enum DeviceProgram {
  static func run(_ arguments: [String]) async {
    guard (4...6).contains(arguments.count) else {
      FileHandle.standardError.write(
        Data(
          "usage: ferry-device <model.json> <database> <server address> [<seconds of silence> [sessions]]\n"
            .utf8))
      exit(2)
    }
    do {
      let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: arguments[1])))
      let reading = ModelReader.read(bytes, file: arguments[1])
      guard let package = reading.package else {
        throw Problem(reading.errors.map(\.description).joined(separator: "\n"))
      }
      let output = Output()
      var settings = SessionSettings()
      settings.isDatabaseShared = true
      // A command submits.
      settings.submitsAutomatically = false
      // How long a line may be silent: tests of broken lines need not wait as long as people.
      if arguments.count > 4, let seconds = Int(arguments[4]) {
        settings.silence = .seconds(seconds)
      }
      // Rows and operations travel only in sessions that a command begins.
      if arguments.count > 5 { settings.synchronization = .replicationBased }
      var profile = ConnectionProfile(server: arguments[3], session: settings)
      // The company's own authority, in PEM form.
      if let file = ProcessInfo.processInfo.environment["FERRY_AUTHORITY"] {
        profile.transport.trust = .file(file)
      }
      // The one certificate that no authority vouches for and that is trusted all the same.
      if let fingerprint = ProcessInfo.processInfo.environment["FERRY_FINGERPRINT"] {
        profile.transport.trustListener = OneFingerprint(fingerprint)
      }
      if let file = ProcessInfo.processInfo.environment["FERRY_TOKEN_FILE"] {
        profile.tokenSource = TokenFile(file)
      }
      // Tests end the process behind a step of a wipe.
      if let step = ProcessInfo.processInfo.environment["FERRY_WIPE_KILL"] {
        Wipe.afterStep.withLock { $0 = { if $0.rawValue == step { kill(getpid(), SIGKILL) } } }
      }
      if let login = try CompanyLogin(ProcessInfo.processInfo.environment, arguments[2], output) {
        profile.tokenSource = login.tokens
      }
      let passphrase = ProcessInfo.processInfo.environment["FERRY_DATABASE_PASSPHRASE"]
      let telemetry = Telemetry(profile)
      let database = try FerryDatabase.open(
        at: arguments[2], key: passphrase.map { DatabaseKey(passphrase: $0) }, package: package,
        profile: profile, handler: Announcer(output: output), transport: telemetry.transport)
      let device = CommandTaker(
        database: database, package: package, output: output, telemetry: telemetry)
      while let line = readLine(strippingNewline: true) {
        guard await device.take(line) else { break }
      }
      await database.close()
    } catch {
      FileHandle.standardError.write(Data("ferry-device: \(error)\n".utf8))
      exit(1)
    }
  }
}

/// Trusts the server whose certificate has this SHA-256.
final class OneFingerprint: ServerTrustListener {
  private let fingerprint: String

  init(_ fingerprint: String) { self.fingerprint = fingerprint }

  func decide(_ question: ServerTrustQuestion) async -> ServerTrustDecision {
    question.chain.first?.fingerprint == fingerprint ? .acceptOnce : .refuse
  }
}

/// Tokens of an issuer in a file, which another program writes anew before they end.
final class TokenFile: TokenSource {
  private let path: String

  init(_ path: String) { self.path = path }

  func token(for use: TokenUse) async throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

/// Lines of JSON on standard output, whole ones, from every thread.
final class Output: Sendable {
  private let handle = Mutex(FileHandle.standardOutput)

  func write(_ fill: (inout JSONWriter) -> Void) {
    var writer = JSONWriter()
    writer.beginObject()
    fill(&writer)
    writer.endObject()
    // What does not fit into the pipe at once is written in several pieces.
    handle.withLock { $0.write(Data(writer.bytes + [0x0A])) }
  }
}

/// Writes every callback down.
final class Announcer: CallbackHandler {
  private let output: Output

  init(output: Output) { self.output = output }

  private func tell(_ event: String, _ fields: (String, String)...) {
    output.write { writer in
      writer.field("event", event)
      for (name, value) in fields { writer.field(name, value) }
    }
  }

  func onConnect() { tell("connect") }
  func onDisconnect(_ error: FerryError) { tell("disconnect", ("message", error.message)) }
  func onLoginSuccess() { tell("loginSuccess") }
  func onLoginFailure(_ error: FerryError) {
    tell("loginFailure", ("message", error.message), ("hint", error.hint))
  }
  func onRegistrationStatusChange(_ status: RegistrationStatus, error: FerryError?) {
    tell("registration", ("status", "\(status)"), ("message", error?.message ?? ""))
  }
  func onApplicationSettingsChanged(names: [String]) {
    tell("settings", ("names", names.joined(separator: " ")))
  }
  func onSubscribeSuccess() { tell("subscribeSuccess") }
  func onSubscribeFailure(_ error: FerryError) {
    tell("subscribeFailure", ("message", error.message))
  }
  func onSynchronize(
    groups: [String], context: SynchronizationContext
  ) -> SynchronizationAction {
    tell(
      "synchronize", ("status", "\(context.status)"),
      ("groups", groups.joined(separator: " ")),
      ("context", context.userContext.map { "\($0)" } ?? ""))
    return .proceed
  }
  func onImportProgress(_ progress: ImportProgress) {
    tell(
      "progress", ("received", String(progress.receivedRows)),
      ("expected", String(progress.expectedRows)), ("bytes", String(progress.receivedBytes)),
      ("percent", progress.fraction.map { String(Int($0 * 100)) } ?? ""))
  }
  func onImport(_ changes: EntityChanges) {
    tell(
      "import", ("entity", changes.entity), ("inserted", String(changes.inserted)),
      ("updated", String(changes.updated)), ("deleted", String(changes.deleted)))
  }
  func onImportSuccess(group: String) { tell("importSuccess", ("group", group)) }
  func onReplaySuccess(_ object: ReplayedObject) {
    tell(
      "replaySuccess", ("entity", object.entity), ("operation", object.operation.rawValue),
      ("key", object.key.text),
      ("newKey", object.record?.key.text ?? object.key.text))
  }
  func onReplayFailure(_ object: ReplayedObject) {
    tell(
      "replayFailure", ("entity", object.entity), ("operation", object.operation.rawValue),
      ("key", object.key.text))
  }
  func onReplayUnknown(_ object: ReplayedObject) {
    tell(
      "replayUnknown", ("entity", object.entity), ("operation", object.operation.rawValue),
      ("key", object.key.text))
  }
}
