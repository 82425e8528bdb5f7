import FerryOData
import FerryODataBatch

/// Batches that several tests read: the shapes that the protocol's own examples have.
enum BatchSamples {
  /// Queries around a changeset whose second request refers to the first.
  static let requests = """
    --batch_36522ad7
    Content-Type: application/http
    Content-Transfer-Encoding: binary

    GET /service/Customers('ALFKI')
    Host: host

    --batch_36522ad7
    Content-Type: multipart/mixed;
     boundary="changeset_77162fcd"

    --changeset_77162fcd
    Content-Type: application/http
    Content-Transfer-Encoding: binary
    Content-ID: 1

    POST /service/Customers HTTP/1.1
    Host: host
    Content-Type: application/atom+xml;type=entry
    Content-Length: 8

    <entry/>
    --changeset_77162fcd
    content-type:application/http
    Content-ID: 2

    PATCH $1/Address HTTP/1.1
    Host: host
    Content-Type: application/json
    If-Match: W/"a"

    {"City":
    "Köln"}
    --changeset_77162fcd--
    --batch_36522ad7
    Content-Type: application/http

    GET /service/Products?$filter=Price gt 5 HTTP/1.1


    --batch_36522ad7--
    """.replacing("\n", with: "\r\n") + "\r\n"

  static let responses = """
    This is a preamble; nobody reads it.
    --b
    Content-Type: application/http

    HTTP/1.1 200 OK
    Content-Type: application/json
    Content-Length: 9

    {"a":"b"}
    --b
    Content-Type: multipart/mixed; boundary=cs

    --cs
    Content-Type: application/http
    Content-ID: 1

    HTTP/1.1 201 Created
    Location: http://host/service/Customers('NEW')

    {}
    --cs
    Content-Type: application/http
    Content-ID: 2

    HTTP/1.1 204 No Content

    --cs--
    an epilogue of the changeset
    --b
    Content-Type: application/http

    HTTP/1.1 404 Not Found
    Content-Type: application/xml

    <error/>
    --b--
    and one of the batch
    """.replacing("\n", with: "\r\n")

  static let json = #"""
    {
      "requests": [
        {"id": "0", "method": "GET", "url": "/service/Customers('ALFKI')"},
        {"id": "1", "atomicityGroup": "g1", "method": "POST", "url": "/service/Customers",
         "headers": {"content-type": "application/json"}, "body": {"Name": "K\u00f6ln", "n": [1, 2.5e3]}},
        {"id": "2", "atomicityGroup": "g1", "dependsOn": ["1"], "method": "PATCH", "url": "$1/Address",
         "body": {"City": "x"}, "headers": {"If-Match": "W/\"a\""}},
        {"id": "3", "dependsOn": ["g1"], "if": "$1/Total gt 5", "url": "Notes", "method": "PUT",
         "headers": {"Content-Type": "text/plain; charset=utf-8"}, "body": "a\n\"b\" \ud83d\ude00"},
        {"id": "4", "method": "PUT", "url": "Photos(1)/$value",
         "headers": {"Content-Type": "image/png"}, "body": "iVBORw0KGgo"}
      ],
      "@context": [null, {"more": true}]
    }
    """#

  static let jsonResponses = #"""
    {"responses":[{"id":"1","atomicityGroup":"g1","status":201,"headers":{"location":"x"}},
    {"id":"0","status":200,"body":{"value":[]}},{"id":"3","status":424,"body":null}]}
    """#

  static func read(
    _ text: [UInt8], cutAt cuts: [Int] = [], contentType: String? = nil
  ) throws(ODataError) -> [ODataBatchPart] {
    let reader = ODataBatchReader(contentType: contentType)
    var parts: [ODataBatchPart] = []
    func drain() throws(ODataError) {
      while let item = try reader.next() {
        switch item {
        case .part(let part): parts.append(part)
        case .body(let bytes): parts[parts.count - 1].body += bytes
        case .end: break
        }
      }
    }
    var start = 0
    for cut in cuts + [text.count] {
      reader.push(Array(text[start..<cut]))
      try drain()
      start = cut
    }
    reader.finish()
    try drain()
    return parts
  }

  /// A refusal of a batch, or nil.
  static func refusal(_ text: String, contentType: String? = nil) -> ODataError? {
    do {
      _ = try read(text.bytes, contentType: contentType)
      return nil
    } catch { return error }
  }
}
