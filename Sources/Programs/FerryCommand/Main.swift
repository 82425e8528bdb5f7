#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@main struct Main {
  static func main() async { exit(await CommandTable.run(CommandLine.arguments).rawValue) }
}
