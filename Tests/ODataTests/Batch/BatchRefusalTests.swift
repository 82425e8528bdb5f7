import FerryOData
import FerryODataBatch
import Testing

@Suite("Batch: what is refused") struct BatchRefusalTests {
  private func refusal(_ text: String) -> ODataError? { BatchSamples.refusal(text) }

  private func part(_ head: String, _ message: String) -> String {
    "--b\r\n\(head)\r\n\r\n\(message)\r\n--b--\r\n"
  }

  @Test("Ten thousand parts are read, and one more than the limit is refused, in both forms")
  func manyParts() throws {
    let one = "--b\r\nContent-Type: application/http\r\n\r\nGET A HTTP/1.1\r\n\r\n\r\n"
    let text = String(repeating: one, count: 10_000) + "--b--\r\n"
    #expect(try BatchSamples.read(text.bytes).count == 10_000)
    let list = (1...10_000).map { #"{"id":"\#($0)","method":"GET","url":"A"}"# }
    let json = #"{"requests":[\#(list.joined(separator: ","))]}"#
    #expect(try BatchSamples.read(json.bytes).count == 10_000)
    var limits = ODataLimits.standard
    limits.parts = 9_999
    for bytes in [text.bytes, json.bytes] {
      let error = #expect(throws: ODataError.self) { try ODataBatch.read(bytes, limits: limits) }
      #expect(error?.code == .limit && error?.message.contains("9999") == true)
    }
  }

  @Test(
    "A batch cut off at any byte is refused and never taken for whole",
    arguments: BatchReadingTests.documents)
  func truncation(_ text: String) throws {
    let bytes = text.bytes
    let contentType = text.hasPrefix("This") ? "multipart/mixed; boundary=b" : nil
    let whole = try BatchSamples.read(bytes, contentType: contentType)
    for end in 0..<bytes.count {
      do {
        let parts = try BatchSamples.read(Array(bytes[..<end]), contentType: contentType)
        // Only what has no meaning is missing.
        #expect(parts == whole, "cut at \(end)")
        #expect(end > bytes.count - 26, "cut at \(end)")
      } catch {
        let codes: [ODataError.Code] = [.truncated, .malformed, .unexpectedDocument]
        #expect(codes.contains(error.code), "cut at \(end): \(error)")
        #expect(error.place != nil)
      }
    }
  }

  @Test("An id that is named before it stands there, is unknown, or stands twice is refused")
  func references() {
    func changeset(_ parts: [(id: String, url: String)]) -> String {
      var text = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n"
      for part in parts {
        text += "--c\r\nContent-Type: application/http\r\nContent-ID: \(part.id)\r\n\r\n"
        text += "POST \(part.url) HTTP/1.1\r\n\r\n\r\n"
      }
      return text + "--c--\r\n--b--\r\n"
    }
    let forward = refusal(changeset([("1", "$2/Orders"), ("2", "Orders")]))
    #expect(forward?.code == .reference && forward?.place?.path == "/part[1]/part[1]")
    #expect(forward?.message.contains("2") == true && forward?.hint.isEmpty == false)
    #expect(refusal(changeset([("1", "$1")]))?.code == .reference)
    #expect(refusal(changeset([("1", "A"), ("1", "A")]))?.code == .reference)
    #expect(refusal(changeset([("1", "A"), ("2", "/$1/B"), ("3", "$metadata")])) == nil)
    func json(_ second: String) -> ODataError? {
      refusal(#"{"requests":[{"id":"1","method":"GET","url":"A"},{\#(second)}]}"#)
    }
    #expect(json(#""id":"2","method":"GET","url":"$3/B""#)?.code == .reference)
    #expect(json(#""id":"2","method":"GET","url":"B","dependsOn":["3"]"#)?.code == .reference)
    #expect(json(#""id":"1","method":"GET","url":"B""#)?.code == .reference)
    #expect(json(#""id":"2","method":"GET","url":"$1/B","dependsOn":["1"]"#) == nil)
    let own = #""id":"2","method":"PUT","url":"B","atomicityGroup":"g""#
    #expect(json(#"\#(own),"dependsOn":["g"]"#)?.code == .reference)
    #expect(
      json(#"\#(own)},{"id":"3","method":"PUT","url":"B","atomicityGroup":"g","dependsOn":["g"]"#)?
        .code == .reference)
    #expect(json(#"\#(own)},{"id":"g","method":"PUT","url":"B""#)?.code == .reference)
    #expect(json(#""id":"2","method":"PUT","url":"B","atomicityGroup":"1""#)?.code == .reference)
    #expect(json(#""id":"2","method":"PUT","url":"B","atomicityGroup":"2""#)?.code == .reference)
    #expect(json(#"\#(own)},{"id":"3","method":"PUT","url":"B","dependsOn":["g"]"#) == nil)
    #expect(json(#""id":"2","method":"GET","url":"$3""#)?.place?.path == "/requests[2]")
  }

  @Test("Heads that are none, too long, or smuggle a line are refused, each with its place")
  func heads() {
    let http = "Content-Type: application/http"
    let cases: [(String, ODataError.Code)] = [
      (part("Content-Type : application/http", "GET A HTTP/1.1\r\n"), .malformed),
      (part("\(http)\r\nContent-Type: text/plain", "GET A HTTP/1.1\r\nX: y\r\n"), .malformed),
      (part("\(http)\r\nContent-ID: 1\r\ncontent-id: 2", "GET A HTTP/1.1\r\nX: y\r\n"), .malformed),
      (part("\(http)\r\nno header", "GET A HTTP/1.1\r\n"), .malformed),
      (part(" folded: first", "GET A HTTP/1.1\r\n"), .malformed),
      (part("X: 1", "GET A HTTP/1.1\r\n"), .missing),
      (part("Content-Type: text/plain", "GET A HTTP/1.1\r\n"), .malformed),
      (part("\(http)\r\nContent-Transfer-Encoding: base64", "GET A HTTP/1.1\r\n"), .malformed),
      (part("Content-Type: multipart/mixed", "--c--"), .malformed),
      (part(http, "GET"), .malformed), (part(http, "HTTP/1.1 2000 OK\r\n"), .malformed),
      (part(http, "HTTP/1.1 abc\r\n"), .malformed), (part(http, "G(T A HTTP/1.1"), .malformed),
      (part(http, "GET A HTTP/1.1\r\nX: a\rY: b\r\n"), .malformed),
      (part(http, "GET A HTTP/1.1\r\nX: a\0\r\n"), .malformed),
      (part(http, "GET A\u{7}B HTTP/1.1\r\n"), .malformed),
      (part(http, "GET A HTTP/1.1\r\nX: " + String(repeating: "a", count: 70_000)), .limit),
      (part(http, "GET " + String(repeating: "a", count: 70_000) + " HTTP/1.1\r\n"), .limit),
      (part(http, "GET A HTTP/1.1\r\n" + String(repeating: "X: a\r\n", count: 300)), .limit),
      (part(http, String(repeating: "\r\n", count: 40_000)), .limit),
      ("--b\r\n--b--\r\n", .malformed), ("--b\r\n\(http)\r\n\r\n--b--\r\n", .malformed),
      (part(http, "GET A HTTP/1.1\r\n") + "", .malformed),
      ("--\(String(repeating: "b", count: 71))\r\n", .unexpectedDocument),
      ("no boundary at all\r\n", .unexpectedDocument), ("", .unexpectedDocument),
      ("<html><body>log in</body></html>", .htmlPage),
    ]
    for (text, code) in cases where !text.hasSuffix("GET A HTTP/1.1\r\n\r\n--b--\r\n") {
      let error = refusal(text)
      #expect(error?.code == code, "\(text.prefix(120)): \(String(describing: error))")
      #expect(error?.place != nil, "\(text.prefix(120))")
    }
    let mixed =
      "--b\r\n\(http)\r\n\r\nGET A HTTP/1.1\r\n\r\n\r\n--b\r\n\(http)\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n--b--"
    #expect(refusal(mixed)?.code == .malformed && refusal(mixed)?.place?.line == 12)
    #expect(BatchSamples.refusal("", contentType: "text/plain")?.code == .unexpectedDocument)
  }

  @Test("A changeset that is not closed is refused, by the outer boundary and by the end")
  func openChangeset() {
    let open =
      "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n"
      + "Content-Type: application/http\r\n\r\nPOST A HTTP/1.1\r\n\r\nx\r\n"
    #expect(refusal(open + "--b--\r\n")?.code == .truncated)
    #expect(refusal(open)?.code == .truncated)
    #expect(refusal(open + "--c--\r\n")?.code == .truncated)
    #expect(refusal(open + "--c--\r\n--b--\r\n") == nil)
  }

  @Test("JSON that is no batch is refused, each with its place")
  func json() {
    let head = #"{"requests":[{"id":"1","method":"PUT","url":"A""#
    let cases: [(String, ODataError.Code)] = [
      ("[]", .malformed), ("{}", .unexpectedDocument), ("{\"requests\":{}}", .malformed),
      ("{\"requests\":[1]}", .malformed), ("{\"requests\":[],\"responses\":[]}", .malformed),
      ("{\"requests\":[],}", .malformed), ("{\"requests\":[{},]}", .missing),
      ("{\"requests\":[]} x", .malformed), ("{\"requests\":[{\"id\":1}]}", .malformed),
      (#"{"requests":[{"id":"1","method":"GET"}]}"#, .missing),
      (#"{"requests":[{"id":"1","url":"A"}]}"#, .missing),
      (#"{"requests":[{"method":"GET","url":"A"}]}"#, .missing),
      (#"{"responses":[{"id":"1"}]}"#, .missing),
      (#"{"responses":[{"id":"1","status":"200"}]}"#, .malformed),
      (#"{"responses":[{"id":"1","status":20}]}"#, .malformed),
      (head + #","url":"B"}]}"#, .malformed),
      (head + #","headers":{"A":"x\r\nB: y"}}]}"#, .malformed),
      (head + #","headers":{"A b":"x"}}]}"#, .malformed),
      (head + #","headers":{"A":"x","a":"y"}}]}"#, .malformed),
      (#"{"requests":[{"id":"1","method":"G T","url":"A"}]}"#, .malformed),
      (#"{"requests":[{"id":"1","method":"MERGE","url":"A"}]}"#, .malformed),
      (#"{"requests":[{"id":"1\nX: y","method":"GET","url":"A"}]}"#, .malformed),
      (head + #","atomicityGroup":"g\r\nX: y"}]}"#, .malformed),
      (head + #","if":"$1\u0000"}]}"#, .malformed),
      (head + #","dependsOn":["a\nb"]}]}"#, .malformed),
      (#"{"requests":[{"id":"1","method":"GET","url":"A\r\nX: y"}]}"#, .malformed),
      (head + #","body":{"a":}}]}"#, .malformed), (head + #","body":01}]}"#, .malformed),
      (head + #","body":1e}]}"#, .malformed), (head + #","body":"\x"}]}"#, .malformed),
      (head + ",\"body\":\"\u{1}\"}]}", .malformed), (head + #","body":tru}]}"#, .malformed),
      (head + #","headers":{"Content-Type":"image/png"},"body":"?"}]}"#, .invalidValue),
      (head + #","headers":{"Content-Type":"image/png"},"body":{}}]}"#, .malformed),
      (head + #","headers":{"Content-Type":"text/plain"},"body":"\ud800"}]}"#, .invalidValue),
      (head + ",\"body\":" + String(repeating: "[", count: 10_000), .limit),
      (#"{"requests":[{"id":""# + String(repeating: "1", count: 70_000) + "\"", .limit),
    ]
    for (text, code) in cases {
      let error = BatchSamples.refusal(text, contentType: "application/json")
      #expect(error?.code == code, "\(text.prefix(120)): \(String(describing: error))")
      #expect(error?.place != nil, "\(text.prefix(120))")
    }
    let bad = Array(head.utf8) + Array(",\"body\":\"".utf8) + [0xC0, 0xAF] + Array("\"}]}".utf8)
    let error = #expect(throws: ODataError.self) { try ODataBatch.read(bad) }
    #expect(error?.code == .encoding && error?.place?.path == "/requests[1]")
  }

  @Test("The method of a JSON part is read in either case")
  func methods() throws {
    for word in ["get", "Get", "pATCH", "delete", "POST", "put"] {
      let text = #"{"requests":[{"id":"1","method":"\#(word)","url":"A"}]}"#
      #expect(try ODataBatch.read(text.bytes).parts[0].method == word.uppercased())
    }
  }

  @Test("A boundary that is too long is refused with the number that fits, wherever it stands")
  func longBoundary() throws {
    let long = String(repeating: "b", count: 71)
    let named = "multipart/mixed;boundary=\(long)"
    let inner = "--b\r\nContent-Type: \(named)\r\n\r\n--\(long)--\r\n--b--\r\n"
    let written = fault(of: { try ODataBatchWriter(.multipart(boundary: long)) })
    for error in [
      refusal("--\(long)\r\n\r\n--\(long)--\r\n"), refusal(inner), written,
      BatchSamples.refusal("", contentType: named),
    ] {
      #expect(error?.message.contains("71 characters, and at most 70") == true)
    }
  }

  private func fault(of body: () throws -> ODataBatchWriter) -> ODataError? {
    do {
      _ = try body()
      return nil
    } catch { return error as? ODataError }
  }

  @Test("A long JSON body before the rest of its part is refused; after headers it passes")
  func order() throws {
    let long = "\"" + String(repeating: "x", count: 2 << 20) + "\""
    let rest = #""id":"1","method":"PUT","url":"A""#
    let text = #""headers":{"Content-Type":"text/plain"}"#
    #expect(refusal(#"{"requests":[{"body":\#(long),\#(rest)}]}"#)?.code == .limit)
    #expect(refusal(#"{"requests":[{\#(rest),"body":\#(long)}]}"#)?.code == .limit)
    #expect(
      refusal(#"{"requests":[{\#(rest),\#(text),"body":\#(long),"if":"x"}]}"#)?.code == .limit)
    #expect(refusal(#"{"requests":[{\#(rest),\#(text),"body":\#(long),"x":"y"}]}"#) == nil)
    #expect(refusal(#"{"requests":[{"body":"short",\#(rest)}]}"#) == nil)
  }
}
