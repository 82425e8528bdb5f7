import FerryCrypto
import FerryJSON
import FerryModel

/// All rows of a page, read and checked before the first of them is used.
///
/// It belongs to no thread: one may read a page while another uses the one before. It holds the
/// page's text and sixteen bytes for each value.
public struct PageRows: Sendable {
  /// The rows of one entity in a page.
  public struct Set: Sendable {
    public let entity: Entity
    /// How many rows; see `withRows`.
    public fileprivate(set) var rowCount: Int = 0
    /// The keys of rows that left the partition.
    public fileprivate(set) var left: [ObjectKey] = []
    fileprivate let firstRow: Int
    fileprivate let firstCell: Int
  }

  /// Rows that are in the partition, valid inside the closure of `withRows`.
  public struct Rows {
    fileprivate let cells: UnsafeBufferPointer<Cell>
    fileprivate let text: UnsafeBufferPointer<UInt8>
    fileprivate let others: UnsafeBufferPointer<AttributeValue>
    /// What each row adds to the sum of its partition.
    public let hashes: UnsafeBufferPointer<Int64>
    /// How many values each row has.
    public let width: Int

    public var count: Int { hashes.count }

    /// The value of an attribute, by its place in the entity.
    public func value(at position: Int, ofRow index: Int) -> EncodedValue {
      switch cells[index * width + position] {
      case .null: .null
      case .integer(let number): .integer(number)
      case .double(let number): .double(number)
      case .text(let start, let count):
        .text(UnsafeBufferPointer(rebasing: text[Int(start)..<Int(start) + Int(count)]))
      case .other(let index): .value(others[index])
      }
    }

    /// The values of a row by themselves.
    public func decoded(_ index: Int) -> [AttributeValue] {
      (0..<width).map { value(at: $0, ofRow: index).decoded }
    }
  }

  fileprivate enum Cell: BitwiseCopyable, Sendable {
    case null
    case integer(Int64)
    case double(Double)
    /// Where it stands in the page.
    case text(start: UInt32, count: UInt32)
    /// Where it stands among those that had to be converted.
    case other(Int)
  }

  /// The partition of the page.
  public let partition: Int64
  /// In the order of the page.
  public private(set) var sets: [Set] = []
  private let text: [UInt8]
  private var cells: [Cell] = []
  private var others: [AttributeValue] = []
  private var hashes: [Int64] = []

  /// Reads the whole page; errors where a row is not as the package has it.
  public init(_ page: RowsPage, of package: Package) throws(JSONError) {
    partition = page.partition
    text = page.json
    try page.withReader(of: package, hasher: SHA256Hasher(), wrap: { $0 }) {
      reader throws(JSONError) in
      while true {
        switch try reader.next() {
        case .end: return
        case .row:
          if sets.last?.entity !== reader.entity || sets.last?.left.isEmpty == false {
            begin(reader, page)
          }
          add(reader)
        case .left(let key):
          if sets.last?.entity !== reader.entity { begin(reader, page) }
          sets[sets.count - 1].left.append(key)
        }
      }
    }
  }

  /// What follows is of the set at which the reader stands.
  private mutating func begin(_ reader: borrowing RowsReader, _ page: RowsPage) {
    let entity = reader.entity
    if sets.isEmpty {
      // A value takes two bytes of the text at least, whatever number the page announces.
      let width = entity.attributes.count
      let rowCount = min(max(page.rowCount, 0), text.count / (2 * width))
      hashes.reserveCapacity(rowCount)
      cells.reserveCapacity(rowCount * width)
    }
    sets.append(Set(entity: entity, firstRow: hashes.count, firstCell: cells.count))
  }

  private mutating func add(_ reader: borrowing RowsReader) {
    sets[sets.count - 1].rowCount += 1
    hashes.append(reader.hash)
    for (position, value) in reader.values.enumerated() {
      switch value {
      case .null: cells.append(.null)
      case .integer(let number): cells.append(.integer(number))
      case .double(let number): cells.append(.double(number))
      case .text(let bytes):
        // What is read as it stands has the quotes around it.
        let start = reader.texts[position].lowerBound + 1
        cells.append(.text(start: UInt32(start), count: UInt32(bytes.count)))
      case .value(let value):
        cells.append(.other(others.count))
        others.append(value)
      }
    }
  }

  /// Gives the rows of a set to `body`; they must not leave it.
  public func withRows<Result, Failure: Error>(
    of set: Set, _ body: (Rows) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try text.withUnsafeBufferPointer { text throws(Failure) in
      try cells.withUnsafeBufferPointer { cells throws(Failure) in
        try others.withUnsafeBufferPointer { others throws(Failure) in
          try hashes.withUnsafeBufferPointer { hashes throws(Failure) in
            let width = set.entity.attributes.count
            let rows = Rows(
              cells: UnsafeBufferPointer(
                rebasing: cells[set.firstCell..<set.firstCell + set.rowCount * width]),
              text: text, others: others,
              hashes: UnsafeBufferPointer(
                rebasing: hashes[set.firstRow..<set.firstRow + set.rowCount]), width: width)
            return try body(rows)
          }
        }
      }
    }
  }
}
