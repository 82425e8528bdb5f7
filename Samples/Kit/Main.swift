@main struct Main {
  static func main() async throws { try await KitProgram(arguments: CommandLine.arguments)?.run() }
}
