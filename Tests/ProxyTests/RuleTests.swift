import FerryHTTP
import FerryHTTPClient
import Foundation
import Testing

@testable import FerryProxy

@Suite("What may pass the door")
struct RuleTests {
  @Test(
    "A path that can mean something else behind the door is refused",
    arguments: [
      "", "*", "/", "//flights/", "http://other/flights/", "/flights/../x", "/flights/%2e%2e/x",
      "/flights/%2E./x", "/flights/a%2f..%2fx", "/flights/..%5cx", "/flights/%252e%252e/x",
      "/flights/..;/x", "/flights/./x", "/flights/a%00b", "/flights/a%0d%0ab", "/flights/a\\b",
      "/flights/a#b", "/flights/%zz", "/flights/%4", "/fl ights/", "/fl%69ghts/x",
      "/flights/\u{e9}",
      "/../flights/", "/flights/%2e%2e", "/.../../x", "/flights/%c0%ae%c0%ae\u{7f}",
      "/flights/%c0%ae%c0%ae/x", "/flights/%e0%80%ae%e0%80%ae/x", "/flights/a%c0%af..%c0%afx",
      "/flights/..%c1%9cx", "/flights/%25c0%25ae./x",
    ])
  func badTargets(path: String) {
    #expect(ForwardedTarget(path: path, query: nil) == nil, "\(path)")
  }

  @Test("A path of a service goes on as it came")
  func goodTargets() {
    for (path, rest) in [
      ("/flights", ""), ("/flights/", ""), ("/flights/F(1)", "F(1)"),
      ("/flights/F('a%2Fb')/G", "F('a%2Fb')/G"), ("/flights/$metadata", "$metadata"),
      ("/flights/F('a..b')", "F('a..b')"), ("/flights/a//b", "a//b"),
      ("/flights/%c3%a9%c0x", "%c3%a9%c0x"),
    ] {
      let target = ForwardedTarget(path: path, query: "$top=1")
      #expect(target?.name == "flights")
      #expect(target?.rest == rest)
      #expect(target?.query == "$top=1")
    }
    #expect(ForwardedTarget(path: "/flights/", query: "a#b") == nil)
    #expect(ForwardedTarget(path: "/flights/", query: "a\nb") == nil)
  }

  @Test("Only the paths that are open can be asked for, whole names only")
  func paths() {
    let service = BackEnd(
      name: "s", address: "http://b/odata", paths: ["Items", "$metadata", "open/"])
    func url(_ path: String) -> String? {
      ForwardedTarget(path: path, query: nil).flatMap(service.url)
    }
    #expect(url("/s/Items") == "http://b/odata/Items")
    #expect(url("/s/Items(1)/Name") == "http://b/odata/Items(1)/Name")
    #expect(url("/s/open/x") == "http://b/odata/open/x")
    for path in ["/s/", "/s/ItemsSecret", "/s/items", "/s/%49tems", "/s/openx", "/s/Users"] {
      #expect(url(path) == nil, "\(path)")
    }
  }

