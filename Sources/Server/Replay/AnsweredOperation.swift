import FerryModel

/// An operation that a numbered transaction has answered, for those who wait for it.
struct AnsweredOperation {
  let owner: Owner
  let group: String
  let chain: OperationID
  /// Whether all operations of its chain are answered now.
  let isLastOfChain: Bool
}
