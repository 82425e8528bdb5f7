/// Tells the story of the circle on the terminal, with a server and two devices as processes of
/// their own, and ends with 0 only when all four keep the same rows.
@main
struct Main {
  static func main() {
    DemoProgram.run(CommandLine.arguments)
  }
}