  @Test("Fields of one connection, of the door and of a proxy stay behind; others pass in order")
  func fields() {
    let request: HTTPHeaders = [
      "Accept": "a/b", "Connection": "close, X-Hop", "X-Hop": "1", "Keep-Alive": "5", "TE": "x",
      "Host": "h", "Authorization": "Basic x", "Cookie": "a=b", "X-Forwarded-For": "1.2.3.4",
      "Forwarded": "for=x", "If-Match": "\"1\"", "Range": "bytes=0-1", "X-CSRF-Token": "Fetch",
      "sap-language": "DE", "X-User": "root", "x_forwarded_for": "1.2.3.4",
      "Expect": "100-continue",
      "Accept-Language": "de", "Proxy-Authorization": "x", "X-Real-IP": "1.1.1.1",
    ]
    let kept = ForwardedFields.request(request, without: "x-user").fields.map(\.name)
    #expect(
      kept == ["Accept", "If-Match", "Range", "X-CSRF-Token", "sap-language", "Accept-Language"])
    let answer: HTTPHeaders = [
      "Connection": "X-Own", "X-Own": "1", "ETag": "x", "Set-Cookie": "a=b", "Trailer": "y",
      "Content-Range": "bytes 0-1/2", "Transfer-Encoding": "chunked", "Content-Length": "2",
    ]
    #expect(ForwardedFields.answer(answer).fields.map(\.name) == ["ETag", "Content-Range"])
  }

  @Test("A cookie of the service goes back only from the user to whom it was given")
  func cookies() throws {
    let binding = CookieBinding(key: [1, 2, 3])
    let given = try #require(
      binding.given(
        "sid=a.b=c; Path=/odata; Domain=business; HttpOnly; Max-Age=5", to: "anna", by: "flights",
        isSecure: true))
    #expect(given.hasSuffix(".a.b=c; Path=/flights/; HttpOnly; Max-Age=5; Secure"))
    let pair = String(given.prefix { $0 != ";" })
    let headers: HTTPHeaders = ["Cookie": "other=1; \(pair); sid=forged"]
    #expect(binding.own(headers, of: "anna", for: "flights") == "sid=a.b=c")
    #expect(binding.own(headers, of: "berta", for: "flights") == nil)
    #expect(binding.own(headers, of: "anna", for: "hotels") == nil)
    #expect(CookieBinding(key: [4]).own(headers, of: "anna", for: "flights") == nil)
    let renamed: HTTPHeaders = ["Cookie": pair.replacing("sid=", with: "admin=")]
    #expect(binding.own(renamed, of: "anna", for: "flights") == nil)
    #expect(binding.given("nothing", to: "anna", by: "flights", isSecure: true) == nil)
  }

  @Test("Addresses are of the kind that they lead to, however they are spelled")
  func addresses() {
    let kinds: [(String, AddressKind)] = [
      ("127.0.0.1", .loopback), ("127.255.1.2", .loopback), ("0.0.0.0", .special),
      ("0.1.2.3", .special), ("10.1.2.3", .private), ("172.16.0.1", .private),
      ("172.32.0.1", .public), ("192.168.9.9", .private), ("100.64.0.1", .private),
      ("169.254.169.254", .linkLocal), ("224.0.0.1", .special), ("255.255.255.255", .special),
      ("198.18.0.1", .special), ("192.0.2.1", .special), ("8.8.8.8", .public), ("::1", .loopback),
      ("::", .special), ("::ffff:127.0.0.1", .loopback), ("::ffff:7f00:1", .loopback),
      ("::ffff:169.254.169.254", .linkLocal), ("::ffff:8.8.8.8", .public),
      ("::127.0.0.1", .loopback), ("64:ff9b::7f00:1", .loopback),
      ("64:ff9b::a9fe:a9fe", .linkLocal),
      ("64:ff9b:1::1", .special), ("2002:7f00:1::", .loopback), ("2002:a00:1::", .private),
      ("fc00::1", .private), ("fd12::1", .private), ("fe80::1", .linkLocal), ("fec0::1", .private),
      ("ff02::1", .special), ("2001:db8::1", .special), ("2001::1", .special),
      ("::ffff:0:127.0.0.1", .loopback), ("2606:4700::1111", .public), ("4000::1", .special),
    ]
    for (text, kind) in kinds {
      var bytes = [UInt8](repeating: 0, count: 16)
      let isVersion6 = text.contains(":")
      #expect(inet_pton(isVersion6 ? AF_INET6 : AF_INET, text, &bytes) == 1, "\(text)")
      #expect(AddressKind(Array(bytes.prefix(isVersion6 ? 16 : 4))) == kind, "\(text)")
    }
  }

  @Test("Name and password are read from one Basic header, and from nothing else")
  func basic() {
    func read(_ headers: HTTPHeaders) -> String? {
      BasicCredentials(headers).map { "\($0.user)|\($0.password)" }
    }
    func encoded(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
    #expect(read(["Authorization": "Basic \(encoded("anna:a:b"))"]) == "anna|a:b")
    #expect(read(["Authorization": "basic  \(encoded("ännä:pä"))"]) == "ännä|pä")
    for text in ["anna", ":x", "an\0na:x", "anna:x\r\ny"] {
      #expect(read(["Authorization": "Basic \(encoded(text))"]) == nil, "\(text)")
    }
    #expect(read(["Authorization": "Basic ????"]) == nil)
    #expect(read(["Authorization": "Bearer \(encoded("a:b"))"]) == nil)
    var twice: HTTPHeaders = ["Authorization": "Basic \(encoded("a:b"))"]
    twice.add("Authorization", "Basic \(encoded("c:d"))")
    #expect(read(twice) == nil)
  }
}

@Suite("The file of a gateway")
struct GatewayFileTests {
  private func problem(_ text: String) -> String? {
    do throws(GatewayError) {
      _ = try GatewayFile(Array(text.utf8), name: "g.json")
      return nil
    } catch {
      return error.message
    }
  }

