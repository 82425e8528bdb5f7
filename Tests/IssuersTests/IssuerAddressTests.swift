import FerryIssuers
import Testing

struct IssuerAddressTests {
  @Test(
    "An address is safe over TLS or on this machine, whatever stands before its host",
    arguments: [
      ("https://login.example.com/acme", true), ("HTTPS://login.example.com", true),
      ("http://127.0.0.1:9/x", true), ("http://localhost", true), ("http://[::1]:9/", true),
      ("http://login.example.com", false), ("http://localhost:1@evil.example/", false),
      ("http://127.0.0.1@evil.example", false), ("http://127.0.0.1.evil.example", false),
      ("http://localhost\\@evil.example/", false), ("https://", false), ("ftp://localhost", false),
      ("", false),
    ])
  func safe(address: String, isSafe: Bool) {
    #expect(IssuerAddress.isSafe(address) == isSafe)
  }
}
