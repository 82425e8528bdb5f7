import FerryOData

extension ODataService {
  /// Reads an entry of a set from a JSON object such as `{"ID":7,"Name":"new"}`, with the types
  /// of the metadata.
  ///
  /// Throws `call` for a set that there is not and for a property that its type does not have, and
  /// `document` for a text that is no such object or holds a value that is none of its type.
  public func entry(
    json: [UInt8], in set: String
  ) throws(ODataClientError) -> ODataEntry {
    let type = try self.set(set).entityType
    var entry: ODataEntry
    do throws(ODataError) {
      entry = try ODataEntry.read(
        json,
        ODataReadOptions(
          metadata: metadata, type: type, isStrict: true, version: metadata.version))
    } catch {
      throw ODataClientError(error, "the JSON for \(set)", wasSent: false)
    }
    try requireKnown(entry.properties, of: entry.type ?? type, "the JSON for \(set)")
    entry.type = type
    return entry
  }

  /// Services ignore a property that they do not know, and answer as if they had stored it.
  private func requireKnown(
    _ properties: ODataProperties, of type: String, _ name: String
  ) throws(ODataClientError) {
    guard let structure = metadata.structuredType(type), !metadata.isOpen(structure) else { return }
    for property in properties {
      guard let known = metadata.property(property.name, of: structure) else {
        let names =
          metadata.properties(of: structure).map(\.name)
          + metadata.navigationProperties(of: structure).map(\.name)
        throw ODataClientError(
          call: "\(structure.name) has no property \(property.name)", name,
          hint: "it has: \(names.joined(separator: ", "))")
      }
      for complex in property.value.complexes {
        try requireKnown(complex.properties, of: complex.type ?? known.type.name, name)
      }
    }
  }

  /// An entry as one JSON object of the service's version, with its identity and ETag.
  ///
  /// Throws `document` where the version has no way to write a value.
  public func json(of entry: ODataEntry) throws(ODataClientError) -> [UInt8] {
    let composer = ODataComposer(.json, version: metadata.version, metadata: metadata)
    do throws(ODataError) { return try composer.body(entry, .archive) } catch {
      throw ODataClientError(error, "writing an entry", wasSent: false)
    }
  }
}

extension EdmValue {
  /// The complex value, or those of the collection.
  fileprivate var complexes: [EdmComplex] {
    switch self {
    case .complex(let complex): [complex]
    case .collection(let values): values.flatMap(\.complexes)
    default: []
    }
  }
}
