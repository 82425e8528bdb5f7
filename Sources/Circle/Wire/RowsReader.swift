import FerryCrypto
import FerryJSON
import FerryModel

/// Walks the rows of a page without making values of them.
///
/// The values of a row are valid until the next step.
public struct RowsReader {
  /// Where the reader stands.
  public enum Step {
    /// At a row: see `entity`, `values` and `hash`.
    case row
    /// At the key of a row that left the partition.
    case left(ObjectKey)
    case end
  }

  private enum Place { case sets, rows, left, end }

  private let package: Package
  private let hasher: SHA256Hasher
  private var scanner: JSONScanner
  private var place: Place = .sets
  private var set: RowSet?
  private var setCount: Int = 0
  private var rowCount: Int = 0
  /// Where each value of the row stands in the page.
  private(set) var texts: [Range<Int>] = []
  /// The values of the row, in the order of the entity's attributes, each checked.
  public private(set) var values: [EncodedValue] = []
  /// What the row adds to the sum of its partition.
  public private(set) var hash: Int64 = 0

  init(
    _ bytes: UnsafeBufferPointer<UInt8>, _ package: Package, _ hasher: SHA256Hasher
  ) throws(JSONError) {
    self.package = package
    self.hasher = hasher
    scanner = JSONScanner(bytes, depthLimit: WireLimits.nesting)
    _ = try RowsPage.Header(&scanner)
    try scanner.enterArray()
  }

  /// The entity of the row or key; only after a step that came to one.
  public var entity: Entity {
    guard let set else { preconditionFailure("the reader is not at a row") }
    return set.entity
  }

  /// The values by themselves.
  public var decoded: [AttributeValue] { values.map(\.decoded) }

  /// Moves to the next row or key.
  public mutating func next() throws(JSONError) -> Step {
    while true {
      switch place {
      case .sets:
        guard try scanner.nextElement() else {
          place = .end
          continue
        }
        setCount += 1
        try check(setCount, "sets", atMost: WireLimits.namesInMessage)
        set = try RowSet(&scanner, package)
        place = .rows
      case .rows:
        guard try scanner.nextElement() else {
          try set?.enterLeft(&scanner)
          place = .left
          continue
        }
        rowCount += 1
        try check(rowCount, "rows", atMost: WireLimits.rowsRead)
        try readRow()
        return .row
      case .left:
        guard try scanner.nextElement() else {
          guard try scanner.nextKey() == nil else {
            throw scanner.failure("a set has a member too many")
          }
          place = .sets
          continue
        }
        rowCount += 1
        try check(rowCount, "rows", atMost: WireLimits.rowsRead)
        return .left(try readKey())
      case .end: return .end
      }
    }
  }

  private func check(_ count: Int, _ what: String, atMost limit: Int) throws(JSONError) {
    guard count <= limit else { throw scanner.failure("a page has more than \(limit) \(what)") }
  }

  private mutating func readKey() throws(JSONError) -> ObjectKey {
    let entity = entity
    do throws(JSONError) {
      return ObjectKey(try scanner.row(types: entity.key.map { entity.attributes[$0].type }))
    } catch {
      let names = entity.key.count == 1 ? [entity.attributes[entity.key[0]].name] : []
      throw error.of([entity.name] + names)
    }
  }

  private mutating func readRow() throws(JSONError) {
    guard let set else { return }
    _ = try scanner.peek()
    let start = scanner.position
    do throws(JSONError) {
      try scanner.row(types: set.types, into: &values, texts: &texts)
    } catch {
      throw set.failure(error, at: values.count)
    }
    for position in values.indices where values[position].isNull && !set.isNullable[position] {
      let (entity, attribute) = (set.entity.name, set.entity.attributes[position].name)
      throw scanner.failure("\(entity).\(attribute) is null", [entity, attribute])
    }
    let raw = UnsafeRawBufferPointer(scanner.bytes)
    hasher.update(set.hashHead)
    for (index, position) in set.entity.key.enumerated() {
      if index > 0 { hasher.update(",") }
      hasher.update(UnsafeRawBufferPointer(rebasing: raw[texts[position]]))
    }
    hasher.update("\0")
    hasher.update(UnsafeRawBufferPointer(rebasing: raw[start..<scanner.position]))
    hash = Int64(bitPattern: hasher.finishNumber())
  }
}

extension RowsPage {
  /// Gives a reader of the page to `body`; it must not leave it.
  public func withReader<Result, Failure: Error>(
    of package: Package, hasher: SHA256Hasher, wrap: (JSONError) -> Failure,
    _ body: (inout RowsReader) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let result: Swift.Result<Result, Failure> = json.withUnsafeBufferPointer { buffer in
      var reader: RowsReader
      do throws(JSONError) { reader = try RowsReader(buffer, package, hasher) } catch {
        return .failure(wrap(error))
      }
      do throws(Failure) { return .success(try body(&reader)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
