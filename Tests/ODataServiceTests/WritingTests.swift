import FerryHTTP
import FerryJSON
import FerryOData
import FerryODataService
import Testing

@Suite("A service of OData: writing") struct WritingTests {
  @Test("POST makes an entity and tells its address") func create() async throws {
    let desk = try Desk()
    let answer = await desk.send(.post, "Customers", [:], #"{"ID":"N 1","Name":"New"}"#)
    #expect(answer.status == 201, "\(answer.text)")
    #expect(answer.headers["Location"] == "http://h/s/Customers('N%201')")
    #expect(answer.headers["ETag"] == "W/\"new\"")
    #expect(answer.json?["Name"]?.string == "New")
    let quiet = await desk.send(
      .post, "Customers", ["Prefer": "return=minimal"], #"{"ID":"N2","Name":"New"}"#)
    #expect(quiet.status == 204 && quiet.bytes.isEmpty)
    #expect(quiet.headers["OData-EntityId"] == "http://h/s/Customers('N2')")
    #expect(quiet.headers["Preference-Applied"] == "return=minimal")
    #expect((await desk.get("Customers('N%201')")).status == 200)
  }

  @Test("A change needs the ETag of what it changes") func conditions() async throws {
    let desk = try Desk()
    let body = #"{"Name":"Other"}"#
    let blind = await desk.send(.patch, "Customers('C1')", [:], body)
    #expect(blind.status == 428 && blind.code == "preconditionRequired")
    let old = await desk.send(.patch, "Customers('C1')", ["If-Match": "W/\"0\""], body)
    #expect(old.status == 412 && old.headers["ETag"] == "W/\"1\"")
    #expect(desk.source.state.withLock { $0.writes.isEmpty })
    let good = await desk.send(.patch, "Customers('C1')", ["If-Match": "W/\"1\""], body)
    #expect(good.status == 204 && good.headers["ETag"] == "W/\"new\"", "\(good.text)")
    let again = await desk.send(
      .patch, "Customers('C1')",
      ["If-Match": "\"a\", W/\"new\"", "Prefer": "return=representation"],
      #"{"City":null}"#)
    #expect(again.status == 200, "\(again.text)")
    #expect(again.json?["Name"]?.string == "Other")
    let write = try #require(desk.source.state.withLock { $0.writes.last })
    #expect(write.kind == .update && write.properties.names == ["City"])
    #expect((await desk.send(.delete, "Customers('C2')")).status == 428)
    #expect(
      (await desk.send(.delete, "Customers('C2')", ["If-Match": "W/\"2\""])).status == 204)
    #expect((await desk.get("Customers('C2')")).status == 404)
  }

  @Test("What is not there is made by PATCH and PUT, but not under an ETag") func upsert()
    async throws
  {
    let desk = try Desk()
    let made = await desk.send(.put, "Customers('X')", [:], #"{"Name":"X"}"#)
    #expect(made.status == 201, "\(made.text)")
    #expect(made.json?["ID"]?.string == "X")
    let body = #"{"Name":"Y"}"#
    #expect(
      (await desk.send(.patch, "Customers('Z')", ["If-Match": "W/\"1\""], body)).status == 404)
    #expect((await desk.send(.put, "Customers('X')", ["If-None-Match": "*"], body)).status == 412)
    #expect((await desk.send(.delete, "Customers('Z')", ["If-Match": "*"])).status == 404)
  }

  @Test("A refusal of the business has its status, reason and target") func refused() async throws {
    let desk = try Desk()
    let answer = await desk.send(
      .patch, "Customers('C1')", ["If-Match": "W/\"1\""], #"{"Name":"refuse"}"#)
    #expect(answer.status == 412)
    #expect(answer.json?["error"]?["target"]?.string == "Name")
    #expect(answer.json?["error"]?["message"]?.string == "The name is refused.")
  }

  @Test("A reference is set by the address of the other entity") func binding() async throws {
    let desk = try Desk()
    let answer = await desk.send(
      .post, "Orders", [:], #"{"Number":500,"Customer@odata.bind":"Customers('C3')"}"#)
    #expect(answer.status == 201, "\(answer.text)")
    #expect(answer.json?["Customer_ID"]?.string == "C3")
    let wrong = await desk.send(
      .post, "Orders", [:], #"{"Number":501,"Customer@odata.bind":"Orders(1)"}"#)
    #expect(wrong.status == 400, "\(wrong.text)")
  }

  @Test("A client that will not wait gets an address where the result is told") func async()
    async throws
  {
    let desk = try Desk()
    let answer = await desk.send(
      .patch, "Customers('C1')", ["If-Match": "W/\"1\"", "Prefer": "respond-async"],
      #"{"Name":"Later"}"#)
    #expect(answer.status == 202)
    let address = try #require(answer.headers["Location"])
    #expect((await desk.get(address)).status == 202)
  }

  @Test(
    "Bodies that make no sense are refused with their place",
    arguments: [
      (#"{"Name":[1]}"#, 400), (#"{"Nothing":5}"#, 400), (#"{"Name":"a""#, 400), ("", 400),
      (#"{"Name":"a","Name":"b"}"#, 400), (#"[]"#, 400), (#"{"ID":null}"#, 400),
      (#"{"ID":"n","Orders":[{"Number":1}]}"#, 501),
    ])
  func bodies(_ body: String, _ status: Int) async throws {
    let desk = try Desk()
    let answer = await desk.send(
      .post, "Customers", ["Content-Type": "application/json"], body)
    #expect(answer.status == status, "\(body): \(answer.text)")
    #expect(desk.source.state.withLock { $0.writes.isEmpty })
  }

  @Test("Another media type, method or place is refused") func places() async throws {
    let desk = try Desk()
    let body = #"{"Name":"a"}"#
    #expect(
      (await desk.send(.post, "Customers", ["Content-Type": "text/plain"], body)).status == 415)
    #expect((await desk.send(.post, "Customers('C1')", [:], body)).status == 405)
    #expect((await desk.send(.delete, "Customers")).status == 405)
    #expect((await desk.send(.put, "Customers('C1')/Name", [:], body)).status == 501)
    #expect((await desk.send(.post, "$metadata", [:], body)).status == 405)
  }
}
