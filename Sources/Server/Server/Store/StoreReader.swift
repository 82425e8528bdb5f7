/// A connection to the store that only reads, for a thread of its own.
///
/// Use it from one thread. What it shows was committed before `snapshot` was called, or meanwhile.
package protocol StoreReader: AnyObject {
  /// Reads everything in `body` from one state of the store.
  func snapshot<Result>(
    _ body: (any StoreSnapshot) throws(StoreError) -> Result
  ) throws(StoreError) -> Result
}

/// Opens a reader, on the thread that is to use it.
package typealias StoreReaderMaker = @Sendable () throws(StoreError) -> any StoreReader
