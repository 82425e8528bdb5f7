import FerryOData
import FerryODataAddress
import FerryODataBatch
import FerryODataShell

extension FuzzTarget {
  /// Metadata in XML and JSON, and all that is asked of it.
  static let metadata = FuzzTarget(
    "metadata", afterHeader: { afterRoot($0, ["Edmx", "Schema"]) },
    run: { bytes in
      if let broken = describe(bytes) { return broken }
      guard let metadata = try? EdmMetadata.read(bytes) else { return nil }
      for schema in metadata.schemas {
        for type in schema.entityTypes + schema.complexTypes {
          _ = metadata.keys(of: type)
          _ = metadata.properties(of: type)
          _ = metadata.isOpen(type)
        }
        for container in schema.containers {
          for set in container.entitySets { _ = metadata.entitySet(set.name) }
        }
      }
      let strict = try? EdmMetadata.read(bytes, strict: true)
      return strict != nil && !metadata.diagnostics.isEmpty
        ? "strictly it is read, and it has faults" : nil
    })

  /// Feeds and entries in Atom.
  static let atom = FuzzTarget(
    "atom", afterHeader: { afterRoot($0, ["feed", "entry"]) }, run: { feed($0, .atom) })

  /// Feeds and entries in JSON of V2 to V4.
  static let json = FuzzTarget(
    "json",
    afterHeader: { bytes in
      for head in [#"{"d":{"results":["#, #"{"value":["#] where bytes.starts(with: head.utf8) {
        return Array(bytes[head.utf8.count...])
      }
      return nil
    }, run: { feed($0, .json) })

  /// Batches of both forms, in both directions.
  static let batch = FuzzTarget(
    "batch",
    afterHeader: { bytes in
      let reader = ODataBatchReader()
      reader.push(bytes)
      reader.finish()
      guard case .part? = try? reader.next(), case .body(let body)? = try? reader.next() else {
        return nil
      }
      return body
    },
    run: { bytes in
      if let broken = describe(bytes) { return broken }
      let whole = try? ODataBatch.read(bytes)
      guard whole == batchByPieces(bytes) else { return "in pieces it is read otherwise" }
      guard let whole else { return nil }
      for format in [ODataBatchFormat.multipart(boundary: "fuzz"), .json] {
        guard let written = try? whole.body(format) else { continue }
        var expected = whole
        for index in expected.parts.indices where format == .json {
          expected.parts[index].body = jsonBody(expected.parts[index])
        }
        guard let again = try? ODataBatch.read(written, contentType: format.contentType) else {
          return "written as \(format) it is refused"
        }
        if format == .json {
          for (index, part) in again.parts.enumerated() where expected.parts.indices.contains(index)
          {
            takeNeeds(of: part, for: &expected.parts[index])
          }
        }
        guard again == expected else { return "written as \(format) it is read otherwise" }
      }
      return nil
    })

  /// Resource paths, query options and expressions; checked against metadata, and evaluated.
  static let address = FuzzTarget(
    "address",
    afterHeader: { bytes in
      guard let end = bytes.firstIndex(of: UInt8(ascii: "?")), end > 0,
        let path = String(validating: bytes[..<end], as: UTF8.self),
        let address = try? ODataAddress(parsing: path), !address.path.isEmpty
      else { return nil }
      return Array(bytes[(end + 1)...])
    },
    run: { bytes in
      guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
      for version in [ODataVersion.v2, .v4] {
        let settings = ODataAddressSettings(version: version)
        if let expression = try? ODataExpression(parsing: text, settings),
          let written = try? expression.text(version),
          (try? ODataExpression(parsing: written, settings)) == nil
        {
          return "an expression written is refused: \(written)"
        }
        guard let address = try? ODataAddress(parsing: text, settings),
          let written = try? address.uri(version)
        else { continue }
        guard let again = try? ODataAddress(parsing: written, settings),
          let second = try? again.uri(version)
        else { return "written it is refused: \(written)" }
        if second != written { return "written twice it differs: \(written) \(second)" }
        let checked = (try? ODataResolvedAddress(address, in: shop)) != nil
        if checked != ((try? ODataResolvedAddress(again, in: shop)) != nil) {
          return "written it is checked otherwise: \(written)"
        }
        guard let filter = address.options.filter else { continue }
        _ = try? ODataEvaluator(aliases: address.options.aliases).holds(filter, for: product)
      }
      return nil
    })

  /// What addresses are checked against: an open type and a derived one with keys, ways and a
  /// function.
  private static let shop: EdmMetadata = {
    let text = """
      <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">\
      <edmx:DataServices><Schema Namespace="NS" xmlns="http://docs.oasis-open.org/odata/ns/edm">\
      <EntityType Name="T" OpenType="true"><Key><PropertyRef Name="ID"/></Key>\
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>\
      <Property Name="Tags" Type="Collection(Edm.String)"/>\
      <NavigationProperty Name="Parts" Type="Collection(NS.T)"/></EntityType>\
      <EntityType Name="D" BaseType="NS.T"/>\
      <Function Name="F"><Parameter Name="a" Type="Edm.Int32"/><ReturnType Type="Edm.String"/>\
      </Function><EntityContainer Name="C"><EntitySet Name="A" EntityType="NS.T"/>\
      <EntitySet Name="Products" EntityType="NS.T"/><FunctionImport Name="F" Function="NS.F"/>\
      </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
      """
    guard let metadata = try? EdmMetadata.read(Array(text.utf8)) else {
      preconditionFailure("the metadata of the target is none")
    }
    return metadata
  }()

