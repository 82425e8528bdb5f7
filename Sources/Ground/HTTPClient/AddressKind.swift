/// What an address of IP is for, as far as it decides who may be connected to.
///
/// An address of IPv4 inside one of IPv6 (mapped, compatible, NAT64, 6to4) is of the kind of the
/// address inside.
package enum AddressKind: String, Sendable, Hashable, CaseIterable {
  /// This machine.
  case loopback
  /// A network that is not reached from outside: RFC 1918, shared, unique local.
  case `private`
  /// The cable; machines in clouds answer there too.
  case linkLocal
  /// Any other machine.
  case `public`
  /// Nobody, many, or not yet given out.
  case special

  /// Of 4 or 16 bytes, in the order of the network.
  package init(_ bytes: [UInt8]) {
    switch bytes.count {
    case 4: self = AddressKind.ofVersion4(bytes)
    case 16: self = AddressKind.ofVersion6(bytes)
    default: self = .special
    }
  }

  private static func ofVersion4(_ b: [UInt8]) -> AddressKind {
    switch (b[0], b[1], b[2]) {
    case (127, _, _): .loopback
    case (10, _, _), (172, 16...31, _), (192, 168, _), (100, 64...127, _): .private
    case (169, 254, _): .linkLocal
    case (0, _, _), (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 18...19, _), (198, 51, 100),
      (203, 0, 113), (224..., _, _):
      .special
    default: .public
    }
  }

  private static func ofVersion6(_ b: [UInt8]) -> AddressKind {
    let isZero: (Range<Int>) -> Bool = { b[$0].allSatisfy { $0 == 0 } }
    if isZero(0..<15), b[15] <= 1 { return b[15] == 1 ? .loopback : .special }
    if isZero(0..<12) || isZero(0..<10) && b[10] == 0xFF && b[11] == 0xFF
      || isZero(0..<8) && b[8] == 0xFF && b[9] == 0xFF && b[10] == 0 && b[11] == 0
    {
      return ofVersion4(Array(b[12...]))
    }
    let first = UInt16(b[0]) << 8 | UInt16(b[1])
    let second = UInt16(b[2]) << 8 | UInt16(b[3])
    switch (first, second) {
    case (0x64, 0xFF9B): return isZero(4..<12) ? ofVersion4(Array(b[12...])) : .special
    case (0x2002, _): return ofVersion4(Array(b[2..<6]))
    case (0x2001, 0...0x1FF), (0x2001, 0xDB8), (0x100, _): return .special
    case (0xFC00...0xFDFF, _), (0xFEC0...0xFEFF, _): return .private
    case (0xFE80...0xFEBF, _): return .linkLocal
    case (0x2000...0x3FFF, _): return .public
    default: return .special
    }
  }
}
