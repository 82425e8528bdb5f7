import FerryOData
import FerryODataAddress
import Testing

@Suite("Addresses and metadata") struct CheckingTests {
  static let valid: [(String, [ODataResolvedAddress.Kind], String?)] = [
    ("Orders", [.entitySet], "Collection(Shop.Order)"),
    ("Orders(1)", [.entitySet, .key], "Shop.Order"),
    ("Orders/1/Lines", [.entitySet, .key, .navigation], "Collection(Shop.Line)"),
    ("Orders(Code='x')", [.entitySet, .key], "Shop.Order"),
    ("Orders(Town='x',Day=2026-01-01)", [.entitySet, .key], "Shop.Order"),
    (
      "Orders(1)/Lines(Order=1,No='a')/Price/$value",
      [.entitySet, .key, .navigation, .key, .property, .system], "Edm.Decimal"
    ),
    ("Orders(1)/self.Special/Reason", [.entitySet, .key, .type, .property], "Edm.String"),
    ("Orders/Shop.Best(n=1)/$count", [.entitySet, .function, .parameters, .system], "Edm.Int64"),
    ("Orders(1)/Shop.Close", [.entitySet, .key, .action], nil),
    ("Newest/Home/City", [.singleton, .property, .property], "Edm.String"),
    ("Clock()", [.function, .parameters], "Edm.DateTimeOffset"),
    ("Orders(1)/Tags/0", [.entitySet, .key, .property, .ordinal], "Edm.String"),
    ("Orders/$filter(Price gt 1)/$count", [.entitySet, .system, .system], "Edm.Int64"),
    ("$crossjoin(Orders,Lines)", [.system], nil),
    ("Lines(Order=1,No='a')/Anything", [.entitySet, .key, .property], nil),
    ("Orders/$count?$filter=Done", [.entitySet, .system], "Edm.Int64"),
    (
      "Orders(1)/Lines/$count?$filter=Price gt 5", [.entitySet, .key, .navigation, .system],
      "Edm.Int64"
    ),
    ("Orders/$filter(@f)/$count?@f=Done", [.entitySet, .system, .system], "Edm.Int64"),
    ("Orders/$each/Shop.Close", [.entitySet, .system, .action], nil),
    ("$entity/Shop.Order?$id=Orders(1)&$select=Name", [.system, .type], "Shop.Order"),
    ("Lines/1/a/Price", [.entitySet, .key, .key, .property], "Edm.Decimal"),
    ("Orders/1/Lines/1/a", [.entitySet, .key, .navigation, .key, .key], "Shop.Line"),
  ]

  @Test("Each segment is told with its type", arguments: valid)
  func resolves(_ uri: String, _ kinds: [ODataResolvedAddress.Kind], _ type: String?) throws {
    let metadata = try ShopMetadata.read()
    let address = try ODataAddress(parsing: uri, ODataAddressSettings(metadata: metadata))
    let resolved = try ODataResolvedAddress(address, in: metadata)
    #expect(resolved.steps.map(\.kind) == kinds)
    #expect(resolved.type?.description == type)
  }

  static let options = [
    "$filter=Price gt 1 and contains(Name,'x') or Done",
    "$filter=Lines/any(x:x/Price gt Price and x/Free eq 1)",
    "$filter=Home/City eq null and Color has Shop.Color'Red'", "$filter=Parent/Parent/ID in (1,2)",
    "$filter=year(Day) eq 2026 and Day ge 2026-01-01",
    "$filter='a' in Tags and Tags/any(t:t eq 'x')",
    "$filter=Lines/$count gt 1", "$filter=Shop.Special/Reason eq 'x'", "$filter=isof(Shop.Special)",
    "$select=ID,Home/City,Shop.Special/Reason",
    "$expand=Lines($filter=Price gt 1;$select=No),Parent($expand=Parent)",
    "$orderby=Price mul 2 desc,Home/City",
    "$compute=Price mul 2 as Twice&$filter=Twice gt 1&$select=Twice",
    "$filter=ID eq @a&@a=5", "$filter=$it/Price eq 1", "$filter=$root/Orders(1)/ID eq ID",
    "$expand=*,Lines/$count",
    "$filter=Color eq 'Red' or 'Red' eq Color or Color has '1'", "$filter=Color in ('Red',null)",
    "$filter=cast(ID,Edm.String) eq '1'", "$filter=round(Price) eq 1",
  ]

  @Test("Names and types of options are found", arguments: options)
  func accepts(_ query: String) throws {
    _ = try ODataAddress(
      parsing: "Orders?\(query)", ODataAddressSettings(metadata: ShopMetadata.read()))
  }

