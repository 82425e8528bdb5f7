import FerryHTTPClient
import Testing

@testable import Ferry

@Suite("The error of a lost connection")
struct OfflineErrorTests {
  @Test("A lost request asks nothing of the user, for Ferry repeats it; a wrong address does")
  func hints() {
    let lost = TransportError(
      code: .cut, message: "the connection ended before the answer did",
      hint: "Check whether the server performed the request before you send it again.",
      isTransient: true, requestWasSent: true)
    let error = FerryError.offline(lost)
    #expect(error.code == .offline && error.isTransient)
    #expect(error.message == lost.message)
    #expect(
      error.hint
        == "Ferry connects again by itself. Changes stay on the device until the server has them.")
    let wrong = TransportError(
      code: .cannotConnect, message: "no such host", hint: "Check the address.", isTransient: true,
      requestWasSent: false)
    #expect(FerryError.offline(wrong).hint == "Check the address.")
  }
}
