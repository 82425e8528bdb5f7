import Foundation
import Glibc

/// A network of our own in which the system loses packets: what TCP makes of it is real.
enum Namespace {
  /// What stands before a command that is to run in it.
  static func prefix(_ name: String) -> [String] { ["/usr/sbin/ip", "netns", "exec", name] }

  /// False where this user or this system cannot do it.
  static func make(_ name: String, lossPercent: Int) async -> Bool {
    guard await run("/usr/sbin/ip", ["netns", "add", name]) != nil else { return false }
    let rules = """
      add table inet ferry
      add chain inet ferry input { type filter hook input priority 0; }
      add rule inet ferry input iif lo numgen random mod 100 < \(lossPercent) counter drop

      """
    let inside = "ip link set lo up && printf '%s' \"$0\" | nft -f -"
    let command = prefix(name) + ["/bin/sh", "-c", inside, rules]
    guard await run(command[0], Array(command.dropFirst())) != nil else {
      remove(name)
      return false
    }
    return true
  }

  /// How many packets were lost.
  static func dropped(_ name: String) async -> Int {
    let command = prefix(name) + ["/usr/sbin/nft", "list", "ruleset"]
    let lines = await run(command[0], Array(command.dropFirst())) ?? []
    let words = lines.first { $0.contains("packets") }?.split(separator: " ") ?? []
    return words.firstIndex(of: "packets").flatMap { Int(words[$0 + 1]) } ?? 0
  }

  static func remove(_ name: String) {
    umount2("/run/netns/\(name)", 2)
    unlink("/run/netns/\(name)")
  }

  private static func run(_ program: String, _ arguments: [String]) async -> [String]? {
    guard let process = try? ChildProcess(program, arguments),
      (try? await process.ended()) == .exit(0)
    else { return nil }
    return process.lines
  }
}
