import FerryConnector
import FerryModel

extension ConnectorSuite {
  /// A dateTime and a decimal that no device can have.
  private static let unfitValues: [(position: Int, value: AttributeValue)] = [
    (4, .text("infinity")), (3, .text("NaN")),
  ]

  static let unfit: [ConnectorCase] = [
    ConnectorCase("A row with a value that does not fit is named by a load and by a read alike") {
      proof in
      guard proof.stage.takesUnfitValues else { return }
      let bob = ObjectKey([.integer(2)])
      for (position, value) in unfitValues {
        let before = try proof.row(booking, ann)?[position] ?? .null
        try proof.stage.changeByOther(booking, ann, [position: value])
        let (rows, rejected) = try proof.load(booking)
        proof.equal(rows.map(\.key), [bob], "rows of the load with \(value.shown)")
        proof.equal(rejected.map(\.entity), ["Booking"], "entities that were left out")
        proof.equal(rejected.map(\.key), [ann.text], "keys that were left out")
        proof.equal(
          rejected.map(\.attribute), [booking.attributes[position].name], "attributes")
        let read = try proof.connector.read(booking, keys: [ann, bob])
        proof.equal(read.map { $0.values == nil }, [true, false], "rows without values")
        proof.equal(read.map(\.rejected), [rejected.first, nil], "what a read says of it")
        proof.expect(rejected.first?.reason.isEmpty == false, "there is no reason")
        try proof.stage.changeByOther(booking, ann, [position: before])
      }
      let image = try proof.connector.read(booking, keys: [ann]).first
      proof.equal(image?.rejected, nil, "what is said once the value is right")
      proof.equal(image?.values?[3], .text("99.95"), "the value that is right again")
      proof.equal(try proof.load(booking).rejected, [], "what a load leaves out then")
    },
    ConnectorCase("A change of a row that does not fit is performed, and says what it met") {
      proof in
      guard proof.stage.takesUnfitValues else { return }
      try proof.stage.changeByOther(booking, ann, [4: .text("infinity")])
      let (outcomes, touched) = proof.perform(
        proof.operation(
          .update, booking, ann, ["passenger": .text("Anna")], base: ["passenger": .text("Ann")]))
      proof.equal(outcomes, [.accepted(key: ann)], "outcome")
      let image = touched.first { $0.key == ann && $0.entity == "Booking" }
      proof.equal(image?.values, nil, "values of the row")
      proof.equal(image?.rejected?.attribute, "bookedAt", "the attribute that does not fit")
      proof.equal(
        image?.rejected, try proof.connector.read(booking, keys: [ann]).first?.rejected,
        "what a write and a read say of it")
    },
  ]
}
