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
    "A vault holds the token, a feed is found as one types, and all is there after a kill (adr/DVT-19, SET-3)"
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
    first.kill()
    let second = try Child(["ferry-kit", "FerryKitSample"], [app.path])
    second.send("login wrong")
    #expect(second.lines { $0.hasPrefix("InvalidPassword (5)") } != nil)
    second.send("login s3cret")
    let again = try #require(second.lines { $0.hasPrefix("token ") }?.last)
    #expect(again == welcome.replacing(", 0 coll", with: ", 1 coll"))
    second.send("type koln")
    #expect(second.lines { $0.hasPrefix("end") } == ["found http://h/Flights('2')", "end of koln"])
    second.kill()
    let token = try #require(welcome.split(separator: " ").dropFirst().first?.dropLast())
    #expect(try plainText(in: app, ["s3cret", String(token), "New York", "Köln", "Flights"]) == [])
  }
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
