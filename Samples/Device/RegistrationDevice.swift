import FerryJSON
import FerryRegistration
import Foundation

/// An app that registers over HTTP and listens for what services push. It takes the same kind of
/// commands as the device that synchronizes.
struct RegistrationDevice {
  private let registration: ApplicationRegistration
  private let output = Output()

  /// `ferry-device --registration <server> <application> <state file> <user> [connection id]`, with
  /// the password in FERRY_PASSWORD.
  static func run(_ arguments: [String]) async {
    guard (6...7).contains(arguments.count) else {
      FileHandle.standardError.write(
        Data(
          "usage: ferry-device --registration <server> <application> <state file> <user> [id]\n"
            .utf8))
      exit(2)
    }
    var profile = RegistrationProfile(
      server: arguments[2], application: arguments[3],
      credentials: RegistrationProfile.Credentials(
        user: arguments[5],
        password: ProcessInfo.processInfo.environment["FERRY_PASSWORD"] ?? ""))
    if arguments.count == 7 { profile.connectionID = arguments[6] }
    let device = RegistrationDevice(
      registration: ApplicationRegistration(profile, stateFile: arguments[4]))
    while let line = readLine(strippingNewline: true) {
      guard await device.take(line) else { break }
    }
  }

  /// False when the command was to end.
  private func take(_ line: String) async -> Bool {
    do {
      let words = try JSONNode.parse(Array(line.utf8)).array?.compactMap(\.string) ?? []
      if words.first == "quit" { return false }
      try await perform(words)
    } catch let error as RegistrationError {
      tell(error)
    } catch {
      output.write { writer in
        writer.field("ok", false)
        writer.field("message", "\(error)")
      }
    }
    return true
  }

  private func tell(_ error: RegistrationError) {
    output.write { writer in
      writer.field("ok", false)
      writer.field("code", error.code.rawValue)
      writer.field("message", error.message)
      writer.field("hint", error.cure)
    }
  }

  private func perform(_ words: [String]) async throws {
    switch words.first {
    case "register": show(try await registration.register())
    case "settings": show(try await registration.settings())
    case "set" where words.count == 3:
      try await registration.update([words[1]: .text(words[2])])
      output.write { $0.field("ok", true) }
    case "unregister":
      try await registration.unregister()
      output.write { $0.field("ok", true) }
    case "listen":
      Task { await listen() }
      output.write { $0.field("ok", true) }
    default:
      output.write { writer in
        writer.field("ok", false)
        writer.field("message", "no such command")
      }
    }
  }

  private func show(_ settings: ConnectionSettings) {
    output.write { writer in
      writer.field("ok", true)
      for (name, value) in settings.values.sorted(by: { $0.key < $1.key }) {
        writer.field(name, value.text)
      }
    }
  }

  private func listen() async {
    do throws(RegistrationError) {
      var payloads = registration.payloads.makeAsyncIterator()
      while let payload = try await payloads.next() {
        output.write { writer in
          writer.field("payload", payload.number)
          for (name, value) in payload.fields.sorted(by: { $0.key < $1.key }) {
            writer.field(name, value)
          }
        }
      }
      output.write { $0.field("event", "channelEnded") }
    } catch { tell(error) }
  }
}
