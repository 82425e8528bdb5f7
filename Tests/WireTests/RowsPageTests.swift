import FerryJSON
import FerryModel
import FerryWire
import Testing

@Suite("Pages of rows")
struct RowsPageTests {
  private struct Told: Error {
    let problem: String
  }

  /// The rows and leaves that a page tells of.
  private func read(
    _ page: RowsPage
  ) throws -> (rows: [[AttributeValue]], left: [ObjectKey], sum: UInt64) {
    var rows: [[AttributeValue]] = []
    var left: [ObjectKey] = []
    var sum: UInt64 = 0
    try page.read(
      of: Examples.package, wrap: { Told(problem: $0.problem) },
      row: { (_, values, hash) throws(Told) in
        rows.append(values)
        sum &+= UInt64(bitPattern: hash)
      }, left: { (_, key) throws(Told) in left.append(key) })
    return (rows, left, sum)
  }

  private func problem(_ sets: String) -> String? {
    let text = #"{"partition":1,"from":[0,0],"to":[7,1],"at":7,"count":1,"sets":[\#(sets)]}"#
    do {
      _ = try read(try RowsPage(json: Array(text.utf8)))
      return nil
    } catch let error as Told {
      return error.problem
    } catch {
      return "\(error)"
    }
  }

  private let shape: String =
    #""entity":"Booking","columns":["id","agency","flight","passenger","seats","price","bookedAt"]"#

