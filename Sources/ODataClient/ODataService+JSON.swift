import FerryOData

extension ODataService {
  /// Reads an entry of a set from a JSON object such as `{"ID":7,"Name":"new"}`, with the types
  /// of the metadata.
  ///
  /// Throws `call` for a set that there is not, and `document` for a text that is no such object
  /// or holds a value that is none of its type.
  public func entry(
    json: [UInt8], in set: String
  ) throws(ODataClientError) -> ODataEntry {
    let type = try self.set(set).entityType
    do throws(ODataError) {
      var entry = try ODataEntry.read(
        json,
        ODataReadOptions(
          metadata: metadata, type: type, isStrict: true, version: metadata.version))
      entry.type = type
      return entry
    } catch {
      throw ODataClientError(error, "the JSON for \(set)", wasSent: false)
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
