/// The reference's convenience functions as one-line calls.
///
/// Each has a String and a bytes form (adr/PAX-1). Reference: ios/PAR-1 to PAR-8.
public enum ODataParser {
  /// Reads a service document (ios/PAR-1).
  public static func parseServiceDocument(
    _ bytes: [UInt8]
  ) throws(ODataError) -> ODataServiceDocument {
    try ODataServiceDocument.read(bytes)
  }

  /// Reads a service document (ios/PAR-1).
  public static func parseServiceDocument(_ text: String) throws(ODataError) -> ODataServiceDocument
  {
    try parseServiceDocument(Array(text.utf8))
  }

  /// Reads metadata and matches it with the collections of the service document, which it is given
  /// to. Throws `noServiceDocument` where none is passed (ios/PAR-2).
  public static func parseSchema(
    _ bytes: [UInt8], _ serviceDocument: inout ODataServiceDocument?
  ) throws(ODataError) -> ODataSchema {
    guard var document = serviceDocument else {
      throw ODataError(.noServiceDocument, "no service document was provided")
    }
    document.attach(try EdmMetadata.read(bytes))
    serviceDocument = document
    guard let schema = document.schema else {
      throw ODataError(.unexpectedDocument, "the metadata gives no schema")
    }
    return schema
  }

  /// The same from text; see the form for bytes.
  public static func parseSchema(
    _ text: String, _ serviceDocument: inout ODataServiceDocument?
  ) throws(ODataError) -> ODataSchema {
    try parseSchema(Array(text.utf8), &serviceDocument)
  }

  /// Reads a feed or a single entry. What is inlined is read only when a service document is
  /// passed; pass nil to skip it. Throws `noEntitySchema` where no schema is passed (ios/PAR-3).
  public static func parseEntries(
    _ bytes: [UInt8], _ entitySchema: ODataEntitySchema?,
    _ serviceDocument: ODataServiceDocument? = nil
  ) throws(ODataError) -> [ODataEntry] {
    guard let entitySchema else {
      throw ODataError(.noEntitySchema, "no entity schema was provided")
    }
    let options = ODataReadOptions(
      metadata: serviceDocument?.metadata ?? entitySchema.metadata, type: entitySchema.type,
      readsInline: serviceDocument != nil)
    return try ODataFeed.read(bytes, options).entries
  }

  /// The same from text; see the form for bytes.
  public static func parseEntries(
    _ text: String, _ entitySchema: ODataEntitySchema?,
    _ serviceDocument: ODataServiceDocument? = nil
  ) throws(ODataError) -> [ODataEntry] {
    try parseEntries(Array(text.utf8), entitySchema, serviceDocument)
  }

  /// Reads an error document (ios/PAR-4).
  public static func parseError(_ bytes: [UInt8]) throws(ODataError) -> ODataErrorDocument {
    try ODataErrorDocument.read(bytes)
  }

  /// Reads an error document (ios/PAR-4).
  public static func parseError(_ text: String) throws(ODataError) -> ODataErrorDocument {
    try parseError(Array(text.utf8))
  }

  /// Always entries, whatever the function returns (ios/PAR-5).
  public static func parseFunctionImportResult(
    _ bytes: [UInt8], _ functionImport: ODataFunctionImport
  ) throws(ODataError) -> [ODataEntry] {
    try functionImport.entries(of: bytes)
  }

  /// The same from text; see the form for bytes.
  public static func parseFunctionImportResult(
    _ text: String, _ functionImport: ODataFunctionImport
  ) throws(ODataError) -> [ODataEntry] {
    try parseFunctionImportResult(Array(text.utf8), functionImport)
  }

  /// Reads an OpenSearch description (ios/PAR-6).
  public static func parseOpenSearchDescription(
    _ bytes: [UInt8]
  ) throws(ODataError) -> ODataOpenSearchDescription {
    try ODataOpenSearchDescription.read(bytes)
  }

  /// Reads an OpenSearch description (ios/PAR-6).
  public static func parseOpenSearchDescription(
    _ text: String
  ) throws(ODataError) -> ODataOpenSearchDescription {
    try parseOpenSearchDescription(Array(text.utf8))
  }

  /// Any well-formed XML, without loss (adr/PBX-1).
  public static func parseXML(_ bytes: [UInt8]) throws(ODataError) -> ODataXMLDocument {
    try ODataXMLDocument(bytes)
  }

  /// The payload of an entry and the HTTP method it is sent with (ios/PAR-7). `archive` has none.
  public static func buildEntry(
    _ entry: ODataEntry, _ operation: ODataEntryOperation, _ serviceDocument: ODataServiceDocument?,
    serializeInlinedEntries: Bool, format: ODataFormat = .atom
  ) throws(ODataError) -> ODataPayload {
    let composer = composer(serviceDocument, serializeInlinedEntries, format)
    return ODataPayload(
      body: try composer.body(entry, operation), method: method(operation, composer.version))
  }

  /// Several entries in one feed (ios/PAR-8).
  public static func buildFeed(
    _ entries: [ODataEntry], _ operation: ODataEntryOperation,
    _ serviceDocument: ODataServiceDocument?, serializeInlinedEntries: Bool,
    format: ODataFormat = .atom
  ) throws(ODataError) -> ODataPayload {
    let composer = composer(serviceDocument, serializeInlinedEntries, format)
    return ODataPayload(
      body: try composer.body(ODataFeed(entries), operation),
      method: method(operation, composer.version))
  }

  private static func composer(
    _ document: ODataServiceDocument?, _ inline: Bool, _ format: ODataFormat
  ) -> ODataComposer {
    ODataComposer(
      format, version: document?.metadata?.version ?? .v2, metadata: document?.metadata,
      writesInline: inline)
  }

  private static func method(_ operation: ODataEntryOperation, _ version: ODataVersion) -> String? {
    switch operation {
    case .create: "POST"
    case .updateFull: "PUT"
    case .updateIncremental: version < .v3 ? "MERGE" : "PATCH"
    case .archive: nil
    }
  }
}

/// A built payload (`SDMODataEntryXML`, `SDMODataFeedXML`).
public struct ODataPayload: Sendable, Hashable {
  /// UTF-8, with the declaration of XML for Atom.
  public let body: [UInt8]
  /// Nil for what is kept and never sent.
  public let method: String?
  /// The body as UTF-8 text.
  public var text: String { String(decoding: body, as: UTF8.self) }
}
