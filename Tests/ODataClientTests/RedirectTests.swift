import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryODataClient
import Foundation
import Testing

@Suite("nginx as redirector, and a login page in between")
struct RedirectTests {
  private static func session(_ nginx: NginxServer) -> ODataSession {
    ODataSession(transport: TransportOptions(trust: .file(nginx.authority)))
  }

  @Test(
    "Redirects of GET within the origin are followed, by every status, and none to another host")
  func redirects() async throws {
    let nginx = try NginxServer(
      """
      location /a { return 301 /b; }
      location /b { return 302 /c; }
      location /c { return 307 /d; }
      location /d { return 308 /end; }
      location /end { return 200 here; }
      location /away { return 302 https://other.invalid/; }
      location /plain { return 302 http://$http_host/end; }
      location /loop { return 302 /loop2; }
      location /loop2 { return 302 /loop; }
      """)
    let session = Self.session(nginx)
    let answer = try await session.send(ODataRequest(nginx.url + "a"))
    #expect(answer.text == "here" && answer.address == nginx.url + "end")
    for (path, target) in [
      ("away", "https://other.invalid/"), ("plain", "http://127.0.0.1:\(nginx.port)/end"),
      ("loop", nginx.url + "loop2"),
    ] {
      let error = await failure { () throws(ODataClientError) in
        _ = try await session.send(
          ODataRequest(nginx.url + path, headers: ["Authorization": "Bearer secret"]))
      }
      guard case .redirect(let location) = error?.cause else {
        Issue.record("\(path): \(error as Any)")
        continue
      }
      #expect(location == target)
    }
  }

  @Test("A change is sent to no other address, though nginx says where, and is sent once")
  func changes() async throws {
    let nginx = try NginxServer("location / { return 308 /other; }")
    for method in [HTTPMethod.post, .put, .patch, .delete] {
      let error = await failure { () throws(ODataClientError) in
        _ = try await Self.session(nginx).send(
          ODataRequest(nginx.url + "x", method: method, body: [1]))
      }
      guard case .redirect = error?.cause else { return #expect(Bool(false), "\(error as Any)") }
      #expect(error?.requestWasSent == true)
    }
    #expect(nginx.requests.count == 4)
  }

  @Test("A login page in place of the service is named, with TLS and gzip in between")
  func loginPage() async throws {
    let nginx = try NginxServer(
      """
      gzip on; gzip_min_length 1; gzip_types *;
      location / { default_type text/html; return 200 '<html><body><form>Log in</form></body></html>'; }
      """)
    let error = await failure { () throws(ODataClientError) in
      _ = try await ODataService.open(nginx.url, session: Self.session(nginx))
    }
    guard case .document(let problem) = error?.cause else {
      return #expect(Bool(false), "\(error as Any)")
    }
    #expect(problem.code == .htmlPage)
  }

  @Test("A service behind mutual TLS knows the client by its certificate (ios/REQ-21)")
  func mutual() async throws {
    let nginx = try NginxServer(
      "ssl_verify_client on; location / { return 200 $ssl_client_s_dn; }")
    var options = TransportOptions(trust: .file(nginx.authority))
    options.identity = ClientIdentity(
      pkcs12: Array(try Data(contentsOf: nginx.identity)), password: "secret")
    let session = ODataSession(transport: options)
    #expect(try await session.send(ODataRequest(nginx.url)).text == "CN=alice")
    let stranger = try await Self.session(nginx).send(ODataRequest(nginx.url))
    #expect(stranger.status == 400)
  }
}