  @Test("A whole file")
  func whole() throws {
    let text = """
      {"door": "https://gate.example.com:8443",
       "services": [{"name": "flights", "address": "http://Business:8000/odata",
         "networks": ["loopback", "private"], "paths": ["Items"], "roles": ["sales"],
         "credentials": {"user": "FERRY", "password": "secret"}, "userHeader": "X-User",
         "limits": {"uploadMB": 5, "connections": 7, "connectSeconds": 2, "idleSeconds": 9}}]}
      """
    let service = try #require(GatewayFile(Array(text.utf8), name: "g").services.first)
    #expect(service.address == "http://business:8000/odata/")
    #expect(service.credentials == .technical(authorization: "Basic RkVSUlk6c2VjcmV0"))
    #expect(service.limits.uploadBytes == 5 << 20)
    #expect(service.limits.connections == 7)
    #expect(service.limits.idle == .seconds(9))
    #expect(service.roles == ["sales"])
  }

  @Test("What is wrong is named with its place, and what is not known is wrong")
  func faults() {
    let service = #""name": "a", "address": "http://b/""#
    for (text, words) in [
      ("{", "g.json:1:2"), ("{}", "no service"), (#"{"x": 1}"#, "no member \"x\""),
      (#"{"services": [{}]}"#, "needs a name"),
      (#"{"services": [{"name": ".."}]}"#, "needs a name"),
      (#"{"services": [{"name": "a/b", "address": "http://b/"}]}"#, "needs a name"),
      (#"{"services": [{"name": "a", "address": "ftp://b/"}]}"#, "needs an address"),
      (#"{"services": [{"name": "a", "address": "http://u:p@b/"}]}"#, "needs an address"),
      (#"{"services": [{"name": "a", "address": "http://b/?x"}]}"#, "needs an address"),
      ("{\"services\": [{\(service)}, {\(service)}]}", "two services"),
      ("{\"services\": [{\(service), \"netwroks\": []}]}", "no member"),
      ("{\"services\": [{\(service), \"networks\": [\"all\"]}]}", "no network"),
      ("{\"services\": [{\(service), \"networks\": \"all\"}]}", "not a list"),
      ("{\"services\": [{\(service), \"roles\": [1]}]}", "not a list"),
      ("{\"services\": [{\(service), \"anonymous\": 1}]}", "neither true nor false"),
      ("{\"services\": [{\(service), \"anonymous\": true, \"anonymous\": false}]}", "there twice"),
      ("{\"services\": [{\(service), \"limits\": {\"uploadMB\": 0}}]}", "not a number"),
      ("{\"services\": [{\(service), \"credentials\": \"all\"}]}", "no credentials"),
      (
        "{\"services\": [{\(service), \"credentials\": {\"user\": \"a:b\", \"password\": \"\"}}]}",
        "without a colon"
      ),
      ("{\"services\": [{\(service), \"userHeader\": \"X:\"}]}", "name of a header"),
      ("{\"door\": \"https://g/?x\", \"services\": [{\(service)}]}", "door is not an address"),
      ("{\"proxyField\": \"X-Real-IP\", \"services\": [{\(service)}]}", "not believed"),
      ("{\"clientCertificates\": {}, \"services\": [{\(service)}]}", "file of authorities"),
      (
        "{\"clientCertificates\": {\"authorities\": \"a\", \"required\": []}, \"services\": [{\(service)}]}",
        "names no address"
      ),
    ] {
      #expect(problem(text)?.contains(words) == true, "\(text): \(problem(text) ?? "no problem")")
    }
  }

  @Test("A caller cannot name another user, in no spelling of the field")
  func spelledFields() {
    let sent: HTTPHeaders = [
      "X_User": "admin", "x-user": "admin", "X-USER": "admin", "Ssl-Client-Cert": "x",
      "X_Forwarded_For": "1.2.3.4", "Accept": "*/*",
    ]
    let kept = ForwardedFields.request(sent, without: "X-User").fields.map(\.name)
    #expect(kept == ["Accept"])
  }

  @Test("A file that others can read is refused")
  func mode() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    let text = #"{"services": [{"name": "a", "address": "http://b/"}]}"#
    try Data(text.utf8).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    chmod(path, 0o640)
    #expect(throws: GatewayError.self) { try GatewayFile(path: path) }
    chmod(path, 0o600)
    #expect(try GatewayFile(path: path).services.count == 1)
  }
}
