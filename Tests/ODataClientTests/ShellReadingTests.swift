import Testing

/// `ferry odata` with a service that the test scripts: what a stranger typed and how it was answered.
@Suite("ferry odata says what it did not find", .timeLimit(.minutes(60)))
struct ShellReadingTests {
  private func service() -> ScriptedService {
    SmallService.serve { request, _ in
      let accept = request.headers["Accept"] ?? ""
      let parts = request.target.split(separator: "?")
      let query = parts.count > 1 ? String(parts[1]) : ""
      switch parts.first.map(String.init) ?? "" {
      case "/Items/$count":
        return accept.contains("text/plain")
          ? .status(200, query.isEmpty ? "\u{FEFF}3" : query, [("Content-Type", "text/plain")])
          : .status(406)
      case "/Items(1)": return .json(SmallService.item(1, "one", etag: "1"))
      case "/Items(2)":
        return .json(#"{"@odata.context":"$metadata#Items/$entity","ID":2,"Name":null}"#)
      case "/Items(1)/Name/$value":
        return .status(200, "one", [("Content-Type", "text/plain;charset=utf-8")])
      case "/Items(2)/Name/$value": return .status(204)
      case "/Items": return request.method == "POST" ? .status(403, "no") : .json(#"{"value":[]}"#)
      case "/Parts": return .status(401, "", [("WWW-Authenticate", #"Basic realm="r""#)])
      default: return .status(404)
      }
    }
  }

  @Test("A property that the metadata does not have is refused, and nothing is sent")
  func unknownProperty() throws {
    let service = service()
    for words in [
      ["create", service.root + "Items", #"{"ID":8,"Nam":"y"}"#],
      ["update", service.root + "Items(1)", #"{"Nam":"y"}"#],
    ] {
      let refused = try ShellTests.ferry(words)
      #expect(refused.code == 1 && refused.output.isEmpty)
      #expect(refused.errors.contains("Item has no property Nam"), "\(refused.errors)")
      #expect(refused.errors.contains("It has: ID, Name."), "\(refused.errors)")
    }
    #expect(Set(service.lines) == ["GET /", "GET /$metadata"])
  }

  @Test("A count is read, with a filter that has spaces, and without the service's root")
  func count() throws {
    let service = service()
    let all = try ShellTests.ferry(["get", service.root + "Items/$count"])
    #expect(all.code == 0 && all.output == "3\n", "\(all)")
    let some = try ShellTests.ferry(["get", service.root + "Items/$count?$filter=ID gt 2"])
    #expect(some.code == 0 && some.output == "$filter=ID%20gt%202\n", "\(some)")
  }

  @Test("A property is shown by its name, null too, and one that there is not is an error")
  func property() throws {
    let service = service()
    let name = try ShellTests.ferry(["get", service.root + "Items(1)/Name"])
    #expect(name.code == 0 && name.output.contains(#""Name":"one""#), "\(name)")
    #expect(!name.output.contains("ID"))
    let null = try ShellTests.ferry(["get", service.root + "Items(2)/Name"])
    #expect(null.code == 0 && null.output.contains(#""Name":null"#), "\(null)")
    let raw = try ShellTests.ferry(["get", service.root + "Items(1)/Name/$value"])
    #expect(raw.code == 0 && raw.output == "one\n", "\(raw)")
    let empty = try ShellTests.ferry(["get", service.root + "Items(2)/Name/$value"])
    #expect(empty.code == 0 && empty.output.isEmpty && empty.errors.contains("null or empty"))
    let wrong = try ShellTests.ferry(["get", service.root + "Items(1)/Nam"])
    #expect(wrong.code == 1 && wrong.output.isEmpty)
    #expect(wrong.errors.contains("Item has no property Nam. It has: ID, Name."), "\(wrong)")
  }

  @Test("The root needs no slash at its end, and a wrong guess of it is named")
  func root() throws {
    let service = service()
    let sets = try ShellTests.ferry(["get", String(service.root.dropLast())])
    #expect(sets.code == 0 && sets.output.contains(#""name":"Items""#), "\(sets)")
    let wrong = try ShellTests.ferry(["get", service.root + "else/Items"])
    #expect(wrong.code == 1 && wrong.output.isEmpty)
    #expect(wrong.errors.contains("looked for at \(service.root)else/"), "\(wrong.errors)")
    #expect(wrong.errors.contains("--service"))
  }

  @Test("A cure names what can be typed, and no name of the library")
  func cures() throws {
    let service = service()
    let forbidden = try ShellTests.ferry(["create", service.root + "Items", #"{"ID":8}"#])
    #expect(forbidden.code == 1 && forbidden.errors.contains("--csrf"), "\(forbidden.errors)")
    #expect(!forbidden.errors.contains("usesCSRF"))
    let stranger = try ShellTests.ferry(["get", service.root + "Parts"])
    #expect(stranger.code == 1 && stranger.errors.contains("--user <name>"), "\(stranger.errors)")
    let unfit = try ShellTests.ferry(["create", service.root + "Items", #"{"ID":"x"}"#])
    #expect(unfit.code == 1 && !unfit.errors.contains("isStrict"), "\(unfit.errors)")
  }
}