  @Test("The rows of a page come out as they went in, with the hash of their bytes")
  func roundTrip() throws {
    var chance = SeededGenerator(seed: 8)
    for _ in 0..<100 {
      var writer = RowsPageWriter()
      var sum: UInt64 = 0
      let rows = (0..<chance.number(below: 30)).map { _ in chance.row(of: Examples.seat) }
      for row in rows {
        let body = RowCoder.encode(row)
        writer.row(Examples.seat, body: body)
        let key = Examples.seat.key(of: row)
        sum &+= UInt64(bitPattern: RowHash.of(entity: "Seat", key: key, body: body))
      }
      let gone = Examples.seat.key(of: chance.row(of: Examples.seat))
      writer.left(Examples.seat, key: gone)
      let json = writer.json(partition: 3, from: .start, to: .end(of: 9), at: 9)
      let page = try RowsPage(json: json)
      #expect((page.partition, page.at, page.rowCount) == (3, 9, rows.count + 1))
      #expect((page.from, page.to) == (.start, .end(of: 9)))
      let (readRows, left, readSum) = try read(page)
      #expect(readRows == rows)
      #expect(left == [gone])
      #expect(readSum == sum)
      let ahead = try PageRows(page, of: Examples.package)
      #expect(ahead.partition == 3 && ahead.sets.map(\.left) == [[gone]])
      let (values, hashes) = decoded(ahead, try #require(ahead.sets.first))
      #expect(values == rows)
      #expect(hashes.reduce(0) { $0 &+ UInt64(bitPattern: $1) } == sum)
    }
  }

  private func decoded(_ page: PageRows, _ set: PageRows.Set) -> ([[AttributeValue]], [Int64]) {
    page.withRows(of: set) { rows in
      ((0..<rows.count).map { rows.decoded($0) }, Array(rows.hashes))
    }
  }

  @Test("Rows and leaves stay in the order of the page, whatever number of rows it announces")
  func sets() throws {
    let seat =
      #""entity":"Booking","columns":["id","agency","flight","passenger","seats","#
      + #""price","bookedAt"],"#
    let row = { (id: Int) in #"[\#(id),"A07",318,"Ada \u00e9 \#(id)",2,null,null]"# }
    let sets =
      "{\(seat)\"rows\":[\(row(1)),\(row(2))],\"left\":[[7]]},"
      + "{\(seat)\"rows\":[\(row(7))],\"left\":[]}"
    for count in ["1", "-5", "9000000000000000000"] {
      let text =
        #"{"partition":1,"from":[0,0],"to":[7,1],"at":7,"count":\#(count),"#
        + #""sets":[\#(sets)]}"#
      let page = try PageRows(try RowsPage(json: Array(text.utf8)), of: Examples.package)
      #expect(page.sets.map(\.rowCount) == [2, 1])
      #expect(page.sets.map { $0.left.count } == [1, 0])
      let (values, _) = decoded(page, page.sets[1])
      #expect(
        values == [
          [
            .integer(7), .text("A07"), .integer(318), .text("Ada \u{E9} 7"),
            .integer(2), .null, .null,
          ]
        ])
    }
  }

  @Test("A page whose columns differ from the model's is refused, whatever differs")
  func columns() {
    let row = #""rows":[[1,"A07",318,"Ada",2,null,null]],"left":[]"#
    #expect(problem("{\(shape),\(row)}") == nil)
    for other in [
      shape.replacing("\"id\",\"agency\"", with: "\"agency\",\"id\""),
      shape.replacing(",\"bookedAt\"", with: ""),
      shape.replacing("\"bookedAt\"", with: "\"bookedAt\",\"note\""),
      shape.replacing("\"seats\"", with: "\"Seats\""),
    ] {
      #expect(other != shape)
      #expect(problem("{\(other),\(row)}")?.contains("columns of Booking") == true)
    }
  }

  @Test("What a page may not hold is refused by name")
  func senseless() {
    let whole = "{\(shape),"
    let cases: [(String, String)] = [
      (whole + #""rows":[[1,"A07",318,"Ada",2,null]],"left":[]}"#, "has only 6"),
      (whole + #""rows":[[1,"A07",318,"Ada",2,null,null,1]],"left":[]}"#, "has more"),
      (whole + #""rows":[[1,null,318,"Ada",2,null,null]],"left":[]}"#, "Booking.agency is null"),
      (whole + #""rows":[[1,"A07",318,"Ada",2,"1.0",null]],"left":[]}"#, "canonical decimal"),
      (whole + #""rows":[],"left":[["1"]]}"#, "Booking.id: a value of type long"),
      (whole + #""rows":[],"left":[[1,2]]}"#, "has more"),
      (whole + #""rows":[],"left":[],"right":[]}"#, "a member too many"),
      (whole + #""left":[],"rows":[]}"#, "a set has rows"),
      (#"{"columns":[],"entity":"Booking"}"#, "begins with its entity"),
      (#"{"entity":"Hotel","columns":[],"rows":[],"left":[]}"#, "no entity Hotel"),
    ]
    for (sets, reason) in cases {
      #expect(problem(sets)?.contains(reason) == true, "\(sets): \(problem(sets) ?? "read")")
    }
  }

  @Test("Equal rows have equal hashes; another entity, key, value or form has another")
  func hashes() {
    let body = Array(#"[1,"a"]"#.utf8)
    let hash = RowHash.of(entity: "A", key: ObjectKey(text: "1"), body: body)
    #expect(hash == RowHash.of(entity: "A", key: ObjectKey(text: "1"), body: body))
    #expect(hash != RowHash.of(entity: "B", key: ObjectKey(text: "1"), body: body))
    #expect(hash != RowHash.of(entity: "A", key: ObjectKey(text: "2"), body: body))
    #expect(
      hash != RowHash.of(entity: "A", key: ObjectKey(text: "1"), body: Array(#"[1,"b"]"#.utf8)))
    #expect(
      hash != RowHash.of(entity: "A", key: ObjectKey(text: "1"), body: Array(#"[1, "a"]"#.utf8)))
    // A part that ends where the next begins is not the same as one that ends later.
    #expect(
      RowHash.of(entity: "AB", key: ObjectKey(text: "1"), body: body)
        != RowHash.of(entity: "A", key: ObjectKey(text: "B1"), body: body))
  }
}
