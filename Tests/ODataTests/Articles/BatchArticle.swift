import FerryOData
import FerryODataBatch
import Testing

@Suite("The article on batches") struct BatchArticle {
  @Test("Requests are sent as one, and each finds its response")
  func whole() throws {
    let composer = ODataComposer(.json, version: .v4)
    var sent: [UInt8] = []
    func send(_ method: String, _ headers: [ODataRequestBody.Header], _ body: [UInt8]) {
      sent = body
    }
    let answerType = "multipart/mixed; boundary=b"
    let answerBytes = try ODataBatch([.response(200, id: "1"), .response(412)]).body(
      .multipart(boundary: "b"))
    var outcome: [String: Int] = [:]

    let order = try composer.create(
      ODataEntry(type: "Shop.Model.Product", ["Name": .string("Wheel")]))
    let batch = ODataBatch([
      .request("GET", "Products?$top=5", id: "1"),
      .request(order, to: "Products", id: "2", group: "changes"),
      .request("POST", "$2/Reset", id: "3", group: "changes"),
    ])
    let request = try batch.request(
      .multipart(boundary: batch.freeBoundary), continuesOnError: true)
    send(request.method, request.headers, request.body)

    let answered = try ODataBatch.read(answerBytes, contentType: answerType)
    for (part, answer) in zip(batch.parts, answered.answers(to: batch)) {
      outcome[part.id ?? ""] = answer?.status
    }

    #expect(try ODataBatch.read(sent).parts.map(\.id) == ["1", "2", "3"])
    #expect(outcome == ["1": 200, "2": 412, "3": 412])
  }

  @Test("A body of any size is written and read by pieces")
  func pieces() throws {
    let upload = ODataBatchPart(
      .request(method: "PUT", url: "Photos(1)/$value"),
      headers: [.init(name: "Content-Type", value: "image/png")], id: "1")
    var pieces = [[UInt8]](repeating: [1, 2, 3, 4], count: 50)
    func nextPiece() -> [UInt8]? { pieces.isEmpty ? nil : pieces.removeFirst() }
    var passed: [[UInt8]] = []
    func pass(_ bytes: [UInt8]) { passed.append(bytes) }
    func nextArrival() -> [UInt8]? { passed.isEmpty ? nil : passed.removeFirst() }
    var taken: [ODataBatchItem] = []
    func take(_ item: ODataBatchItem) { taken.append(item) }

    var writer = try ODataBatchWriter(.json)
    try writer.begin(upload)
    while let piece = nextPiece() {
      try writer.body(piece)
      pass(writer.take())
    }
    try writer.end()
    try writer.finish()
    pass(writer.take())

    let reader = ODataBatchReader(contentType: "application/json")
    while let piece = nextArrival() {
      reader.push(piece)
      while let item = try reader.next() { take(item) }
    }
    reader.finish()
    while let item = try reader.next() { take(item) }

    #expect(taken.first == .part(upload) && taken.last == .end)
    let length = taken.reduce(0) { sum, item in
      if case .body(let bytes) = item { sum + bytes.count } else { sum }
    }
    #expect(length == 200)
  }
}
