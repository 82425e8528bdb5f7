/// The server.
@main
struct Main {
  static func main() { ServerProgram.main(CommandLine.arguments) }
}
