import FerryModel

/// An operation that a numbered transaction has answered, for those who wait for it.
package struct AnsweredOperation: Sendable {
  package let owner: Owner
  package let group: String
  package let chain: OperationID
  /// Whether all operations of its chain are answered now.
  package let isLastOfChain: Bool

  package init(owner: Owner, group: String, chain: OperationID, isLastOfChain: Bool) {
    self.owner = owner
    self.group = group
    self.chain = chain
    self.isLastOfChain = isLastOfChain
  }
}
