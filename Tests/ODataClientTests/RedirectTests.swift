import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryODataClient
import FerryTestSupport
import FerryTestTraits
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

  @Test(
    "A redirect is seen in the answer's address, and cookies that it set go to the next request",
    .reference("ios/CON-14")
  )
  func cookies() async throws {
    let nginx = try NginxServer(
      """
      location /a { add_header Set-Cookie "s=1; Path=/"; add_header Set-Cookie "t=1; Path=/a"; return 302 /b; }
      location /b { add_header Set-Cookie "s=2; Path=/"; return 307 /end; }
      location /end { return 200 "$http_cookie"; }
      """)
    let session = Self.session(nginx)
    let answer = try await session.send(
      ODataRequest(nginx.url + "a", headers: ["Cookie": "own=7"]))
    #expect(answer.address == nginx.url + "end")
    #expect(answer.text == "own=7; s=2")
    #expect(nginx.requests.map { $0.split(separator: " ")[1] } == ["/a", "/b", "/end"])
    // Without cookies of the session, those of the request alone are sent.
    var options = ODataSessionOptions()
    options.usesCookies = false
    let plain = ODataSession(
      transport: TransportOptions(trust: .file(nginx.authority)), options: options)
    #expect(try await plain.send(ODataRequest(nginx.url + "a")).text == "")
  }

  @Test(
    "An answer comes packed by default, is unpacked and says so; where it is switched off, none is asked for",
    .reference("ios/CON-13")
  )
  func packed() async throws {
    let nginx = try NginxServer(
      """
      gzip on; gzip_min_length 1; gzip_types *; default_type text/plain;
      location / { return 200 "$http_accept_encoding aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"; }
      """)
    var request = ODataRequest(nginx.url)
    let answer = try await Self.session(nginx).send(request)
    #expect(answer.isCompressed)
    #expect(answer.text.contains("gzip") && answer.text.hasSuffix("aaaa"))
    request.acceptsCompressed = false
    let plain = try await Self.session(nginx).send(request)
    #expect(!plain.isCompressed)
    #expect(!plain.text.contains("gzip") && plain.text.hasSuffix("aaaa"))
    var options = ODataSessionOptions()
    #expect(options.acceptsCompressed)
    options.acceptsCompressed = false
    let session = ODataSession(
      transport: TransportOptions(trust: .file(nginx.authority)), options: options)
    #expect(try await session.send(ODataRequest(nginx.url)).isCompressed == false)
  }

  @Test("The address alone says whether TLS is spoken", .reference("ios/CS-21"))
  func scheme() async throws {
    let nginx = try NginxServer("location / { return 200 $scheme; }")
    let session = Self.session(nginx)
    #expect(try await session.send(ODataRequest(nginx.url)).text == "https")
    // nginx says to who speaks no TLS at its port that it should.
    let plain = nginx.url.replacing("https:", with: "http:")
    #expect(try await session.send(ODataRequest(plain)).status == 400)
    let error = await failure { () throws(ODataClientError) in
      _ = try await session.send(ODataRequest("127.0.0.1:\(nginx.port)/"))
    }
    guard case .call = error?.cause else { return #expect(Bool(false), "\(error as Any)") }
    #expect(error?.requestWasSent == false)
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

  @Test("A service behind mutual TLS knows the client by its certificate", .reference("ios/REQ-21"))
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
