/// Rounds of work on a server and two devices, in which processes are killed at random times.
///
/// `Scripts/check kill` starts it.
@main
struct Main {
  static func main() {
    RoundsProgram.run(CommandLine.arguments)
  }
}
