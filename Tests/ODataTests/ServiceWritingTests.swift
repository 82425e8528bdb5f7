import FerryOData
import Foundation
import Testing

/// What only a service writes.
@Suite("Documents of a service") struct ServiceWritingTests {
  /// Every document of metadata in the corpus that reads without a fault.
  static let metadata: [String] = {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Fuzzing/Corpora/metadata").standardized
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let documents = files.sorted().compactMap {
      try? String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
    }
    return documents + [Samples.metadata2, Samples.metadata4]
  }()

  @Test("The corpus has metadata") func corpus() { #expect(Self.metadata.count >= 6) }

  @Test("Metadata that is written as XML and read again is equal", arguments: metadata)
  func metadataAgain(_ text: String) throws {
    let first = try EdmMetadata.read(Array(text.utf8))
    let written = try first.xml()
    let again = try EdmMetadata.read(written)
    let shown = String(decoding: written, as: UTF8.self)
    #expect(again.version == first.version, "\(shown)")
    #expect(again.references == first.references, "\(shown)")
    #expect(again.schemas == Self.withoutDefault(first), "\(shown)")
    #expect(again.diagnostics.isEmpty || !first.diagnostics.isEmpty, "\(shown)")
    // A document that was written once is written the same again.
    #expect(try again.xml() == written)
  }

  /// XML of V4 has no way to say which container is the default one, as `$EntityContainer` of JSON does.
  private static func withoutDefault(_ metadata: EdmMetadata) -> [EdmSchema] {
    guard metadata.version >= .v4 else { return metadata.schemas }
    return metadata.schemas.map { schema in
      var schema = schema
      for index in schema.containers.indices { schema.containers[index].isDefault = false }
      return schema
    }
  }

  @Test("Annotations of every kind come back") func annotations() throws {
    var type = EdmStructuredType(.entity, namespace: "N", name: "E")
    type.keys = [EdmKeyReference(name: "ID")]
    var key = EdmProperty("ID", EdmTypeReference("Edm.Int32"))
    key.facets.isNullable = false
    type.properties = [key]
    let values: [EdmExpression] = [
      .null, .boolean(false), .integer(-7), .float(1.5), .string("a \"<&\n"),
      .constant(.decimal(try #require(EdmDecimal("1.250")))),
      .enumeration(["N.F/A", "N.F/B"]), .path("A/B"), .propertyPath("ID"),
      .navigationPropertyPath("Nav"), .annotationPath("@N.T"), .modelElementPath("N.E"),
      .collection([.string("x"), .null, .record(type: nil, [], annotations: [])]),
      .record(
        type: "N.C",
        [
          EdmPropertyValue(name: "P", value: .string("v")),
          EdmPropertyValue(name: "Q", value: .collection([.integer(1)])),
        ], annotations: [EdmAnnotation(term: "N.Inner")]),
      .apply(function: "odata.concat", [.string("a"), .path("ID")]),
      .operation("UrlRef", name: nil, [.string("http://a/b?c=d")]),
      .operation("If", name: nil, [.path("ID"), .string("y"), .string("n")]),
      .operation("Cast", name: "Edm.String", [.path("ID")]),
      .operation("LabeledElement", name: "L", [.integer(1)]),
    ]
    type.annotations = values.enumerated().map { number, value in
      EdmAnnotation(term: "N.T\(number)", qualifier: number == 1 ? "q" : nil, value: value)
    }
    var schema = EdmSchema(namespace: "N")
    schema.entityTypes = [type]
    let metadata = EdmMetadata(version: .v4, schemas: [schema])
    let again = try EdmMetadata.read(try metadata.xml())
    let read = try #require(again.entityType("N.E")).annotations
    for (one, other) in zip(type.annotations, read) { #expect(one == other) }
    #expect(read.count == type.annotations.count)
  }

  @Test("A control character in metadata is refused") func unwritable() throws {
    var schema = EdmSchema(namespace: "N")
    schema.annotations = [EdmAnnotation(term: "N.T", value: .string("a\u{1}b"))]
    let metadata = EdmMetadata(version: .v4, schemas: [schema])
    #expect(throws: ODataError.self) { try metadata.xml() }
  }

  @Test(
    "Errors come back in both formats of each version", arguments: [ODataVersion.v2, .v3, .v4])
  func errors(_ version: ODataVersion) throws {
    var error = ODataErrorDocument(code: "412", message: "changed \"meanwhile\" <&>")
    error.target = version >= .v4 ? "Price" : nil
    error.details = [
      .init(code: "B/1", message: "one", target: "Price", severity: "error"),
      .init(message: "two"),
    ]
    error.innerError = ["transactionid": "ABC"]
    for bytes in [error.json(version), try error.xml(version)] {
      let read = try ODataErrorDocument.read(bytes)
      #expect(read.code == error.code && read.message == error.message)
      #expect(read.target == error.target)
      #expect(read.details == error.details, "\(String(decoding: bytes, as: UTF8.self))")
      #expect(read.innerError["transactionid"] == "ABC")
    }
  }

  @Test(
    "A service document lists what the metadata offers", arguments: [ODataVersion.v2, .v4])
  func serviceDocument(_ version: ODataVersion) throws {
    let text = version == .v2 ? Samples.metadata2 : Samples.metadata4
    let metadata = try EdmMetadata.read(text.bytes)
    let document = ODataServiceDocument(of: metadata)
    let names = document.collections.filter { $0.kind == .entitySet }.map(\.name)
    #expect(names == metadata.entitySets.filter(\.isInServiceDocument).map(\.name))
    for bytes in [
      document.json(version, root: "http://h/s/"), try document.xml(version, root: "http://h/s/"),
    ] {
      let read = try ODataServiceDocument.read(bytes)
      #expect(
        read.collections.filter { $0.kind == .entitySet }.map(\.name) == names,
        "\(String(decoding: bytes, as: UTF8.self))")
    }
  }
}
