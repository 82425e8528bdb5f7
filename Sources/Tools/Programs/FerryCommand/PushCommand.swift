import FerryApplications
import FerryArguments
import FerryCrypto
import FerryJSON
import FerryModel
import FerryPush
import FerryWorld
import Foundation

/// `ferry push`: tries the keys of push services, and makes one for web push.
enum PushCommand: Subcommand {
  static let name = "push"
  static let summary = "send one message to one device; make a key for web push"
  static let verbs = ["try", "key"]
  static let operands = "try --applications <file> --application <id> --token <token> [options]"
  static let options = [
    CommandOption("applications", "<file>", "the file of applications that ferryd reads"),
    CommandOption("application", "<id>", "the application whose keys are used"),
    CommandOption(
      "service", "<name>", "apns, fcm, webPush or webHook (default: the only one that there is)"),
    CommandOption(
      "token", "<token>", "what the push service calls the device; of web push its subscription"),
    CommandOption("alert", "<text>", "the text for the user (default: none, it wakes silently)"),
    CommandOption("title", "<text>", "the title of the text"),
    CommandOption("out", "<file>", "of key: where the private key is written"),
    .json,
  ]
  static let discussion = """
    try sends a message as ferryd would, and shows the answer of the push service. No register and no
    running server is needed.
    key makes a private key for web push (VAPID), readable by its owner alone, and shows the public key
    with which browsers subscribe. A file that is there is not replaced.

    Example: ferry push try --applications applications.json --application com.example.flights \\
               --service apns --token 0a1b2c --alert "A test"
    Example: ferry push key --out vapid.pem
    Exit codes: 0 the push service took the message; 1 it did not, and why; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let words = arguments.operands
    guard words.count == 1, let verb = words.first, verbs.contains(verb) else {
      throw UsageError(
        "push takes one verb, and not \"\(words.joined(separator: " "))\"",
        hint: "Write \(verbs.joined(separator: " or ")).")
    }
    return verb == "key" ? try key(arguments) : try await attempt(arguments)
  }

  private static func key(_ arguments: Arguments) throws -> ExitCode {
    let path = try arguments.required("out", "vapid.pem")
    let key = try P256Key.generate()
    let lines = Data(key.der).base64EncodedString(
      options: [.lineLength64Characters, .endLineWithLineFeed])
    let text = "-----BEGIN PRIVATE KEY-----\n\(lines)\n-----END PRIVATE KEY-----\n"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw CommandError(
        "\(path) cannot be written: \(String(cString: strerror(errno)))",
        hint: "Name a file that does not exist yet: a key is never replaced.")
    }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    try file.write(contentsOf: Data(text.utf8))
    try file.synchronize()
    let account = WebPushSender.Account(key: key, subject: "mailto:nobody@example.com")
    if arguments.flag("json") {
      var writer = JSONWriter()
      writer.beginObject()
      writer.field("file", path)
      writer.field("applicationServerKey", account.publicKey)
      writer.endObject()
      Terminal.show(String(decoding: writer.bytes, as: UTF8.self), asJSON: true)
    } else {
      Terminal.show("wrote \(path)\napplicationServerKey \(account.publicKey)")
    }
    return .success
  }

  private static func attempt(_ arguments: Arguments) async throws -> ExitCode {
    let file = try ApplicationsFile(
      path: try arguments.required("applications", "applications.json"))
    let id = try arguments.required("application", "com.example.flights")
    guard let application = file.applications.first(where: { $0.id == id }) else {
      throw UsageError(
        "the file has no application \(id)",
        hint: NearestWord.cure(id, among: file.applications.map(\.id)))
    }
    let services = application.pushServices
    let service = try arguments.value("service") ?? (services.count == 1 ? services[0] : "")
    guard services.contains(service) else {
      throw UsageError(
        service.isEmpty
          ? "the application has \(services.isEmpty ? "no push service" : "several push services")"
          : "the application has no push service \(service)",
        hint: services.isEmpty
          ? "Describe one as \"push\" in the file of applications."
          : "Write --service with one of \(services.joined(separator: ", ")).")
    }
    var message = PushMessage()
    message.alert = try arguments.value("alert")
    message.title = try arguments.value("title")
    let outcome = await application.tryPush(
      message, through: service, to: try arguments.required("token", "0a1b2c"),
      clock: SystemClock())
    let report = PushReport(outcome ?? .refused("there is no such service"))
    if arguments.flag("json") {
      var writer = JSONWriter()
      writer.beginObject()
      writer.field("service", service)
      writer.field("outcome", report.outcome)
      writer.field("reason", report.reason)
      writer.field("cure", report.cure)
      writer.endObject()
      Terminal.show(String(decoding: writer.bytes, as: UTF8.self), asJSON: true)
    } else {
      let reason = report.reason.map { ": \(Terminal.harmless($0))" } ?? ""
      let cure = report.cure.map { "\n\($0)" } ?? ""
      Terminal.show("\(service): \(report.text)\(reason)\(cure)")
    }
    return report.isSent ? .success : .problems
  }
}

/// What a push service answered, as people read it.
struct PushReport {
  /// A word for programs.
  let outcome: String
  let text: String
  let reason: String?
  let cure: String?

  var isSent: Bool { outcome == "sent" }

  init(_ answer: PushOutcome) {
    switch answer {
    case .sent:
      (outcome, text, reason, cure) = ("sent", "the push service took the message", nil, nil)
    case .tokenEnded(let why):
      (outcome, text, reason) = ("tokenEnded", "the push service does not know the device", why)
      cure = "Take the token that the app has now, and of the same app and the same kind of build."
    case .later(let seconds, let why):
      (outcome, text, reason) = ("later", "the push service is busy or cannot be reached", why)
      cure = "Try again in \(seconds ?? 60) seconds; check network and proxy if that does not help."
    case .refused(let why):
      (outcome, text, reason) = ("refused", "the push service refuses this message", why)
      cure = "Make the texts shorter, or leave parts out."
    case .wrongKey(let why):
      (outcome, text, reason) = ("wrongKey", "the push service does not accept the key", why)
      cure = "Check key, account, topic and the clock of this machine."
    }
  }
}
