import FerryOData
import Testing

@Suite("The article on writing") struct WritingArticle {
  @Test("An entry is created, and then changed where it differs")
  func composing() throws {
    let metadata = try EdmMetadata.read(Samples.metadata4.bytes)
    let product = ODataEntry(type: "Shop.Model.Product", ["Name": .string("Wheel")])
    var sent: [String] = []
    func send(_ method: String, _ headers: [ODataRequestBody.Header], _ body: [UInt8]) {
      sent.append(method + " " + String(decoding: body, as: UTF8.self))
    }

    let composer = ODataComposer(.json, version: .v4, metadata: metadata)
    let request = try composer.create(product)
    send(request.method, request.headers, request.body)

    var changed = product
    changed.properties["Name"] = .string("Gear")
    if let request = try composer.merge(changed, changedFrom: product) {
      send(request.method, request.headers, request.body)
    }

    #expect(sent.count == 2 && sent[0].hasPrefix("POST ") && sent[0].contains("Wheel"))
    #expect(sent[1].hasPrefix("PATCH ") && sent[1].contains("Gear"))
  }
}
