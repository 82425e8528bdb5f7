import FerryModel
import FerryWire

extension SeededGenerator {
  /// One message of each kind.
  mutating func messages() throws -> [Message] {
    [
      .hello(hello()), .welcome(welcome()),
      .pull(Pull(group: text(), staged: cursors(), at: long())), .rows(try page()),
      .checkpoint(checkpoint()),
      .confirm(Confirm(group: text(), version: long(), answers: identifiers())),
      .replay(Replay(operations: list { $0.operationBytes() }, mayHaveRun: identifiers())),
      .stored(Stored(ids: identifiers(), refused: list { $0.answer() })),
      .stir(Stir(finished: identifiers())), .beat,
      .failure(WireFailure(element(WireFailure.Code.allCases), text(), hint: text())),
      .report(Report(records: list { $0.logRecord() })),
    ]
  }

  mutating func identifiers() -> [OperationID] { list { $0.identifier() } }

  mutating func cursor() -> Cursor { Cursor(version: long(), row: long()) }

  mutating func cursors() -> [PartitionCursor] {
    list { PartitionCursor(partition: $0.long(), cursor: $0.cursor()) }
  }

  private mutating func hello() -> Hello {
    var hello = Hello(
      server: optional { $0.text() }, package: "Flights:1.0", device: "d" + text(),
      incarnation: "i" + text(),
      groups: list {
        GroupPosition(name: $0.text(), era: $0.optional { $0.text() }, version: $0.long())
      }, partitions: cursors(), open: identifiers())
    hello.wait = Int64(number(below: 3)) * 1_000
    hello.asksCurrent = number(below: 2) == 1
    return hello
  }

  private mutating func welcome() -> Welcome {
    Welcome(
      server: "s" + text(), era: "e" + text(), clock: long(), rightsVersion: text(),
      keep: list { $0.long() },
      start: list { PartitionPlace(partition: $0.long(), group: $0.text()) },
      drop: list { $0.long() }, reset: list { $0.long() },
      operations: list {
        OperationStatus(
          id: $0.identifier(), state: $0.element([.neverSeen, .inWork, .answered]))
      }, expectedRows: long())
  }

  private mutating func checkpoint() -> Checkpoint {
    var checkpoint = Checkpoint(
      group: "g" + text(), era: "e" + text(), version: long(),
      partitions: list {
        PartitionSum(partition: $0.long(), cursor: $0.cursor(), sum: $0.next(), count: $0.long())
      }, answers: list { $0.answer() }, rightsVersion: text(), unavailable: list { $0.long() })
    checkpoint.currency = optional { $0.element([.current, .loading, .businessAway, .behind]) }
    checkpoint.load = optional {
      LoadStanding(permille: $0.long(), remainingSeconds: $0.optional { $0.long() })
    }
    checkpoint.waiting = list { WaitingOperation(id: $0.identifier(), reason: "w" + $0.text()) }
    return checkpoint
  }

  mutating func answer() -> Answer {
    Answer(
      id: identifier(), version: long(), outcome: element(Answer.Outcome.allCases),
      newKey: optional { ObjectKey([.integer($0.long()), .text($0.text())]) },
      logRecords: list { $0.logRecord() })
  }

  private mutating func logRecord() -> LogRecord {
    LogRecord(
      component: text(), entityKey: text(), code: number(below: 600), message: text(),
      operation: element(OperationKind.allCases), requestID: identifier(), timestamp: long(),
      level: element(LogRecord.Level.allCases), attribute: optional { $0.text() },
      baseValue: optional { $0.anyValue() }, currentValue: optional { $0.anyValue() },
      constraint: optional { $0.text() }, detail: optional { $0.text() },
      hint: optional { $0.text() })
  }

  private mutating func anyValue() -> AttributeValue {
    element([
      .null, .boolean(true), .integer(long()), .double(2), .double(1e300), .text(text()),
      .bytes([0, 255]),
    ])
  }

  mutating func operation() -> Operation {
    let entity = element([Examples.booking, Examples.seat])
    let kind = element(OperationKind.allCases)
    let values = row(of: entity)
    let given = kind == .create && number(below: 2) == 0
    var changed: [Int: AttributeValue] = [:]
    var base: [Int: AttributeValue] = [:]
    for position in entity.attributes.indices where kind != .delete && number(below: 2) == 0 {
      changed[position] = values[position]
      if kind == .update { base[position] = value(of: entity.attributes[position]) }
    }
    let count = 1 + number(below: 1_000)
    return Operation(
      id: identifier(), chain: identifier(), position: number(below: count), count: count,
      entity: entity.name, kind: kind, key: given ? nil : entity.key(of: values), changed: changed,
      base: base)
  }

  private mutating func operationBytes() -> [UInt8] {
    let operation = operation()
    let entity = operation.entity == Examples.booking.name ? Examples.booking : Examples.seat
    return operation.encoded(for: entity)
  }

  mutating func page() throws -> RowsPage {
    var writer = RowsPageWriter()
    for _ in 0..<number(below: 20) {
      let entity = element([Examples.booking, Examples.seat])
      let values = row(of: entity)
      if number(below: 3) == 0 {
        writer.left(entity, key: entity.key(of: values))
      } else {
        writer.row(entity, body: RowCoder.encode(values))
      }
    }
    let from = cursor()
    let json = writer.json(
      partition: long(), from: from, to: Cursor(version: .max, row: from.row), at: long())
    return try RowsPage(json: json)
  }
}
