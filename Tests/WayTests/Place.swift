import Foundation
import Glibc
import Testing

/// All tests of the whole circle, a few side by side: each has processes, ports and folders of its
/// own, and mostly waits.
@Suite(.sideBySide, .timeLimit(.minutes(120))) enum Way {}

/// What went wrong in the surroundings of a test.
struct WayFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// A folder for one test, gone with it.
final class Place: Sendable {
  let path: String

  init() throws {
    var template = Array("\(NSTemporaryDirectory())/ferry-way.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw WayFailure("no temporary folder") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func write(_ text: String, to name: String) throws -> String {
    try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
    return file(name)
  }
}

/// Where the programs are: beside the test bundle.
enum Programs {
  static let root: String = {
    let parts = #filePath.split(separator: "/").dropLast(3)
    return "/" + parts.joined(separator: "/")
  }()

  static func path(_ name: String) throws -> String {
    let beside = (CommandLine.arguments[0] as NSString).deletingLastPathComponent
    for folder in [beside, "\(root)/.build/debug"] {
      let path = "\(folder)/\(name)"
      if access(path, X_OK) == 0 { return path }
    }
    throw WayFailure("\(name) is not built; run swift build --build-tests")
  }
}

/// Figures that a reader of the test's output may want.
func tell(_ text: String) { print("way: \(text)") }

/// What a test needs of the system, beside programs that run.
enum Need: String {
  /// A file system in memory, mounted.
  case memoryDisk
  /// A file system in a file, mounted.
  case fileDisk
  /// A network of its own, whose packets are lost.
  case network
  /// A process of another user of this machine.
  case otherUser
}

/// Says that a test could not show its point. Scripts/test counts these lines, and asks whether the
/// need could have been met.
func tellNotShown(_ need: Need, _ standIn: String) { tell("NOT SHOWN (\(need)): \(standIn)") }
