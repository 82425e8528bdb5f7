import Glibc

/// The beginning of a connection in the PROXY protocol, version 1 or 2, read in pieces. Pure.
///
/// `wanted` never goes beyond it: the byte behind it is the first of HTTP, or of TLS.
struct ProxyGreeting {
  enum State: Equatable {
    case reading
    /// The client's address; nil where the proxy speaks for itself.
    case whole(String?)
    case bad
  }

  private(set) var state = State.reading
  private var bytes: [UInt8] = []

  private static let signature: [UInt8] = [
    0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
  ]
  /// With its line break, as the protocol says.
  private static let longestLine: Int = 107
  /// Addresses and what a proxy adds to them.
  private static let longestBlock: Int = 1_024

  /// How many bytes may be read next.
  var wanted: Int {
    guard bytes.count >= 12 else { return 12 - bytes.count }
    guard isBinary else { return 1 }
    return bytes.count < 16 ? 16 - bytes.count : 16 + blockBytes - bytes.count
  }

  private var isBinary: Bool { bytes.starts(with: ProxyGreeting.signature) }
  private var blockBytes: Int { Int(bytes[14]) << 8 | Int(bytes[15]) }

  mutating func take(_ piece: some Sequence<UInt8>) {
    bytes += piece
    guard bytes.count >= 12, state == .reading else { return }
    if isBinary { readBlock() } else { readLine() }
  }

  /// `PROXY TCP4 192.0.2.1 198.51.100.1 56324 443`
  private mutating func readLine() {
    guard bytes.starts(with: "PROXY ".utf8) else {
      state = .bad
      return
    }
    guard bytes.suffix(2) == [13, 10] else {
      if bytes.count >= ProxyGreeting.longestLine { state = .bad }
      return
    }
    let words = String(decoding: bytes.dropLast(2), as: UTF8.self)
      .split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    if words.count >= 2, words[1] == "UNKNOWN" {
      state = .whole(nil)
      return
    }
    guard words.count == 6, ["TCP4", "TCP6"].contains(words[1]),
      words[4...].allSatisfy({ UInt16($0) != nil }),
      let address = ProxyGreeting.address(words[2], isV6: words[1] == "TCP6"),
      ProxyGreeting.address(words[3], isV6: words[1] == "TCP6") != nil
    else {
      state = .bad
      return
    }
    state = .whole(address)
  }

  private mutating func readBlock() {
    guard bytes.count >= 16 else { return }
    // Version 2, and LOCAL (0) or PROXY (1).
    guard [0x20, 0x21].contains(bytes[12]), blockBytes <= ProxyGreeting.longestBlock else {
      state = .bad
      return
    }
    guard bytes.count == 16 + blockBytes else { return }
    let block = bytes[16...]
    switch (bytes[12] & 15, bytes[13]) {
    case (0, _), (_, 0x00): state = .whole(nil)
    case (_, 0x11) where block.count >= 12:
      state = .whole(block.prefix(4).map(String.init).joined(separator: "."))
    case (_, 0x21) where block.count >= 36:
      var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      let found = Array(block.prefix(16)).withUnsafeBytes {
        inet_ntop(AF_INET6, $0.baseAddress, &text, socklen_t(text.count))
      }
      state = found.map { .whole(String(cString: $0)) } ?? .bad
    default: state = .bad
    }
  }

  private static func address(_ text: String, isV6: Bool) -> String? {
    var address = [UInt8](repeating: 0, count: 16)
    return inet_pton(isV6 ? AF_INET6 : AF_INET, text, &address) == 1 ? text : nil
  }
}
