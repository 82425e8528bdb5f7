@main struct Main { static func main() { SampleCommand.run(CommandLine.arguments) } }
