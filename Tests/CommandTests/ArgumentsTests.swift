import FerryArguments
import FerrySQLite
import Foundation
import Testing

@testable import FerryCommand

struct ArgumentsTests {
  private let options = [
    CommandOption("from", "<file>", "where from"), CommandOption("force", nil, "write over"),
  ]

  private func problem(_ words: String...) -> String {
    do throws(UsageError) {
      _ = try Arguments(words, options: options)
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test("Options are read with a blank or an equals sign, in any place")
  func reading() throws {
    let arguments = try Arguments(
      ["a", "--from", "x", "--force", "--from=y=z", "--", "--b"], options: options)
    #expect(arguments.operands == ["a", "--b"])
    #expect(arguments.values("from") == ["x", "y=z"])
    #expect(arguments.flag("force"))
    #expect(throws: UsageError.self) { try arguments.value("from") }
  }

  @Test("An unknown option is refused with the nearest known one")
  func unknown() {
    #expect(problem("--form", "x") == "unknown option --form. Did you mean \"--from\"?")
    #expect(problem("--from") == "--from needs a value. Write --from <file>.")
    #expect(problem("--force=1") == "--force takes no value. Write only --force.")
    #expect(
      problem("-f") == "unknown option -f. Write options with two dashes and their full name.")
  }

  @Test("The list of known options names each once")
  func knownOnce() {
    let known = options + [CommandOption("help", nil, "show this text")]
    do throws(UsageError) {
      _ = try Arguments(["--zzzzzzzz"], options: known)
      Issue.record("an unknown option was taken")
    } catch {
      #expect(error.hint == "Known here: --from, --force, --help.")
    }
  }

  @Test("ferry tells its version")
  func version() throws {
    let told = try FerryProgram.run(["--version"])
    #expect(told.code == 0 && told.said.hasPrefix("ferry 0."))
  }

  @Test("ferry new makes the folder, and warns of a journal that keeps other programs waiting")
  func newFolder() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let business = folder.appending(path: "shop.db").path
    let connection = try Connection(path: business)
    try connection.execute("CREATE TABLE Customer (id INTEGER PRIMARY KEY, employee INTEGER)")
    let out = folder.appending(path: "a/b/model.json").path
    let words = [
      "new", "--from", "sqlite:\(business)", "--out", out, "--partition",
      "Customer=employee:claim:employee",
    ]
    let made = try FerryProgram.run(words)
    #expect(made.code == 0, "\(made.said)")
    #expect(FileManager.default.fileExists(atPath: out))
    #expect(made.said.contains("its journal mode is delete"))
    #expect(made.said.contains("sqlite3 '\(business)' \"PRAGMA journal_mode=wal\""))
    let users = folder.appending(path: "users.json").path
    let add = ["user", "add", "--file", users, "--model", out, "--password-stdin", "--name"]
    let good = try RunningFerry.run(add + ["ada", "--claim", "employee=1"], input: "p\n")
    #expect(good.code == 0 && !good.said.contains("Warning"))
    let wrong = try RunningFerry.run(add + ["bob", "--claim", "employe=3"], input: "p\n")
    #expect(wrong.code == 0 && wrong.said.contains("Warning: The claim employee is missing"))
    try connection.execute("PRAGMA journal_mode = WAL")
    let again = try FerryProgram.run(words + ["--force"])
    #expect(again.code == 0 && !again.said.contains("journal"))
  }

  @Test("Text from a device cannot steer the terminal or forge a line")
  func harmless() {
    #expect(Terminal.harmless("Zoë, 5 € — ok\u{1F6A2}") == "Zoë, 5 € — ok\u{1F6A2}")
    #expect(Terminal.harmless("a\u{1B}[2J\r\nb\u{7}") == "a\\u{1B}[2J\\u{D}\\u{A}b\\u{7}")
    #expect(Terminal.harmless("\u{9B}2J\u{202E}\u{2028}") == "\\u{9B}2J\\u{202E}\\u{2028}")
  }

