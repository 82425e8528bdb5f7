import FerryHTTP
import FerryTestTraits
import Foundation
import Testing

@testable import FerryApplications
@testable import FerryRegistration
@testable import FerryServer

@Suite("Where devices get an app", .timeLimit(.minutes(60)))
struct PackageTests {
  private func file(_ packages: String) throws -> ApplicationsFile {
    try ApplicationsFile(
      Array(
        """
        {"applications": [
          {"id": "com.example.flights", "packages": [\(packages)]}, {"id": "com.example.other"}]}
        """.utf8), name: "f")
  }

  @Test(
    "One page has a link to each package of an app, without a login",
    .reference("adr/SV-37"))
  func page() async throws {
    let file = try file(
      """
      {"name": "iPhone and iPad", "address": "https://apps.example.com/flights?a=1&b=2"},
      {"name": "Für Android (APK)", "address": "market://details?id=com.example.flights"}
      """)
    let desk = try await Desk(file.applications)
    let page = await desk.send("GET", "/apps/com.example.flights", user: nil)
    #expect(page.status == 200 && page.headers["Content-Type"] == "text/html; charset=utf-8")
    #expect(page.headers["Content-Security-Policy"]?.contains("default-src 'none'") == true)
    #expect(
      page.text.contains(
        """
        <li><a href="https://apps.example.com/flights?a=1&amp;b=2">iPhone and iPad</a></li>
        <li><a href="market://details?id=com.example.flights">Für Android (APK)</a></li>
        """))
    for path in ["/apps/com.example.other", "/apps/none", "/apps/", "/apps/com.example.flights/x"] {
      #expect(await desk.send("GET", path, user: nil).status == 404, "\(path)")
    }
    #expect(await desk.send("POST", "/apps/com.example.flights", user: nil).code == .notOffered)
    // What an app has of its own stays closed.
    #expect(await desk.send("GET", Desk.path, user: nil).status == 401)
  }

  @Test("A package whose name or address cannot be shown is refused when the file is read")
  func refused() throws {
    for package in [
      #"{"name": "a<b", "address": "https://x"}"#, #"{"name": "", "address": "https://x"}"#,
      #"{"name": "a", "address": "javascript:alert(1)"}"#, #"{"name": "a", "address": "https://"}"#,
      #"{"name": "a", "address": "https://x/\"onclick=\""}"#, #"{"name": "a"}"#,
      #"{"name": "a", "address": "https://x", "icon": "y"}"#, #""https://x""#,
    ] {
      let error = #expect(throws: ApplicationsError.self) { try file(package) }
      #expect(error?.message.hasPrefix("f:") == true, "\(package)")
    }
  }
}
