@main struct Main {
  static func main() throws { try KitWriter(arguments: CommandLine.arguments)?.run() }
}
