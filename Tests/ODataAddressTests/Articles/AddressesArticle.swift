import FerryOData
import FerryODataAddress
import Testing

@Suite("The article on addresses") struct AddressesArticle {
  @Test("An address is built once and written for both versions")
  func builds() throws {
    let lines = ODataAddress("https://host/v4").entitySet("Orders").key(1).navigation("Lines")
      .filter(Property("Price") > 10 && Property("Name").contains("x"))
      .expand("Product") { $0.select("Name", "Weight") }
      .orderBy("Price", descending: true).top(10)
    let modern = try lines.uri(.v4)
    let classic = try lines.uri(.v2)

    let key = ODataAddress().entitySet("Lines").key(["Order": 1, "No": "O'Neil/2"])
    let cheap = Property("Lines").any { $0["Price"] < 5 && $0["Tags"].all("y") { $0 != "new" } }
    let search = ODataSearch.and([.word("blue"), .not(.phrase("light green"))])
    let old = ODataAddress().entitySet("Flights").sap("client", "100").sap("language", "EN")

    #expect(
      modern.hasSuffix(
        "contains(Name,'x')&$orderby=Price%20desc&$expand=Product($select=Name,Weight)&$top=10"))
    #expect(
      classic.contains("substringof('x',Name)") && classic.contains("$select=*,Product/Name,"))
    #expect(try key.uri(.v4) == "Lines(Order=1,No='O''Neil%2F2')")
    #expect(try cheap.text(.v4) == "Lines/any(x:x/Price lt 5 and x/Tags/all(y:y ne 'new'))")
    #expect(
      try ODataAddress().entitySet("A").search(search).uri(.v4)
        == "A?$search=blue%20AND%20NOT%20%22light%20green%22")
    #expect(try old.uri(.v2) == "Flights?sap-client=100&sap-language=EN")
  }

  @Test("An address is parsed, refused by its column, and evaluated")
  func parses() throws {
    let metadata = try ShopMetadata.read()
    let now = try #require(EdmDateTimeOffset(EdmDateTime(milliseconds: 0)!))
    let entries = [4, 11, 12].map { ODataEntry(["Price": .int32($0)]) }
    var used: [ODataExpression] = []
    func use(_ value: ODataExpression) { used.append(value) }
    var reported = ""
    func report(_ column: Int?, _ part: String?, _ hint: String) {
      reported = "\(column ?? 0) \(part ?? "")"
    }
    var printed = ""
    func print(_ kinds: [String], _ type: Any) { printed = "\(kinds) \(type)" }

    let address = try ODataAddress(
      parsing: "https://host/v4/Orders(1)/Lines?$filter=Price gt 10&$top=5",
      ODataAddressSettings(version: .v4, service: "https://host/v4"))
    if case .compare(.greater, _, let limit)? = address.options.filter { use(limit) }

    do {
      _ = try ODataAddress(parsing: "Orders?$filter=Name eqq 'x'")
    } catch {
      report(error.place?.column, error.place?.path, error.hint)
    }

    let settings = ODataAddressSettings(metadata: metadata)
    let checked = try ODataAddress(parsing: "https://host/v4/Orders(1)/Lines", settings)
    let resolved = try ODataResolvedAddress(checked, in: metadata)
    print(resolved.steps.map(\.kind.rawValue), resolved.type ?? "nothing")

    let evaluator = ODataEvaluator(metadata: metadata, now: now)
    let page = try evaluator.apply(address.options, to: entries)
    let isCheap = try evaluator.holds(Property("Price") < 5, for: entries[0])

    #expect(used == [10] && reported == "21 $filter" && page.count == 2 && isCheap)
    #expect(printed == "[\"entity-set\", \"key\", \"navigation\"] Collection(Shop.Line)")
  }
}