  static let refused: [(String, ODataError.Code, Int)] = [
    ("Orders/$count?$filter=Nope", .unknownName, 23), ("Lines/x/a", .typeMismatch, 7),
    ("Lines/1", .address, 7), ("Lines/1/$count", .address, 9), ("Orders/$each/Name", .address, 14),
    ("$entity/Shop.Nope?$id=x", .unknownName, 9), ("Orders(null)", .typeMismatch, 7),
    ("Orders(Code=null)", .typeMismatch, 7), ("Orders(1.5)", .typeMismatch, 7),
    ("Orders(99999999999)", .typeMismatch, 7), ("Orders(1e1)", .typeMismatch, 7),
    ("Orders/Shop.Best(n=1.5)", .typeMismatch, 17),
    ("Orders?$filter=Color eq Shop.Color'Blue'", .unknownName, 16),
    ("Orders?$filter=Color eq Shop.Nope'Red'", .unknownName, 16),
    ("Orders?$filter=Color eq 'Blue'", .unknownName, 16),
    ("Orders?$filter=Done and Color has 'Blue'", .unknownName, 25),
    ("Orders?$filter=Shop.Line/No eq 'x'", .typeMismatch, 16),
    ("Orders?$select=Shop.Line/No", .typeMismatch, 16),
    ("Orders?$expand=Shop.Line/Lines", .typeMismatch, 16),
    ("Oders", .unknownName, 1), ("Orders(1)/Nothing", .unknownName, 11),
    ("Orders('x')", .typeMismatch, 7),
    ("Orders(Name='x')", .unknownName, 7), ("Orders(Code=1)", .typeMismatch, 7),
    ("Orders(Town=1,Day=2026-01-01)", .typeMismatch, 7), ("Orders(Town='x')", .unknownName, 7),
    ("Orders/Shop.Best(n='x')", .typeMismatch, 17), ("Orders/Shop.Best()", .unknownName, 17),
    ("Orders/Shop.Best(m=1)", .unknownName, 17), ("Orders/Shop.Best(1)", .address, 17),
    ("Clock(a=1)", .unknownName, 6),
    ("Orders(1)(2)", .address, 10), ("Orders(Price=1,Nope=2)", .unknownName, 7),
    ("Lines(1)", .address, 6),
    ("Lines(Order='x',No='a')", .typeMismatch, 6), ("Orders/x1", .typeMismatch, 8),
    ("Orders(1)/$count", .typeMismatch, 11),
    ("Orders(1)/Home/$value", .typeMismatch, 16), ("Orders(1)/Shop.Best()", .typeMismatch, 11),
    ("Orders(1)/Shop.Nope", .unknownName, 11),
    ("Orders(1)/Shop.Line", .typeMismatch, 11), ("Orders(1)/ID/x", .unknownName, 14),
    ("$crossjoin(Orders,X)", .unknownName, 1),
    ("Orders(1)/Tags/x", .unknownName, 16), ("Orders?$filter=Nope eq 1", .unknownName, 16),
    ("Orders?$filter=price eq 1", .unknownName, 16),
    ("Orders?$filter=Done and Home/Street eq 'x'", .unknownName, 30),
    ("Orders?$filter=Price eq 'x'", .typeMismatch, 16),
    ("Orders?$filter=Price", .typeMismatch, 16),
    ("Orders?$filter=contains(Price,'x')", .typeMismatch, 25),
    ("Orders?$filter=Lines/Price gt 1", .typeMismatch, 22),
    ("Orders?$filter=Home/any(x:x)", .typeMismatch, 16),
    ("Orders?$filter=Name add 1 eq 2", .typeMismatch, 16),
    ("Orders?$filter=Price has Shop.Color'Red'", .typeMismatch, 16),
    ("Orders?$filter=Price in (1,'a')", .typeMismatch, 16),
    ("Orders?$filter=1 in Price", .typeMismatch, 21),
    ("Orders?$filter=isof(Shop.Nope)", .unknownName, 1),
    ("Orders?$filter=Lines/any(x:x/Price eq 'a')", .typeMismatch, 28),
    ("Orders?$select=Nope", .unknownName, 16), ("Orders?$select=ID,Home/Nope", .unknownName, 24),
    ("Orders?$expand=Nope", .unknownName, 16),
    ("Orders?$expand=Home", .typeMismatch, 16), ("Orders?$expand=Parent/$count", .typeMismatch, 16),
    ("Orders?$expand=Lines($filter=Price eq 'x')", .typeMismatch, 30),
    ("Orders?$orderby=Home", .typeMismatch, 17),
    ("Orders?$orderby=Tags", .typeMismatch, 17), ("Orders?$compute=Nope as X", .unknownName, 17),
    ("Orders?$filter=$root/X/ID eq 1", .unknownName, 22),
  ]

  @Test("What the metadata contradicts is refused with its column", arguments: refused)
  func refuses(_ uri: String, _ code: ODataError.Code, _ column: Int) throws {
    let metadata = try ShopMetadata.read()
    let error = fault { () throws(ODataError) in
      _ = try ODataAddress(parsing: uri, ODataAddressSettings(metadata: metadata))
    }
    #expect(error?.code == code && error?.place?.column == column, "\(String(describing: error))")
    #expect(error?.hint.isEmpty == false)
  }

  @Test("An address that was built is checked the same")
  func built() throws {
    let metadata = try ShopMetadata.read()
    let good = ODataAddress().entitySet("Orders").key(1).navigation("Lines").filter(
      Property("Price") > 1)
    #expect(try ODataResolvedAddress(good, in: metadata).set?.name == "Lines")
    let bad = ODataAddress().entitySet("Orders").filter(Property("Price") == "x")
    #expect(
      fault { () throws(ODataError) in _ = try ODataResolvedAddress(bad, in: metadata) }?.code
        == .typeMismatch)
  }
}
