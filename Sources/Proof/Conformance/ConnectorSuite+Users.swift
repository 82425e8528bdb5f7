import FerryConnector
import FerryModel

/// Operations that are sent as the users who made them, where the connection says so.
extension ConnectorSuite {
  static let users: [ConnectorCase] = [
    ConnectorCase("An operation is sent as its user") { proof in
      guard proof.stage.sendsAsUser else { return }
      let (outcomes, _) = proof.perform(renamed("Anna", by: "anna", proof))
      proof.equal(outcomes, [.accepted(key: ann)], "the outcome")
      proof.equal(proof.stage.performers, ["anna"], "as whom it was sent")
    },
    ConnectorCase(
      "An operation whose user has no credential waits: nothing is done, and as nobody else"
    ) { proof in
      guard proof.stage.sendsAsUser else { return }
      let operation = renamed("Bill", by: "bill", proof)
      proof.equal(
        proof.connector.perform([operation]), .waits(for: .credential("bill")), "the result")
      proof.equal(try proof.value(booking, ann, "passenger"), .text("Ann"), "passenger")
      proof.equal(proof.stage.performers, [], "as whom something was sent")
    },
  ]

  private static func renamed(
    _ name: String, by user: String, _ proof: ConnectorProof
  ) -> ConnectorOperation {
    proof.operation(
      .update, booking, ann, ["passenger": .text(name)], base: ["passenger": .text("Ann")],
      user: user)
  }
}
