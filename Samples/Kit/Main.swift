@main struct Main {
  static func main() throws { try KitProgram(arguments: CommandLine.arguments)?.run() }
}
