import FerryGenerator

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@main struct Main {
  static func main() {
    let outcome = GenerateTool.run(Array(CommandLine.arguments.dropFirst()))
    for message in outcome.messages { print(message) }
    exit(outcome.succeeded ? 0 : 1)
  }
}
