import FerryTestTraits
import Foundation
import Testing

@Suite("An app on the device kit")
struct DayOneTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "kit-\(UUID().uuidString)")

  private func file(_ name: String, _ text: String) throws -> String {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let place = folder.appending(path: name)
    try Data(text.utf8).write(to: place)
    return place.path
  }

  @Test(
    "A vault holds the token, a feed is found as one types, all is there after a kill, and leaves under one id",
    .reference("ios/FRM-1", "adr/DVT-19", "adr/SET-3")
  )
  func dayOne() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let service = try file(
      "service.xml",
      """
      <service xmlns="http://www.w3.org/2007/app" xmlns:atom="http://www.w3.org/2005/Atom">
      <workspace><atom:title>Data</atom:title>
      <collection href="Flights"><atom:title>Flights</atom:title></collection>
      </workspace></service>
      """)
    let metadata = try file(
      "metadata.xml",
      """
      <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
      <edmx:DataServices><Schema Namespace="F" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
      <EntityType Name="Flight"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.String" Nullable="false"/>
      <Property Name="City" Type="Edm.String"/></EntityType>
      <EntityContainer Name="C"><EntitySet Name="Flights" EntityType="F.Flight"/></EntityContainer>
      </Schema></edmx:DataServices></edmx:Edmx>
      """)
    let feed = try file(
      "feed.json",
      """
      {"d":{"results":[
      {"__metadata":{"uri":"http://h/Flights('1')","type":"F.Flight"},"ID":"1","City":"New York"},
      {"__metadata":{"uri":"http://h/Flights('2')","type":"F.Flight"},"ID":"2","City":"Köln"}]}}
      """)
    let app = folder.appending(path: "app")
    let first = try Child(["ferry-kit", "FerryKitSample"], [app.path])
    first.send("read \(service) \(metadata) \(feed) Flights")
    #expect(first.lines { $0 == "login first" } != nil)
    first.send("login s3cret")
    let welcome = try #require(first.lines { $0.hasPrefix("token ") }?.last)
    #expect(welcome.hasSuffix(", 0 collections loaded"))
    first.send("read \(service) \(metadata) \(feed) Flights")
    #expect(first.lines { $0 == "2 entries stored" } != nil)
    first.send("type new y")
    #expect(
      first.lines { $0.hasPrefix("end") } == ["found http://h/Flights('1')", "end of new y"])
    // What was done leaves under one id, and is in the log under it.
    let listener = try Child(["/usr/bin/env"], ["python3", "-u", "-c", Self.listener])
    let port = try #require(listener.lines { _ in true }?.last)
    first.send("send http://127.0.0.1:\(port)/v1/traces")
    let sent = try #require(first.lines { $0.hasPrefix("sent ") }?.last?.split(separator: " "))
    #expect(sent.last == "200")
    let id = String(sent[1].dropLast())
    let body = try #require(listener.lines { $0.hasPrefix("/v1/traces application/json ") }?.last)
    #expect(body.contains("\"traceId\":\"\(id)\"") && body.contains("\"stringValue\":\"read\""))
    // A collector that is not there is an error, and nothing is lost.
    listener.kill()
    first.send("send http://127.0.0.1:\(port)/v1/traces")
    #expect(first.lines { $0.contains("BTX_UPLOAD_ERROR") || $0.contains("upload") } != nil)
    first.kill()
    let second = try Child(["ferry-kit", "FerryKitSample"], [app.path])
    second.send("login wrong")
    #expect(second.lines { $0.hasPrefix("InvalidPassword (5)") } != nil)
    second.send("login s3cret")
    let again = try #require(second.lines { $0.hasPrefix("token ") }?.last)
    #expect(again == welcome.replacing(", 0 coll", with: ", 1 coll"))
    second.send("type koln")
    #expect(second.lines { $0.hasPrefix("end") } == ["found http://h/Flights('2')", "end of koln"])
    second.send("log")
    let log = try #require(second.lines { $0.contains("the command log ") })
    let own = log.filter { $0.hasSuffix("correlation=\(id)") }
    for word in ["read", "login", "type", "send"] {
      #expect(own.contains { $0.contains("INFO Kit") && $0.contains("the command \(word)") })
    }
    #expect(own.contains { $0.contains("ERROR Kit") } && own.count < log.count)
    second.kill()
    let token = try #require(welcome.split(separator: " ").dropFirst().first?.dropLast())
    #expect(try plainText(in: app, ["s3cret", String(token), "New York", "Köln", "Flights"]) == [])
  }
}

extension DayOneTests {
  /// Says its port, then a line for each body: path, content type, text.
  fileprivate static let listener = """
    import http.server
    class H(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            print(self.path, self.headers["Content-Type"], body.decode())
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()
        def log_message(self, *words):
            pass
    server = http.server.HTTPServer(("127.0.0.1", 0), H)
    print(server.server_port)
    server.serve_forever()
    """
}

/// Which of the words stand in the name or the bytes of a file.
func plainText(in folder: URL, _ words: [String]) throws -> [String] {
  var found: [String] = []
  let all = try #require(FileManager.default.enumerator(atPath: folder.path))
  for case let name as String in all {
    let bytes = (try? Data(contentsOf: folder.appending(path: name))) ?? Data()
    for word in words where name.contains(word) || bytes.range(of: Data(word.utf8)) != nil {
      found.append("\(word) in \(name)")
    }
  }
  return found
}
