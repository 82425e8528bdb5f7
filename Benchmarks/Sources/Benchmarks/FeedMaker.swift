/// Makes the documents of measure 11: a feed of 15 properties an entry, in Atom and in verbose
/// JSON, and metadata; with the sum that reading all values must give.
struct FeedMaker {
  private(set) var atom: [UInt8] = []
  private(set) var json: [UInt8] = []
  /// What the values of all entries add up to.
  private(set) var sum = FeedSum()
  let entries: Int

  init(entries: Int) {
    self.entries = entries
    atom.reserveCapacity(entries * 880 + 1_000)
    json.reserveCapacity(entries * 500 + 1_000)
    atom +=
      """
      <?xml version="1.0" encoding="utf-8"?>
      <feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://host/service/" \
      xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" \
      xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">\
      <id>http://host/service/Products</id><title type="text">Products</title>\
      <updated>2026-11-21T08:00:00Z</updated>
      """.utf8
    json += #"{"d":{"results":["#.utf8
    var state: UInt64 = 88_172_645_463_325_252
    for index in 0..<entries {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      add(FeedValues(index, state))
      if index + 1 < entries { json.append(UInt8(ascii: ",")) }
    }
    atom += "</feed>".utf8
    json += "]}}".utf8
  }

  private mutating func add(_ values: FeedValues) {
    sum.add(values)
    let key = "Products(\(values.id))"
    atom +=
      """
      <entry><id>http://host/service/\(key)</id><title type="text"/>\
      <updated>2026-11-21T08:00:00Z</updated><author><name/></author>\
      <link rel="edit" title="Product" href="\(key)"/><category term="Bench.Product" \
      scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/>\
      <content type="application/xml"><m:properties>
      """.utf8
    json +=
      """
      {"__metadata":{"uri":"http://host/service/\(key)","type":"Bench.Product"}
      """.utf8
    for (name, type, text, isQuoted) in values.columns {
      atom += "<d:\(name)".utf8
      if !type.isEmpty { atom += " m:type=\"\(type)\"".utf8 }
      atom += ">\(text.atom)</d:\(name)>".utf8
      json += ",\"\(name)\":".utf8
      json += (isQuoted ? "\"\(text.json)\"" : text.json).utf8
    }
    atom += "</m:properties></content></entry>".utf8
    json.append(UInt8(ascii: "}"))
  }

  /// V2 metadata of about 10 KB for each entity type, with SAP's attributes.
  static func metadata(types: Int) -> [UInt8] {
    var text: [UInt8] = []
    text +=
      """
      <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx" \
      xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" \
      xmlns:sap="http://www.sap.com/Protocols/SAPData">\
      <edmx:DataServices m:DataServiceVersion="2.0">\
      <Schema Namespace="BENCH" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
      """.utf8
    let kinds = ["Edm.String", "Edm.Int32", "Edm.Decimal", "Edm.DateTime", "Edm.Boolean"]
    for type in 0..<types {
      text += "<EntityType Name=\"Type\(type)\" sap:content-version=\"1\">".utf8
      text += "<Key><PropertyRef Name=\"Property0\"/></Key>".utf8
      for property in 0..<60 {
        let kind = kinds[property % kinds.count]
        let facets =
          switch kind {
          case "Edm.String": " MaxLength=\"40\""
          case "Edm.Decimal": " Precision=\"15\" Scale=\"2\""
          default: ""
          }
        text +=
          """
          <Property Name="Property\(property)" Type="\(kind)" Nullable="false"\(facets) \
          sap:label="Label of \(property)" sap:sortable="false" sap:filterable="false" \
          sap:creatable="false"/>

          """.utf8
      }
      text += "</EntityType>\n".utf8
    }
    text += "<EntityContainer Name=\"Container\" m:IsDefaultEntityContainer=\"true\">".utf8
    for type in 0..<types {
      text += "<EntitySet Name=\"Set\(type)\" EntityType=\"BENCH.Type\(type)\"/>".utf8
    }
    text += "</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>".utf8
    return text
  }
}

