import FerryHTTP
import FerryJSON
import FerryOData
import FerryODataService
import Testing

@Suite("A service of OData: reading") struct ReadingTests {
  @Test("The service document and the metadata are what a client expects") func documents()
    async throws
  {
    let desk = try Desk()
    let root = await desk.get("")
    #expect(root.status == 200 && root.headers["OData-Version"] == "4.0")
    #expect(root.all("name") == ["Customers", "Orders"])
    #expect(root.json?["@odata.context"]?.string == "http://h/s/$metadata")
    let metadata = await desk.get("$metadata")
    #expect(metadata.headers["Content-Type"]?.hasPrefix("application/xml") == true)
    #expect(try EdmMetadata.read(metadata.bytes).schemas == withoutDefault(ListSource.metadata))
    #expect((await desk.get("$metadata", ["Accept": "application/json"])).status == 406)
    let tag = try #require(metadata.headers["ETag"])
    #expect((await desk.get("$metadata", ["If-None-Match": tag])).status == 304)
  }

  private func withoutDefault(_ metadata: EdmMetadata) -> [EdmSchema] { metadata.schemas }

  @Test("An entity by key has its ETag, and 304 tells that it is the same") func single()
    async throws
  {
    let desk = try Desk()
    let answer = await desk.get("Customers('C1')")
    #expect(answer.status == 200 && answer.headers["ETag"] == "W/\"1\"")
    #expect(answer.json?["Name"]?.string == "Name 1")
    #expect(answer.json?["@odata.context"]?.string == "http://h/s/$metadata#Customers/$entity")
    #expect(answer.json?["@odata.type"] == nil)
    #expect((await desk.get("Customers('C1')", ["If-None-Match": "W/\"1\""])).status == 304)
    #expect((await desk.get("Customers('C1')", ["If-None-Match": "W/\"2\""])).status == 200)
    #expect((await desk.get("Customers(ID='C1')")).status == 200)
    #expect((await desk.get("Customers/C1")).status == 200)
    let missing = await desk.get("Customers('no')")
    #expect(missing.status == 404 && missing.code == "notFound")
    let head = await desk.send(.head, "Customers('C1')")
    #expect(head.status == 200 && head.bytes.isEmpty && head.headers["ETag"] == "W/\"1\"")
  }

  @Test(
    "Conditions select rows",
    arguments: [
      ("Total gt 100", ["11"]), ("Paid eq true and Total lt 50", ["0", "3"]),
      ("Number in (2,5)", ["2", "5"]), ("Customer/City eq null and Number lt 4", ["1", "3"]),
      ("Day eq 2024-01-03", ["2"]), ("not (Number gt 0)", ["0"]),
      ("contains(Customer/Name,'e 3') and Number ge 7", ["7", "11"]),
      ("Number eq @n", ["7"]),
    ])
  func filters(_ filter: String, _ expected: [String]) async throws {
    let desk = try Desk()
    let encoded = PercentEncoding.encode(filter, keeping: "@(),'")
    let answer = await desk.get("Orders?$filter=\(encoded)&@n=7")
    #expect(answer.status == 200, "\(answer.text)")
    #expect(answer.all("Number") == expected, "\(answer.text)")
  }

  @Test("Lambda looks at the related entities") func lambda() async throws {
    let desk = try Desk()
    let some = await desk.get("Customers?$filter=Orders/any(o:o/Total%20eq%20110)")
    #expect(some.all("ID") == ["C3"], "\(some.text)")
    let all = await desk.get("Customers?$filter=Orders/all(o:o/Number%20lt%2010)")
    #expect(all.all("ID") == ["C0", "C1"], "\(all.text)")
    let count = await desk.get("Customers?$filter=Orders/$count%20gt%202")
    #expect(count.all("ID") == ["C0", "C1", "C2", "C3"], "\(count.text)")
  }

