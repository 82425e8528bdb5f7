import FerryCrypto
import FerryHTTP
import FerryTrace
import FerryWorld

/// The ids under which a request is found again in the logs of all servers: read, or made where they
/// are missing or are none.
struct CallIdentity {
  let correlation: String
  let parent: String
  let passport: String

  init(_ headers: HTTPHeaders, _ chance: any Chance) {
    let values = headers.values("X-CorrelationID")
    let given = values.count == 1 ? values.first.flatMap(CallIdentity.token) : nil
    let made = Passport(chance, action: "gateway")
    correlation = given ?? made.correlationID
    let passports = headers.values(Passport.headerName)
    let isPassport: (String) -> Bool = { text in
      (64...4_096).contains(text.utf8.count) && text.utf8.allSatisfy(CallIdentity.isHexadecimal)
    }
    passport = passports.count == 1 && isPassport(passports[0]) ? passports[0] : made.header
    let parents = headers.values("traceparent")
    if parents.count == 1, CallIdentity.isTraceParent(parents[0]) {
      parent = parents[0]
    } else {
      parent = "00-\(hexadecimal(chance.bytes(16)))-\(hexadecimal(chance.bytes(8)))-00"
    }
  }

  /// Nil for what could be more than an id in a log or in a header.
  private static func token(_ text: String) -> String? {
    let isGood = text.utf8.allSatisfy { byte in
      isHexadecimal(byte) || (0x67...0x7A).contains(byte) || (0x47...0x5A).contains(byte)
        || "-_.:".utf8.contains(byte)
    }
    return (1...128).contains(text.utf8.count) && isGood ? text : nil
  }

  /// Version 00 of W3C: `00-` 32 digits `-` 16 digits `-` 2 digits, in lower case, none all zeros.
  private static func isTraceParent(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return text.utf8.count == 55 && parts.map(\.utf8.count) == [2, 32, 16, 2] && parts[0] == "00"
      && text.utf8.allSatisfy { isHexadecimal($0) && !(0x41...0x46).contains($0) || $0 == 0x2D }
      && parts[1].contains { $0 != "0" } && parts[2].contains { $0 != "0" }
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
    default: false
    }
  }
}
