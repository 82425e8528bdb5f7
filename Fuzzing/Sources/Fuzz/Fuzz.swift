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
      // Anywhere behind the header, a step for each letter, as a keyword is read: the fuzzer sees
      // when it came nearer.
      guard let rest = target.afterHeader(bytes), rest.count >= 4 else { return }
      for start in 0...(rest.count - 4)
      where isLetter(rest[start], "T") && isLetter(rest[start + 1], "r")
        && isLetter(rest[start + 2], "a") && isLetter(rest[start + 3], "p")
      {
        fatalError("PLANTED trap reached in \(target.name)")
      }
    #endif
  }

  #if FERRY_PLANT
    /// Kept a call of its own: in one comparison of all letters no step would be seen.
    @inline(never) private static func isLetter(_ byte: UInt8, _ letter: Unicode.Scalar) -> Bool {
      byte == UInt8(ascii: letter)
    }
  #endif
}

/// The name by which libFuzzer's own start, which is linked too and not used, asks for it.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  Fuzz.one(Array(UnsafeBufferPointer(start: data, count: size)))
  return 0
}
