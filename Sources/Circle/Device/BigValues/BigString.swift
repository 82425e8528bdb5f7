import FerryModel

/// A text of any size that belongs to an object and is not loaded with it (the reference's
/// BigString): a report, a contract.
///
/// The rules of `BigBinary` apply to it too. It is stored and sent as UTF-8; sizes are in bytes of
/// UTF-8.
public struct BigString: Sendable {
  let value: BigValue

  /// The big value of one attribute of one object; generated code calls this.
  public init(_ record: ObjectRecord, _ position: Int) { value = BigValue(record, position) }

  /// Whether there is no text; an empty text is not null.
  public var isNull: Bool { get throws(FerryError) { try value.reference == nil } }

  /// The size in bytes of UTF-8; 0 for null.
  public var length: Int64 { get throws(FerryError) { try value.length } }

  /// SHA-256 and size of the UTF-8, known from the row; nil for null.
  public var reference: BigReference? { get throws(FerryError) { try value.reference } }

  /// Whether reading needs no network; true for null.
  public var isDownloaded: Bool { get throws(FerryError) { try value.isDownloaded } }

  /// The progress of the transfer, up or down, from now on. It reports as `BigValueProgress` says,
  /// until the iterating task is cancelled or the database is closed.
  public var progress: AsyncStream<BigValueProgress> {
    get throws(FerryError) { try value.progress }
  }

  /// Downloads the text if it is not on the device; continues an interrupted download.
  public func download() async throws(FerryError) { try await value.download() }

  /// Opens the text, downloading it first where it must. `wrongState` for null.
  public func openForRead() async throws(FerryError) -> BigTextReader {
    BigTextReader(try await value.openForRead())
  }

  /// The whole text in memory; nil for null. `tooLarge` where it has more than `limitBytes`.
  public func read(limitBytes: Int = 16 << 20) async throws(FerryError) -> String? {
    try await value.read(limitBytes: limitBytes).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Writes the text into a file as UTF-8; after an error there is no partial file (copyToFile).
  public func copyTo(file path: String) async throws(FerryError) { try await value.copy(to: path) }
}

/// Reads a text from its beginning, in constant memory; it never splits a code point.
public final class BigTextReader: Sendable {
  private let bytes: BigReader

  init(_ bytes: BigReader) { self.bytes = bytes }

  /// The size in bytes of UTF-8.
  public var length: Int64 { bytes.length }

  /// The position of the next `read`, in bytes of UTF-8.
  public var position: Int64 { bytes.position }

  /// The next part, at most `count` bytes of UTF-8 (at least 4); nil at the end.
  ///
  /// A letter of several code points may be split over two parts; joined they are complete.
  public func read(upTo count: Int) throws(FerryError) -> String? {
    let start = bytes.position
    guard var piece = try bytes.read(upTo: max(4, count)) else { return nil }
    // The rest of a code point that was cut comes with the next stretch.
    var cut = piece.count
    while cut > 0, cut > piece.count - 4, piece[cut - 1] & 0xC0 == 0x80 { cut -= 1 }
    if cut > 0, start + Int64(piece.count) < bytes.length {
      let lead = piece[cut - 1]
      let wanted = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2
      if piece.count - (cut - 1) < wanted {
        piece.removeLast(piece.count - (cut - 1))
        try bytes.seek(to: start + Int64(piece.count))
      }
    }
    return String(decoding: piece, as: UTF8.self)
  }

  /// Frees the piece in memory; afterwards nothing can be read.
  public func close() { bytes.close() }
}