  @Test("Order, select, top, skip and count go together") func options() async throws {
    let desk = try Desk()
    let answer = await desk.get(
      "Orders?$orderby=Paid%20desc,Total%20desc&$top=3&$skip=1&$count=true&$select=Number,Paid")
    #expect(answer.all("Number") == ["6", "3", "0"], "\(answer.text)")
    #expect(answer.json?["@odata.count"]?.integer == 12)
    #expect(answer.value.first?.object?.map(\.key) == ["@odata.etag", "Number", "Paid"])
    #expect(
      answer.json?["@odata.context"]?.string == "http://h/s/$metadata#Orders(Number,Paid)")
    #expect((await desk.get("Orders/$count")).text == "12")
    #expect((await desk.get("Orders/$count?$filter=Paid%20eq%20true")).text == "4")
    #expect((await desk.get("Orders?$top=0")).value.isEmpty)
    let huge = await desk.get("Orders?$top=1000000000&$filter=Number%20lt%202")
    #expect(huge.all("Number") == ["0", "1"])
  }

  @Test("Expanded entities come inside, with options of their own") func expand() async throws {
    let desk = try Desk()
    let answer = await desk.get(
      "Customers?$top=1&$expand=Orders($filter=Number%20gt%200;$orderby=Number%20desc;"
        + "$select=Number;$count=true;$top=1)")
    let orders = answer.value.first?["Orders"]?.array ?? []
    #expect(orders.count == 1 && orders[0]["Number"]?.integer == 8, "\(answer.text)")
    #expect(answer.value.first?["Orders@odata.count"]?.integer == 2)
    let nested = await desk.get("Orders(5)?$expand=Customer($expand=Orders($select=Number))")
    #expect(nested.json?["Customer"]?["ID"]?.string == "C1", "\(nested.text)")
    #expect(nested.json?["Customer"]?["Orders"]?.array?.count == 3)
    let references = await desk.get("Customers('C1')?$expand=Orders/$ref")
    #expect(
      references.json?["Orders"]?.array?.first?["@odata.id"]?.string == "http://h/s/Orders(1)",
      "\(references.text)")
    #expect((await desk.get("Orders?$expand=*")).value.first?["Customer"]?["ID"]?.string == "C0")
  }

  @Test("Paths lead to related entities, properties and their raw values") func paths()
    async throws
  {
    let desk = try Desk()
    #expect((await desk.get("Customers('C1')/Orders")).all("Number") == ["1", "5", "9"])
    #expect((await desk.get("Customers('C1')/Orders/$count")).text == "3")
    #expect((await desk.get("Customers('C1')/Orders(5)")).json?["Total"]?.integer == 50)
    #expect((await desk.get("Orders(5)/Customer")).json?["ID"]?.string == "C1")
    #expect((await desk.get("Orders(5)/Customer/Name")).json?["value"]?.string == "Name 1")
    #expect((await desk.get("Orders(5)/Total/$value")).text == "50")
    #expect((await desk.get("Customers('C1')/City")).status == 204)
    #expect((await desk.get("Customers('C1')/Orders(6)")).status == 404)
  }

  @Test(
    "Pages join to the whole, in any size and order, while rows change",
    arguments: ["Orders", "Orders?$orderby=Paid,Total desc", "Orders?$filter=Total gt 20"])
  func pages(_ address: String) async throws {
    let address = address.replacing(" ", with: "%20")
    let whole = (await Desk.whole(address)).sorted()
    for size in [1, 2, 5, 12, 100] {
      let desk = try Desk()
      var numbers: [String] = []
      var next: String? = address
      var pages = 0
      while let current = next {
        let answer = await desk.get(current, ["Prefer": "odata.maxpagesize=\(size)"])
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.value.count <= size)
        numbers += answer.all("Number")
        next = answer.json?["@odata.nextLink"]?.string
        pages += 1
        // The row that a page ended with goes away: the next page goes on behind its place.
        if pages == 1, size > 1, let last = answer.all("Number").last {
          desk.source.state.withLock { state in
            state.sets["Orders"]?.removeAll { $0.entry["Number"]?.text == last }
          }
        }
      }
      #expect(numbers.sorted() == whole, "size \(size): \(numbers)")
    }
  }

  @Test("The number of wanted rows holds over pages, and the token only for its query")
  func tokens()
    async throws
  {
    let desk = try Desk()
    let first = await desk.get("Orders?$top=5&$skip=2", ["Prefer": "odata.maxpagesize=2"])
    #expect(first.all("Number") == ["2", "3"])
    #expect(first.headers["Preference-Applied"] == "odata.maxpagesize")
    let next = try #require(first.json?["@odata.nextLink"]?.string)
    let second = await desk.get(next, ["Prefer": "odata.maxpagesize=2"])
    #expect(second.all("Number") == ["4", "5"])
    let third = await desk.get(try #require(second.json?["@odata.nextLink"]?.string))
    #expect(third.all("Number") == ["6"])
    #expect(third.json?["@odata.nextLink"] == nil)
    let token = try #require(next.split(separator: "skiptoken=").last)
    #expect((await desk.get("Orders?$skiptoken=\(token)")).status == 200)
    #expect((await desk.get("Customers?$skiptoken=\(token)")).status == 400)
    #expect((await desk.get("Orders?$filter=Paid%20eq%20true&$skiptoken=\(token)")).status == 400)
    #expect((await desk.get("Orders?$skiptoken=abc")).code == "badToken")
  }

  @Test("A feed of many rows is read in pages of the source, and stays whole") func stream()
    async throws
  {
    var limits = ODataServiceLimits()
    limits.pageRows = 100
    let desk = try Desk(customers: 3, orders: 1_050, limits: limits)
    let answer = await desk.get("Orders?$select=Number")
    #expect(answer.value.count == 1_050)
    #expect(Set(answer.all("Number")).count == 1_050)
    #expect(desk.source.state.withLock { $0.pages } == 11)
    #expect(answer.headers["Content-Type"]?.contains("odata.metadata=minimal") == true)
  }

  @Test("A condition over very many rows ends with a next link, what needs all of them with 501")
  func bounds() async throws {
    var limits = ODataServiceLimits()
    limits.pageRows = 10
    limits.scanRows = 50
    limits.sortedRows = 30
    let desk = try Desk(customers: 3, orders: 200, limits: limits)
    var found: [String] = []
    var next: String? = "Orders?$filter=Number%20eq%20170"
    var pages = 0
    while let current = next {
      let answer = await desk.get(current)
      #expect(answer.status == 200, "\(answer.text)")
      found += answer.all("Number")
      next = answer.json?["@odata.nextLink"]?.string
      pages += 1
    }
    #expect(found == ["170"] && pages >= 3)
    #expect((await desk.get("Orders?$orderby=Total")).status == 501)
    #expect((await desk.get("Orders?$filter=Number%20gt%205&$count=true")).status == 501)
    #expect((await desk.get("Orders/$count")).text == "200")
  }

  @Test(
    "JSON says as much of itself as was asked for", arguments: ["none", "minimal", "full"])
  func control(_ control: String) async throws {
    let desk = try Desk()
    let answer = await desk.get(
      "Customers('C1')?$expand=Orders", ["Accept": "application/json;odata.metadata=\(control)"])
    let members = Set(answer.json?.object?.map(\.key) ?? [])
    #expect(members.contains("@odata.context") == (control != "none"))
    #expect(members.contains("@odata.etag") == (control != "none"))
    #expect(members.contains("@odata.type") == (control == "full"))
    #expect(members.contains("@odata.id") == (control == "full"))
    #expect(answer.json?["Orders"]?.array?.count == 3)
  }

  @Test(
    "What is wrong is told with its place and its cure",
    arguments: [
      ("Nothing", 404), ("Customers?$filter=Nam%20eq%20'a'", 400),
      ("Customers?$filter=Name%20eq%20", 400), ("Customers?$filter=Name%20gt%205", 400),
      ("Orders('a')", 400), ("Orders(1,2)", 400), ("Customers?$top=-1", 400),
      ("Customers?$top=a", 400), ("Customers?$select=Nothing", 400),
      ("Customers?$expand=Name", 400),
      ("Customers?$top=1&$top=2", 400), ("Customers?$apply=x", 501),
      ("$batch", 405), ("Customers?$format=atom", 406), ("Customers('C1')/Orders?$skip=x", 400),
      ("Customers?$apply=aggregate(ID%20with%20max%20as%20M)", 501), ("Customers/$metadata", 400),
    ])
  func faults(_ address: String, _ status: Int) async throws {
    let desk = try Desk()
    let answer = await desk.get(address)
    #expect(answer.status == status, "\(address): \(answer.text)")
    #expect(answer.headers["OData-Version"] == "4.0")
    let message = answer.json?["error"]?["message"]?.string ?? ""
    #expect(!message.isEmpty && answer.code != nil, "\(answer.text)")
  }

  @Test("A column counts from behind the root of the service") func columns() async throws {
    let desk = try Desk()
    let message = (await desk.get("Customers?$filter=Nam%20eq%20'a'")).json?["error"]?["message"]?
      .string
    #expect(message?.contains("(column 19 behind the root)") == true, "\(message ?? "")")
  }

  @Test("Deep conditions and expansions are refused in bounded time") func depth() async throws {
    let desk = try Desk()
    let deep = String(repeating: "(", count: 200) + "true" + String(repeating: ")", count: 200)
    #expect((await desk.get("Customers?$filter=\(deep)")).status == 400)
    var expand = "Orders"
    for level in 0..<20 {
      expand = level % 2 == 0 ? "Customer($expand=\(expand))" : "Orders($expand=\(expand))"
    }
    let answer = await desk.get("Orders?$top=1&$expand=\(expand)")
    #expect([400, 501].contains(answer.status), "\(answer.text)")
    let pattern = "(a%2B)%2B$"
    let long = await desk.get(
      "Customers?$filter=matchesPattern(Name,'\(pattern)')")
    #expect([200, 400, 501].contains(long.status), "\(long.text)")
  }

  @Test("A version that is not spoken is refused") func versions() async throws {
    let desk = try Desk()
    #expect((await desk.get("Customers", ["OData-MaxVersion": "3.0"])).status == 400)
    #expect((await desk.get("Customers", ["OData-Version": "5.0"])).status == 400)
    #expect((await desk.get("Customers", ["OData-MaxVersion": "4.01"])).status == 200)
    #expect((await desk.send(HTTPMethod(rawValue: "TRACE"), "Customers")).status == 405)
  }
}

extension Desk {
  /// The numbers of all orders that an address gives, on a desk of its own.
  static func whole(_ address: String) async -> [String] {
    guard let desk = try? Desk() else { return [] }
    return await desk.get(address).all("Number")
  }
}