  /// What conditions are asked of.
  static let product: ODataEntry = {
    let text = #"""
      {"ID":1,"Name":"O'Neil","Price":5.5,"Tags":["a","b"],"T":"2026-11-21T08:00:00Z",
      "Parts":[{"ID":2,"Name":"x"}],"Address":{"City":"Jena"}}
      """#
    guard let entry = try? ODataEntry.read(Array(text.utf8)) else {
      preconditionFailure("the entry of the target is none")
    }
    return entry
  }()

  /// What stands behind the first tag of an XML document with one of these roots.
  private static func afterRoot(_ bytes: [UInt8], _ names: [String]) -> [UInt8]? {
    guard let end = bytes.firstIndex(of: UInt8(ascii: ">")) else { return nil }
    var start = 0
    var stop = end
    if bytes.starts(with: "<?xml ".utf8) {
      guard let next = bytes[(end + 1)...].firstIndex(of: UInt8(ascii: ">")) else { return nil }
      start = end + 1
      stop = next
    }
    let tag = bytes[start..<stop].drop { $0 <= 0x20 }
    let name = tag.dropFirst().prefix { $0 > 0x20 }
    let local = name.split(separator: UInt8(ascii: ":")).last ?? []
    guard tag.first == UInt8(ascii: "<"), names.contains(String(decoding: local, as: UTF8.self)),
      tag.firstRange(of: Array("xmlns".utf8)) != nil
    else { return nil }
    return Array(bytes[(stop + 1)...])
  }

  /// Describes a document whole and in pieces.
  private static func describe(_ bytes: [UInt8]) -> String? {
    let whole = try? ODataDescriber.describe(bytes)
    let describer = ODataDescriber()
    let cut = try? {
      for piece in pieces(bytes) { try describer.push(piece) }
      return try describer.finish()
    }()
    return whole?.kind == cut?.kind && whole?.counts == cut?.counts
      ? nil : "in pieces it is described otherwise"
  }

  /// Reads a feed whole and in pieces, and writes what was read.
  private static func feed(_ bytes: [UInt8], _ format: ODataFormat) -> String? {
    let whole = try? ODataFeed.read(bytes)
    let reader = ODataFeedReader()
    let cut: [ODataItem]? = try? {
      var items: [ODataItem] = []
      for piece in pieces(bytes) {
        reader.push(piece)
        while let item = try reader.next() { items.append(item) }
      }
      reader.finish()
      while let item = try reader.next() { items.append(item) }
      return items
    }()
    guard (whole == nil) == (cut == nil) else { return "in pieces it is read otherwise" }
    guard let whole, let cut else { return nil }
    guard whole.items.count == cut.count, whole.head == reader.head else {
      return "in pieces it has other items"
    }
    for (left, right) in zip(whole.items, cut) {
      if case .entry(let one) = left, case .entry(let two) = right,
        one.properties != two.properties
      {
        return "in pieces an entry has other properties"
      }
    }
    for version in ODataVersion.allCases where version >= .v2 {
      let composer = ODataComposer(format, version: version)
      guard let written = try? composer.body(ODataFeed(whole.entries)) else { continue }
      guard (try? ODataFeed.read(written)) != nil else {
        return "written as \(version) it is refused"
      }
    }
    return nil
  }

  private static func batchByPieces(_ bytes: [UInt8]) -> ODataBatch? {
    let reader = ODataBatchReader()
    var batch = ODataBatch()
    func drain() throws {
      while let item = try reader.next() {
        switch item {
        case .part(let part): batch.parts.append(part)
        case .body(let bytes): batch.parts[batch.parts.count - 1].body += bytes
        case .end: break
        }
      }
    }
    return try? {
      for piece in pieces(bytes) {
        reader.push(piece)
        try drain()
      }
      reader.finish()
      try drain()
      return batch
    }()
  }

  /// JSON names in `dependsOn` also the request that an address begins with, `$1/Lines`, and the group
  /// of that.
  private static func takeNeeds(of written: ODataBatchPart, for part: inout ODataBatchPart) {
    guard written.dependsOn.starts(with: part.dependsOn), case .request(_, let url) = part.subject,
      url.hasPrefix("$"), written.dependsOn.count <= part.dependsOn.count + 2
    else { return }
    part.dependsOn = written.dependsOn
  }

  /// JSON keeps no white space around a body, and takes null for none.
  private static func jsonBody(_ part: ODataBatchPart) -> [UInt8] {
    let type = part.header("Content-Type").map { $0.prefix { $0 != ";" }.lowercased() } ?? ""
    var kind = type.drop { $0 == " " || $0 == "\t" }
    while let last = kind.last, last == " " || last == "\t" { kind.removeLast() }
    let isJSON =
      part.header("Content-Type") == nil || kind == "application/json" || kind == "text/json"
      || kind.hasSuffix("+json")
    guard isJSON else { return part.body }
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
    var body = part.body.drop(while: isSpace)
    while let last = body.last, isSpace(last) { body.removeLast() }
    return body.elementsEqual("null".utf8) ? [] : Array(body)
  }
}
