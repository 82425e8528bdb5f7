/// The server.
@main
struct Main {
  static func main() {
    CrashReport.leaveOutRegisters()
    ServerProgram.main(CommandLine.arguments)
  }
}
