/// A device without a screen: it takes commands on standard input and answers on standard output,
/// each one line of JSON. The demo and the tests run it as a process of its own.
@main
struct Main {
  static func main() async {
    let arguments = CommandLine.arguments
    if arguments.dropFirst().first == "--registration" {
      await RegistrationDevice.run(arguments)
    } else {
      await DeviceProgram.run(arguments)
    }
  }
}
