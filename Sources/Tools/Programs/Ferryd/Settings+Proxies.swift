import FerryArguments
import Foundation

extension Settings {
  /// Those whose fields are believed, and those who send the PROXY protocol.
  static func proxies(
    _ arguments: Arguments
  ) throws -> (fields: Set<String>, greetings: Set<String>) {
    let proxies = Set(
      arguments.values("proxy").flatMap { $0.split(separator: ",").map(String.init) })
    for proxy in proxies where !Settings.isAddress(proxy) {
      throw UsageError(
        "--proxy \(proxy) is not an IP address",
        hint: "Write the addresses that the proxy connects from, such as 10.0.0.5,::1.")
    }
    guard arguments.flag("proxy-protocol") else { return (proxies, []) }
    guard !proxies.isEmpty else {
      throw UsageError(
        "--proxy-protocol needs --proxy", hint: "Name the addresses of the proxies that send it.")
    }
    return ([], proxies)
  }

  private static func isAddress(_ text: String) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 16)
    return inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1
  }
}