/// The values of one entry, as the maker knows them.
struct FeedValues {
  let id: Int64
  let name: String
  let city: String
  let note: String
  let code: String
  let group: String
  /// Of a price with two digits after the point.
  let cents: Int64
  let discount: Int64
  /// Of a weight with three digits after the point.
  let thousandths: Int64
  let isActive: Bool
  let stock: Int64
  let rating: Int64
  /// Of a time of the year 2026.
  let second: Int64
  let changed: Int64
  let high: UInt64
  let low: UInt64

  init(_ index: Int, _ state: UInt64) {
    func pick(_ shift: UInt64, _ count: UInt64) -> Int64 { Int64((state >> shift) % count) }
    id = Int64(index) + 1
    name = "Product \(pick(3, 100_000))"
    city = ["Erfurt", "Weimar", "Jena", "Gera"][Int(pick(5, 4))]
    note = "a note of some letters, \(pick(7, 1_000))"
    code = "C-\(pick(11, 100))"
    group = "G\(pick(13, 10))"
    cents = pick(17, 1_000_000) * 100 + 99
    discount = pick(19, 100) * 100 + 25
    thousandths = pick(23, 100_000)
    isActive = pick(29, 2) == 1
    stock = pick(1, 10_000_000_000)
    rating = pick(31, 10)
    second = pick(37, 31_000_000)
    changed = pick(27, 31_000_000)
    high = state
    low = state &* 0x9E37_79B9_7F4A_7C15
  }

  /// Name, type where Atom marks one, text in both formats, whether JSON quotes it.
  var columns: [(String, String, (atom: String, json: String), Bool)] {
    func same(_ text: String) -> (atom: String, json: String) { (text, text) }
    let start: Int64 = 1_767_225_600
    let weight = "\(thousandths / 1_000).\(Self.padded(thousandths % 1_000, 3))"
    let created = Self.text(second)
    return [
      ("ID", "Edm.Int32", same("\(id)"), false), ("Name", "", same(name), true),
      ("City", "", same(city), true), ("Note", "", same(note), true),
      ("Code", "", same(code), true), ("Group", "", same(group), true),
      ("Price", "Edm.Decimal", same(Self.money(cents)), true),
      ("Less", "Edm.Decimal", same(Self.money(discount)), true),
      ("Mass", "Edm.Double", same(weight), true),
      ("On", "Edm.Boolean", same("\(isActive)"), false),
      ("Stock", "Edm.Int64", same("\(stock)"), true),
      ("Stars", "Edm.Int16", same("\(rating)"), false),
      ("Made", "Edm.DateTime", (created, "/Date(\((start + second) * 1_000))/"), true),
      ("Seen", "Edm.DateTime", (Self.text(changed), "/Date(\((start + changed) * 1_000))/"), true),
      ("Key", "Edm.Guid", same(guid), true),
    ]
  }

  private var guid: String {
    func hex(_ value: UInt64, _ count: Int) -> String {
      let text = String(value, radix: 16)
      return String(repeating: "0", count: count - text.utf8.count) + text
    }
    return
      "\(hex(high >> 32, 8))-\(hex(high >> 16 & 0xFFFF, 4))-\(hex(high & 0xFFFF, 4))-"
      + "\(hex(low >> 48, 4))-\(hex(low & 0xFFFF_FFFF_FFFF, 12))"
  }

  private static func padded(_ value: Int64, _ count: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: count - text.utf8.count) + text
  }

  private static func money(_ cents: Int64) -> String { "\(cents / 100).\(padded(cents % 100, 2))" }

  /// A second of the year 2026 as Atom writes it.
  private static func text(_ second: Int64) -> String {
    let lengths: [Int64] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    var day = second / 86_400
    var month: Int64 = 1
    while day >= lengths[Int(month) - 1] {
      day -= lengths[Int(month) - 1]
      month += 1
    }
    let rest = second % 86_400
    return "2026-\(padded(month, 2))-\(padded(day + 1, 2))T\(padded(rest / 3_600, 2)):"
      + "\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))"
  }
}
