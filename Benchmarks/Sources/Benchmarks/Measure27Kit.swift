import FerryOData
import FerryODataCache
import FerryPersistence
import Foundation

extension Measure {
  /// The cache and the store of the device kit.
  static let kit = Measure(number: 27, name: "device kit") { setting in
    let count = setting.n(100_000, quick: 1_000)
    let (cache, valueBytes) = try KitEntries.cache(count)
    var figures = [
      Figure(
        27, "cached entries against their values", n: count, unit: "bytes an entry",
        ours: Double(cache.memoryBytes) / Double(count),
        limit: Double(valueBytes) / Double(count), of: "the bytes of ids and values",
        aim: .ratioAtMost(1.5))
    ]
    let keys = try KitEntries.typed(cache, words: setting.n(300, quick: 3))
    figures.append(
      Figure(
        27, "search, a key typed, p99", n: count, unit: "ms", ours: percentile99(keys),
        aim: .atMost(16)))
    figures.append(try KitEntries.storing(setting))
    figures.append(try KitStreams.sealing(setting))
    figures += KitRecords.logging(setting)
    let server = try await setting.servers.server(items: setting.n(10_000, quick: 500), setting)
    figures.append(try await KitRecords.tracing(setting, address: server.address + "/health"))
    return figures
  }
}

/// Customers of no business.
private enum KitEntries {
  static let service = Array(
    """
    <service xmlns="http://www.w3.org/2007/app" xmlns:atom="http://www.w3.org/2005/Atom"><workspace>
    <atom:title>Data</atom:title><collection href="Customers"><atom:title>Customers</atom:title>
    </collection></workspace></service>
    """.utf8)

  /// Two of the properties are searched.
  static let metadata = Array(
    """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
    <edmx:DataServices><Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"
    xmlns:sap="http://www.sap.com/Protocols/SAPData"><EntityType Name="Customer">
    <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Name" Type="Edm.String" sap:searchable="true"/>
    <Property Name="City" Type="Edm.String" sap:searchable="true"/>
    <Property Name="Street" Type="Edm.String"/><Property Name="Mail" Type="Edm.String"/>
    <Property Name="Note" Type="Edm.String"/><Property Name="Turnover" Type="Edm.Decimal"/>
    </EntityType><EntityContainer Name="C"><EntitySet Name="Customers" EntityType="S.Customer"/>
    </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """.utf8)

  private static let cities = ["Berlin", "São Paulo", "New York", "Köln", "Kraków", "Lyon", "Oslo"]

  static func entry(_ number: Int) -> ODataEntry {
    let note = "Note \(number) of a customer, with some words that nobody will look for here. "
    var entry = ODataEntry([
      "ID": .int32(Int32(number)),
      "Name": .string("\(name(number)) \(name(number / 7 + 3)) and Sons Limited"),
      "City": .string(cities[number % cities.count]),
      "Street": .string("\(name(number / 3)) Street \(number % 200)"),
      "Mail": .string("office.\(number)@customer-\(number % 1_000).example.com"),
      "Note": .string(note + note),
      "Turnover": .decimal(EdmDecimal(Int64(number) * 7_919)),
    ])
    entry.id = "https://services.example.com/sales/Customers(\(number))"
    entry.etag = "W/\"\(number)\""
    return entry
  }

  /// Syllables that the number draws.
  static func name(_ number: Int) -> String {
    let parts = ["ba", "ro", "lin", "ter", "ka", "mo", "ne", "su", "vel", "dor", "fi", "gan"]
    var rest = number &* 2_654_435_761 & 0xffff_ffff
    var name = ""
    for _ in 0..<3 {
      name += parts[rest % parts.count]
      rest /= parts.count
    }
    return name.prefix(1).uppercased() + name.dropFirst()
  }

  static func cache(_ count: Int) throws -> (ODataCache, valueBytes: Int) {
    let cache = ODataCache()
    try cache.setServiceDocument(service, metadata: metadata)
    var bytes = 0
    for number in 0..<count {
      let entry = entry(number)
      bytes += (entry.id?.utf8.count ?? 0) + (entry.etag?.utf8.count ?? 0)
      for property in entry.properties {
        bytes += property.value == .int32(Int32(number)) ? 4 : property.value.text.utf8.count
      }
      try cache.setEntry(entry, collection: "Customers")
    }
    return (cache, bytes)
  }

  /// Milliseconds of each key, in names that are typed letter by letter.
  static func typed(_ cache: ODataCache, words: Int) throws -> [Double] {
    var times: [Double] = []
    for word in 0..<words {
      let name = name(word * 131)
      for end in name.indices {
        let text = String(name[...end])
        var found = 0
        times.append(
          1_000
            * (try seconds {
              found = try cache.filterEntries(collection: "Customers", searchText: text).count
            }))
        precondition(found > 0 || text.count > 3, "nothing begins with \(text)")
      }
    }
    return times
  }

  /// Entries a second: parsed, against stored sealed and loaded again.
  static func storing(_ setting: Setting) throws -> Figure {
    let count = setting.n(10_000, quick: 100)
    var writer = ODataFeedWriter(ODataComposer(.atom, version: .v2))
    try writer.begin()
    for number in 0..<count { try writer.add(.entry(entry(number))) }
    try writer.end(ODataFeedHead())
    let feed = writer.take()
    let (cache, _) = try self.cache(count)
    var parsed: [Double] = []
    var stored: [Double] = []
    for round in setting.eachRound() {
      let folder = setting.path("kit-\(round)")
      let store = try Persistence(folder: folder, key: try Persistence.generateSecretKey())
      parsed.append(
        try seconds {
          let entries = try ODataFeed.read(feed).entries
          precondition(entries.count == count, "all are read")
        })
      stored.append(
        try seconds {
          try cache.store(in: store)
          let loaded = ODataCache()
          try loaded.load(from: store)
          precondition(loaded.count(collection: "Customers") == count, "all are loaded")
        })
      try FileManager.default.removeItem(atPath: folder)
    }
    return Figure(
      27, "entries stored sealed, and loaded", n: count, unit: "entries/s",
      ours: Double(count) / median(stored), limit: Double(count) / median(parsed),
      of: "parsing them from Atom", aim: .ratioAtLeast(0.5))
  }
}

private enum KitStreams {
  /// Megabytes a second of a stream that is written and read, sealed against plain.
  static func sealing(_ setting: Setting) throws -> Figure {
    let megabytes = setting.n(128, quick: 2)
    let piece = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 167) }
    var times: [Bool: [Double]] = [:]
    for round in setting.eachRound() {
      for isSecure in round % 2 == 0 ? [true, false] : [false, true] {
        let folder = setting.path("stream-\(round)-\(isSecure)")
        let store = try Persistence(
          folder: folder, isSecure: isSecure,
          key: isSecure ? try Persistence.generateSecretKey() : nil)
        times[isSecure, default: []].append(
          try seconds {
            var left = megabytes
            try store.storeDataStream("s") {
              left -= 1
              return left < 0 ? nil : piece
            }
            let stream = try store.loadDataStream("s")
            var read = 0
            while let part = try stream?.read(1 << 20), !part.isEmpty { read += part.count }
            precondition(read == megabytes << 20, "all is read")
          })
        try FileManager.default.removeItem(atPath: folder)
      }
    }
    return Figure(
      27, "sealed stream, written and read", n: megabytes, unit: "MB/s",
      ours: Double(megabytes) / median(times[true] ?? []),
      limit: Double(megabytes) / median(times[false] ?? []),
      of: "the same in plain mode", aim: .ratioAtLeast(0.6))
  }
}
