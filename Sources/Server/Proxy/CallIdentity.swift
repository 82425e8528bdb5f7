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
    let given = TraceHeaders(
      passports: headers.values(Passport.headerName), parents: headers.values("traceparent"),
      correlations: headers.values(Passport.correlationHeaderName))
    let made = Passport(chance, action: "gateway")
    correlation =
      given.correlationID ?? given.passport?.correlationID ?? made.correlationID
    passport = given.passportText ?? made.header
    parent =
      given.parent?.text
      ?? "00-\(hexadecimal(chance.bytes(16)))-\(hexadecimal(chance.bytes(8)))-00"
  }
}
