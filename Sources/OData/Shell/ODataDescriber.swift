import FerryJSON
import FerryOData
import FerryODataBatch

/// Says what a document is and holds; feeds stream through it, everything else is read whole.
package final class ODataDescriber {
  private enum Form { case xml, json, batch }

  private let options: ODataReadOptions
  private let isStrict: Bool
  private var form: Form?
  private var kept: [UInt8] = []
  private var isKeeping = true
  private let counter: DocumentCounter
  private let reader: ODataFeedReader
  private var tally = EntryTally()
  private let batch: ODataBatchReader
  private var batchTally = BatchTally()
  private var failure: ODataError?

  package init(_ options: ODataReadOptions = ODataReadOptions()) {
    // A description says what stands in the document, not what it means beside a base.
    var options = options
    options.resolvesLinks = false
    self.options = options
    isStrict = options.isStrict
    reader = ODataFeedReader(options)
    batch = ODataBatchReader(limits: options.limits, isStrict: options.isStrict)
    counter = DocumentCounter(limits: options.limits)
  }

  /// Describes a document that is there as a whole.
  package static func describe(
    _ bytes: [UInt8], _ options: ODataReadOptions = ODataReadOptions()
  ) throws(ODataError) -> ODataDescription {
    let describer = ODataDescriber(options)
    try describer.push(bytes)
    return try describer.finish()
  }

  /// Takes the next bytes. Throws what the reader of the document throws.
  package func push(_ bytes: [UInt8]) throws(ODataError) {
    var bytes = bytes
    if isKeeping { kept += bytes }
    if form == nil {
      guard kept.count >= 512 else { return }
      try begin()
      bytes = kept
    }
    try take(bytes)
  }

  /// Says that the document is over, and gives its description.
  package func finish() throws(ODataError) -> ODataDescription {
    if form == nil {
      try begin()
      try take(kept)
    }
    return switch form {
    case .batch: try describeBatch()
    case .json: try describeJSON()
    case .xml, nil: try describeXML()
    }
  }

  private func begin() throws(ODataError) {
    if kept.isEmpty {
      throw ODataError(.truncated, "the document is empty", at: ODataPlace(line: 1, column: 1))
    }
    if HTMLPage.isHTML(kept) { throw HTMLPage.refusal }
    // The same bytes tell, however the document was cut.
    let head = Array(kept.prefix(512))
    if BatchTally.isMultipart(head) || BatchTally.isJSON(head) {
      form = .batch
    } else {
      form = ODataSniff.isJSON(kept) ? .json : .xml
    }
  }

  private func take(_ bytes: [UInt8]) throws(ODataError) {
    switch form {
    case .xml:
      try counter.push(bytes)
      guard let root = counter.root else { break }
      if root.space == .atom {
        reader.push(isKeeping ? kept : bytes)
        kept = []
        isKeeping = false
        try drain()
      } else if kept.count > options.limits.recordBytes {
        throw ODataError(.limit, "the document is longer than \(options.limits.recordBytes) bytes")
      }
    case .json:
      // What is wrong may only be wrong for a feed; the end tells.
      if failure == nil {
        reader.push(bytes)
        do throws(ODataError) { try drain() } catch { failure = error }
      }
      // Once it has given what only a feed holds, it is one, whatever key may come yet.
      if isKeeping, reader.isFeed == true, tally.isFeed {
        kept = []
        isKeeping = false
      }
      if isKeeping, kept.count > options.limits.recordBytes {
        throw failure
          ?? ODataError(
            .limit,
            "a document that is not a feed is longer than \(options.limits.recordBytes) bytes")
      }
    case .batch:
      kept = []
      isKeeping = false
      batch.push(bytes)
      try batchTally.drain(batch)
    case nil: break
    }
  }

  private func drain() throws(ODataError) {
    while let item = try reader.next() { tally.add(item) }
  }

  private func describeXML() throws(ODataError) -> ODataDescription {
    try counter.finish()
    guard let root = counter.root else {
      throw ODataError(.truncated, "the document is empty", at: ODataPlace(line: 1, column: 1))
    }
    if root.space == .atom, root.local == "feed" || root.local == "entry" {
      return try describeAtom(root.local)
    }
    switch root.local {
    case "service":
      let document = try ODataServiceDocument.read(kept, strict: isStrict, limits: options.limits)
      return describe(document)
    case "Edmx", "Schema":
      let metadata = try EdmMetadata.read(kept, strict: isStrict, limits: options.limits)
      var found = ODataDescription(.metadata)
      found.schemas = counter.schemas
      for name in Self.metadataCounts { found.counts[name] = counter.counts[name] ?? 0 }
      found.diagnostics = metadata.diagnostics
      return found
    case "error": return describe(try ODataErrorDocument.read(kept, limits: options.limits))
    case "OpenSearchDescription":
      let description = try ODataOpenSearchDescription.read(kept, limits: options.limits)
      var found = ODataDescription(.openSearch)
      found.counts["urlTemplates"] = description.urlTemplates.count
      return found
    default:
      if root.local.lowercased() == "html" { throw HTMLPage.refusal }
      guard root.space == .data || root.space == .metadata else {
        throw ODataError(
          .unexpectedDocument, "OData has no document with the root \(root.local)",
          at: ODataPlace(line: 1, column: 1, path: "/" + root.local))
      }
      reader.push(kept)
      reader.finish()
      try drain()
      var found = ODataDescription(.value)
      found.counts["nullProperties"] = counter.counts["nullProperties"] ?? 0
      found.diagnostics = reader.diagnostics
      return found
    }
  }

  private static let metadataCounts = [
    "entityTypes", "complexTypes", "enumTypes", "typeDefinitions", "associations", "entitySets",
    "singletons", "functionImports", "actionImports", "functions", "actions", "entityProperties",
    "complexProperties", "navigationProperties", "annotations", "sapAttributes",
  ]

  private func describeAtom(_ root: String) throws(ODataError) -> ODataDescription {
    reader.finish()
    try drain()
    var found = ODataDescription(root == "feed" ? .feed : .entry)
    for name in [
      "entries", "entriesIncludingInline", "inlineFeeds", "properties", "nullProperties", "links",
      "mediaEntries", "deletedEntries", "entriesWithETag", "sapAttributes",
    ] {
      found.counts[name] = counter.counts[name] ?? 0
    }
    add(reader.head, to: &found)
    found.diagnostics = reader.diagnostics
    return found
  }

  private func add(_ head: ODataFeedHead, to found: inout ODataDescription) {
    found.texts["count"] = head.count
    found.texts["next"] = head.next
    found.texts["delta"] = head.delta
    found.texts["firstID"] = tally.first?.id
    found.texts["firstType"] = tally.first?.type
  }

  private func describe(_ document: ODataServiceDocument) -> ODataDescription {
    var found = ODataDescription(.serviceDocument)
    found.counts["collections"] = document.collections.count
    let kinds: [(String, ODataCollection.Kind)] = [
      ("entitySets", .entitySet), ("singletons", .singleton), ("functionImports", .functionImport),
    ]
    for (name, kind) in kinds {
      found.counts[name] = document.collections.filter { $0.kind == kind }.count
    }
    found.diagnostics = document.diagnostics
    return found
  }

  private func describe(_ document: ODataErrorDocument) -> ODataDescription {
    var found = ODataDescription(.error)
    found.texts["code"] = document.code
    found.texts["message"] = document.message
    return found
  }

  private func describeJSON() throws(ODataError) -> ODataDescription {
    if isKeeping, let found = try describeWholeJSON() { return found }
    if let failure { throw failure }
    reader.finish()
    try drain()
    let isOld = reader.shape?.isVerbose == true
    var found = ODataDescription(isOld ? .jsonV2 : .jsonV4)
    found.counts["entries"] = tally.entries
    found.counts["entriesIncludingInline"] = tally.allEntries
    found.counts["inlineFeeds"] = tally.inlineFeeds
    found.counts["properties"] = tally.properties
    found.counts["nullProperties"] = tally.nulls
    found.counts["mediaEntries"] = tally.media
    found.counts["deletedEntries"] = tally.deleted
    found.counts["entriesWithETag"] = tally.etags
    add(reader.head, to: &found)
    found.diagnostics = reader.diagnostics
    return found
  }

  /// The kinds that win over feeds and entries; nil for those. The keys of the outer object tell,
  /// so a large feed is not made a tree for it.
  private func describeWholeJSON() throws(ODataError) -> ODataDescription? {
    let text = try EdmJSONReader.decoded(kept)
    let keys = Self.outerKeys(text)
    // The reader has taken what stands inside `d` for an entry.
    let inner = keys.contains("d") && (tally.entries == 0 || tally.first?["EntitySets"] != nil)
    guard
      keys.contains("$Version") || keys.contains("error") || keys.contains("odata.error")
        || keys.contains("requests") || keys.contains("responses")
        || keys.contains("EntitySets") || inner || EntryTally.isServiceItem(tally.first)
        || (keys.contains("value") && tally.entries == 0)
    else { return nil }
    let root: JSONNode
    do throws(ODataError) {
      root = try EdmJSONReader.parse(text, limits: options.limits)
    } catch {
      throw failure ?? error
    }
    if root["$Version"]?.string != nil {
      let metadata = try EdmMetadata.read(kept, strict: isStrict, limits: options.limits)
      return describe(metadata)
    }
    if root["requests"]?.array != nil || root["responses"]?.array != nil {
      batch.push(kept)
      return try describeBatch()
    }
    if let error = ODataErrorDocument(json: root),
      root["error"]?["message"] != nil || root["odata.error"] != nil
        || root["error"]?["code"] != nil
    {
      return describe(error)
    }
    if let document = try? ODataServiceDocument.read(kept, limits: options.limits),
      !document.collections.isEmpty || (root["d"] ?? root)["EntitySets"] != nil
        || (root["@odata.context"] ?? root["odata.metadata"])?.string?.hasSuffix("$metadata")
          == true
    {
      return describe(document)
    }
    return nil
  }

  private static func outerKeys(_ text: [UInt8]) -> Set<String> {
    text.withUnsafeBufferPointer { bytes in
      var keys: Set<String> = []
      var scanner = JSONScanner(bytes, depthLimit: 1_000)
      do throws(JSONError) {
        guard try scanner.peek() == .object else { return keys }
        try scanner.enterObject()
        while let key = try scanner.nextKey() {
          if keys.count < 1_000 { keys.insert(key) }
          try scanner.skipValue()
        }
      } catch {
        return keys
      }
      return keys
    }
  }

  private func describe(_ metadata: EdmMetadata) -> ODataDescription {
    var found = ODataDescription(.csdlJSON)
    found.schemas = metadata.schemas.map(\.namespace)
    let schemas = metadata.schemas
    let containers = schemas.flatMap(\.containers)
    let entities = schemas.flatMap(\.entityTypes)
    let complex = schemas.flatMap(\.complexTypes)
    found.counts = [
      "entityTypes": entities.count, "complexTypes": complex.count,
      "enumTypes": schemas.flatMap(\.enumTypes).count,
      "typeDefinitions": schemas.flatMap(\.typeDefinitions).count, "associations": 0,
      "entitySets": containers.flatMap(\.entitySets).count,
      "singletons": containers.flatMap(\.singletons).count,
      "functionImports": containers.flatMap(\.functionImports).count,
      "actionImports": containers.flatMap(\.actionImports).count,
      "functions": schemas.flatMap(\.functions).count,
      "actions": schemas.flatMap(\.actions).count,
      "entityProperties": entities.flatMap(\.properties).count,
      "complexProperties": complex.flatMap(\.properties).count,
      "navigationProperties": (entities + complex).flatMap(\.navigationProperties).count,
      "annotations": metadata.annotationCount, "sapAttributes": 0,
    ]
    found.diagnostics = metadata.diagnostics
    return found
  }

  private func describeBatch() throws(ODataError) -> ODataDescription {
    batch.finish()
    try batchTally.drain(batch)
    var found = ODataDescription(.batch)
    found.counts = batchTally.counts
    found.diagnostics = batch.diagnostics
    return found
  }
}
