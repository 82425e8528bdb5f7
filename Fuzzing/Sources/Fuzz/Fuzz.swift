import CLibFuzzer
import FerryFuzzTargets

/// `Fuzz <target> [arguments of libFuzzer]`; `Fuzz --list` prints the targets.
///
/// `FERRY_PLANT` plants a trap behind each target's valid header: it shows that the fuzzer gets
/// there.
@main struct Fuzz {
  /// Chosen by the first argument, before libFuzzer takes over this one thread.
  static let target: FuzzTarget? = FuzzTarget.all.first {
    CommandLine.arguments.dropFirst().first == $0.name
  }

  static func main() {
    guard target != nil else {
      for target in FuzzTarget.all { print(target.name) }
      return
    }
    // libFuzzer gets the arguments without the target's name.
    var count = CommandLine.argc - 1
    let values = CommandLine.unsafeArgv + 1
    values[0] = CommandLine.unsafeArgv[0]
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = values
    _ = LLVMFuzzerRunDriver(&count, &arguments) { data, size in testOneInput(data, size) }
  }

  static func one(_ bytes: [UInt8]) {
    guard let target else { return }
    if let broken = target.run(bytes) { fatalError("FINDING in \(target.name): \(broken)") }
    #if FERRY_PLANT
      if let rest = target.afterHeader(bytes), rest.count >= 4 {
        let word = rest[..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        if word == 0x5472_6170 { fatalError("PLANTED trap reached in \(target.name)") }
      }
    #endif
  }
}

/// The name by which libFuzzer's own start, which is linked too and not used, asks for it.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  Fuzz.one(Array(UnsafeBufferPointer(start: data, count: size)))
  return 0
}
