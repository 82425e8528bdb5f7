import FerryHTTP
import FerryOData
import FerryODataBatch

extension ODataService {
  /// Sends a batch to `$batch` and returns the answer to each of its requests, in their order; nil
  /// for one that the service did not come to.
  ///
  /// Parts of one `group` are done together or not at all. A part that fails is an answer with its
  /// status, as `failure` of the part says; only the batch as a whole throws: `transport`, `http`,
  /// `document`. A batch with a change is never sent again by itself. The form is that of multipart,
  /// which every version knows; `isJSON` is for services of V4.01.
  public func send(
    _ batch: ODataBatch, isJSON: Bool = false, continuesOnError: Bool = false
  ) async throws(ODataClientError) -> [ODataBatchPart?] {
    let url = root + "$batch"
    let name = "POST \(url)"
    let format: ODataBatchFormat = isJSON ? .json : .multipart(boundary: batch.freeBoundary)
    let body = try written(name) { () throws(ODataError) in
      try batch.request(format, continuesOnError: continuesOnError)
    }
    var headers = HTTPHeaders()
    for field in body.headers { headers.add(field.name, field.value) }
    let isNew = metadata.version >= .v4
    let version = isNew ? "OData-MaxVersion" : "MaxDataServiceVersion"
    headers[version] = isNew ? (isJSON ? "4.01" : "4.0") : "\(metadata.version.rawValue).0"
    let response = try await session.sendChecked(
      ODataRequest(url, method: .post, headers: headers, body: body.body))
    do throws(ODataError) {
      let type = response.headers["Content-Type"]
      return try ODataBatch.read(response.body, contentType: type).answers(to: batch)
    } catch {
      throw ODataClientError(error, name, wasSent: true)
    }
  }
}

extension ODataBatchPart {
  /// What the service says of a request that failed; nil for a success.
  public var failure: ODataErrorDocument? {
    guard let status, !(200..<300).contains(status), status != 304 else { return nil }
    return (try? ODataErrorDocument.read(body))
      ?? ODataErrorDocument(code: "\(status)", message: text)
  }
}
