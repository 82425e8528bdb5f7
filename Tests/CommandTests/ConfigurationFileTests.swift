import FerryArguments
import Foundation
import Testing

@testable import FerryCommand

@Suite("The options of a program in a file")
struct ConfigurationFileTests {
  private let options = [
    CommandOption("port", "N", "the port"), CommandOption("model", "FILE", "the model"),
    CommandOption("odata", nil, "offer OData"),
  ]

  private func arguments(_ text: String, _ words: String...) throws(UsageError) -> Arguments {
    var arguments = try Arguments(words, options: options)
    try arguments.add(try ConfigurationFile(text, path: "a.conf"), options: options)
    return arguments
  }

  private func problem(_ text: String) -> String {
    do throws(UsageError) {
      _ = try arguments(text).value("port")
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test("A line sets an option; comments, quotes and spaces are as the page says")
  func lines() throws {
    let found = try arguments(
      """
      # a comment
        port = 8081\t

      model = postgres:host=/run dbname=a#b
      model= " two words "
      odata
      """)
    #expect(try found.value("port") == "8081")
    #expect(found.values("model") == ["postgres:host=/run dbname=a#b", " two words "])
    #expect(found.flag("odata"))
    #expect(try !arguments("odata = no").flag("odata"))
    #expect(try arguments("odata = yes\r\nport = 1").flag("odata"))
  }

  @Test("The command line takes the place of all lines of the same name")
  func commandLineFirst() throws {
    let found = try arguments("model = a\nmodel = b\nport = 1", "--model", "c")
    #expect(found.values("model") == ["c"])
    #expect(try found.value("port") == "1")
  }

  @Test("A line that makes no sense is named with its number and the cure")
  func wrongLines() {
    #expect(problem("\nprot = 1") == "a.conf:2: unknown setting prot. Did you mean \"port\"?")
    #expect(problem("port =") == "a.conf:1: port needs a value. Write port = N.")
    #expect(problem("port") == "a.conf:1: port needs a value. Write port = N.")
    #expect(
      problem("odata = maybe")
        == "a.conf:1: odata takes no value. Write only odata, or odata = no.")
    #expect(
      problem("--port = 1")
        == "a.conf:1: --port begins with a dash. Write the name of the option without dashes.")
    #expect(
      problem("two words = 1")
        == "a.conf:1: \"two words = 1\" is not a setting. Write NAME = VALUE, and # before a comment."
    )
    #expect(problem("port = 1\nport = 2") == "a.conf:2: port is given twice. Give it once.")
  }

  @Test("ferry doctor names a folder that others may enter, with the cure, and ends with 1")
  func doctor() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-doctor-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    defer { try? FileManager.default.removeItem(at: folder) }
    let open = try FerryProgram.run(["doctor", "--data", folder.path])
    #expect(open.code == 1)
    #expect(open.said.contains("others on this machine may enter \(folder.path)"))
    #expect(open.said.contains("chmod 700 \(folder.path)"))
    chmod(folder.path, 0o700)
    let closed = try FerryProgram.run(["doctor", "--data", folder.path, "--json"])
    #expect(closed.said.contains("\(folder.path) belongs to this user alone"))
    let nothing = try FerryProgram.run(["doctor"])
    #expect(nothing.code == 2 && nothing.said.contains("no data folder is named"))
  }

  @Test("Each shell's script of ferry completion can be read, and has every command")
  func completion() throws {
    for shell in ["bash", "zsh", "fish"] {
      let told = try FerryProgram.run(["completion", shell])
      #expect(told.code == 0)
      for command in CommandTable.commands {
        #expect(told.said.contains(command.name), "\(shell)")
      }
    }
    let file = FileManager.default.temporaryDirectory.appending(
      path: "ferry-completion-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let script =
      CompletionCommand.bash
      + "\nCOMP_WORDS=(ferry status --js); COMP_CWORD=2; _ferry; echo \"${COMPREPLY[@]}\"\n"
    try Data(script.utf8).write(to: file)
    let bash = Process()
    bash.executableURL = URL(filePath: "/bin/bash")
    bash.arguments = [file.path]
    let said = Pipe()
    bash.standardOutput = said
    try bash.run()
    let text = String(decoding: said.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    bash.waitUntilExit()
    #expect(text == "--json\n")
    #expect(try FerryProgram.run(["completion", "tcsh"]).code == 2)
  }
}