  @Test("ferry new closes what has no rule, and ferry check warns of what everyone may write")
  func closed() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let business = folder.appending(path: "shop.db").path
    try Connection(path: business).execute(
      "CREATE TABLE Staff (id INTEGER PRIMARY KEY, login TEXT, salary REAL)")
    let out = folder.appending(path: "model.json").path
    let words = ["new", "--from", "sqlite:\(business)", "--out", out, "--force"]
    let made = try FerryProgram.run(words)
    #expect(
      made.code == 0 && made.said.contains("every user gets all rows, no user may change them"))
    #expect(made.said.contains("Staff.salary: looks like a secret (salary)"), "\(made.said)")
    let closed = try FerryProgram.run(["check", out])
    #expect(closed.code == 0 && closed.said.contains("0 errors, 1 warning"), "\(closed.said)")
    #expect(closed.said.contains("every user gets all rows"), "\(closed.said)")
    let opened = try FerryProgram.run(words + ["--writable", "all", "--keep", "Staff.salary"])
    #expect(opened.code == 0 && !opened.said.contains("looks like a secret"), "\(opened.said)")
    let check = try FerryProgram.run(["check", out])
    #expect(
      check.code == 0 && check.said.contains("every user may create, update and delete every Staff")
        && check.said.contains("0 errors, 2 warnings"), "\(check.said)")
  }

  @Test("Output that cannot be written ends with 1 and one line; a reader that went away does not")
  func fullOutput() throws {
    for words in [["help"], ["user", "list", "--file", "/dev/null/none"], ["--version"]] {
      let process = Process()
      process.executableURL = FerryProgram.url
      process.arguments = words
      process.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
      let errors = Pipe()
      process.standardError = errors
      try process.run()
      let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      #expect(process.terminationStatus == 1)
      // What prints nothing has lost nothing.
      #expect(said.contains("standard output cannot be written") == (words[0] != "user"), "\(said)")
      #expect(said.split(separator: "\n").count == 1)
    }
    let process = Process()
    process.executableURL = FerryProgram.url
    process.arguments = ["help"]
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try output.fileHandleForReading.close()
    try process.run()
    let said = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(said.isEmpty)
  }

  @Test("Every command has help with its options and its exit codes")
  func help() {
    for command in CommandTable.commands {
      let text = CommandTable.help(of: command)
      #expect(text.contains("Exit codes:"))
      for option in command.options { #expect(text.contains("--\(option.name)")) }
      #expect(CommandTable.help.contains(command.summary))
    }
  }

  @Test("Wrong usage exits with 2, what cannot be done with 1, help with 0")
  func exitCodes() async {
    #expect(await CommandTable.run(["ferry"]) == .usage)
    #expect(await CommandTable.run(["ferry", "help", "new"]) == .success)
    #expect(await CommandTable.run(["ferry", "check", "--help"]) == .success)
    #expect(await CommandTable.run(["ferry", "nwe"]) == .usage)
    #expect(await CommandTable.run(["ferry", "new", "--out", "x"]) == .usage)
    #expect(await CommandTable.run(["ferry", "new", "--from", "x.db", "--out", "x"]) == .usage)
    #expect(await CommandTable.run(["ferry", "check"]) == .usage)
    #expect(await CommandTable.run(["ferry", "check", "/nowhere.json"]) == .problems)
    #expect(
      await CommandTable.run([
        "ferry", "new", "--from", "sqlite:/nowhere.db", "--out", "/nowhere/x",
      ]) == .problems)
  }

  @Test("A file that is there is kept by ferry new unless it is forced")
  func keepsFiles() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let out = folder.appending(path: "model.json").path
    try "mine".write(toFile: out, atomically: true, encoding: .utf8)
    let words = ["ferry", "new", "--from", "sqlite:\(folder.path)/none.db", "--out", out]
    #expect(await CommandTable.run(words) == .problems)
    #expect(await CommandTable.run(words + ["--force"]) == .problems)
    #expect(try String(contentsOfFile: out, encoding: .utf8) == "mine")
  }
}
