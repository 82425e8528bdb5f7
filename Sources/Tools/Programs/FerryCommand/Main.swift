import FerryArguments

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@main struct Main {
  static func main() async {
    let code = await CommandTable.run(CommandLine.arguments)
    exit((StandardOutput.isWritten(by: "ferry") ? code : .problems).rawValue)
  }
}
