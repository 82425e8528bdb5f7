import FerryCrypto
import FerryHTTPClient
import FerryPush
import FerryTestTraits
import FerryWorld
import Foundation
import Testing

@testable import FerryApplications
@testable import FerryRegistration
@testable import FerryServer

@Suite("Samples of the reference: the token of a device", .timeLimit(.minutes(60)))
struct SampleTokenTests {
  @Test(
    "The system's token reaches Apple's service as digits, and a refused one ends the waking",
    .reference(
      "ios/CS-4", "ios/CS-5", "ios/CS-6", "ios/CS-47", "ios/PSH-4", "ios/PSH-5"))
  func deviceToken() async throws {
    var application = Desk.plain
    var push = ApplicationPush()
    push.apns = APNsSender.Account(
      key: try P256Key.generate(), keyID: "K", team: "T", topic: Desk.flights)
    application.push = push
    let apple = Peer([Peer.Reply(status: 200)])
    let desk = try await Desk([application], push: apple)
    let app = desk.app()
    let id = try #require(try await app.register().connectionID)
    func post(_ text: String) async {
      _ = await desk.send(
        "POST", "/Notification/\(id)", user: "sapgw", [("X-SUP-APNS-ALERT-BODY", "late")],
        body: text)
      await desk.applications.desk.finish()
    }
    // No text of UTF-8: only the bytes themselves are right.
    try await app.setDeviceToken([0x0A, 0xFF, 0x00, 0x80])
    await post("LH 400 is late")
    #expect(apple.requests.map(\.url) == ["https://api.push.apple.com/3/device/0aff0080"])
    // What the system hands to the app names no data: the app asks for it.
    let notice = String(decoding: try #require(apple.requests.first).body, as: UTF8.self)
    #expect(notice.contains("late") && !notice.contains("LH 400"))
    do {
      var payloads = app.payloads.makeAsyncIterator()
      #expect(try await payloads.next()?.data == "LH 400 is late")
    }
    try await app.deviceTokenFailed()
    #expect(try await app.settings()["ApnsDeviceToken"] == nil)
    await post("LH 401 is late")
    #expect(apple.requests.count == 1)
    // Payloads come all the same; the first was not confirmed.
    var payloads = app.payloads.makeAsyncIterator()
    #expect(try await payloads.next()?.data == "LH 400 is late")
    #expect(try await payloads.next()?.data == "LH 401 is late")
    await #expect(throws: RegistrationError.self) { try await app.setDeviceToken([]) }
  }
}
