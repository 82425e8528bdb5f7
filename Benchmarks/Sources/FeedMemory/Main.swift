import FerryOData
import Glibc

/// Streams a feed from a file and prints how many entries it had and the most memory that this
/// process ever had, in KB. A process of its own without Foundation: nothing else is in the figure.
@main
enum Main {
  static func main() throws {
    guard let path = CommandLine.arguments.dropFirst().first, let file = fopen(path, "r") else {
      print("usage: FeedMemory <file of a feed>")
      exit(2)
    }
    let reader = ODataFeedReader()
    var entries = 0
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = fread(&piece, 1, piece.count, file)
      if count == 0 { break }
      reader.push(Array(piece[..<count]))
      while try reader.nextEntry() != nil { entries += 1 }
    }
    reader.finish()
    while try reader.nextEntry() != nil { entries += 1 }
    fclose(file)
    print(entries, peakKilobytes())
  }

  /// `getrusage` would tell the memory of whoever started this process where that was more.
  private static func peakKilobytes() -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 8 << 10)
    let count = fread(&bytes, 1, bytes.count, file)
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }
}
