import FerryJSON

/// Writes a feed of any size by pieces: `begin`, entries, `end`; what is written is taken out with
/// `take`, so that memory is that of what was not taken.
///
/// What is not known of the feed when it begins (a count, links, in JSON the context) is written at
/// its end; both formats leave that order open.
public struct ODataFeedWriter {
  private let composer: ODataComposer
  private let operation: ODataEntryOperation
  private var xml = XMLWriter(declaration: true)
  private var json = JSONWriter(reserving: 4_096)
  private var begun = ODataFeedHead()

  /// Writes whole entries, as a service does, unless given another operation.
  public init(_ composer: ODataComposer, _ operation: ODataEntryOperation = .archive) {
    self.composer = composer
    self.operation = operation
  }

  /// Writes what stands before the entries. Call it once, first.
  public mutating func begin(_ head: ODataFeedHead = ODataFeedHead()) throws(ODataError) {
    begun = head
    switch composer.format {
    case .atom: try AtomComposer(composer, operation).begin(head, isRoot: true, to: &xml)
    case .json: try JSONComposer(composer, operation).begin(head, to: &json)
    }
  }

  /// Writes one thing of the feed. Throws `unwritable` for what the format cannot say.
  public mutating func add(_ item: ODataItem) throws(ODataError) {
    switch composer.format {
    case .atom:
      let atom = AtomComposer(composer, operation)
      try atom.write(item, to: &xml)
      try atom.check(xml)
    case .json: try JSONComposer(composer, operation).write(item, to: &json)
    }
  }

  /// Writes what stands behind the entries. Call it once, last.
  public mutating func end(_ head: ODataFeedHead) throws(ODataError) {
    switch composer.format {
    case .atom:
      let atom = AtomComposer(composer, operation)
      try atom.end(head, begunWith: begun, to: &xml)
      try atom.check(xml)
    case .json: try JSONComposer(composer, operation).end(head, begunWith: begun, to: &json)
    }
  }

  /// The bytes that were written since the last time.
  public mutating func take() -> [UInt8] {
    composer.format == .atom ? xml.take() : json.take()
  }
}
