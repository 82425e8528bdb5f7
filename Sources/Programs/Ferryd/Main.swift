/// The server.
@main
struct Main {
  static func main() { Ferryd.main(CommandLine.arguments) }
}
