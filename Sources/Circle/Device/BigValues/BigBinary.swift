import FerryModel

/// Bytes of any size that belong to an object and are not loaded with it (the reference's
/// BigBinary): a photo, a signature, a drawing.
/// ```swift
/// try photo.create()
/// try await photo.image.copyFrom(file: "/tmp/photo.jpg")
/// try photo.submitPending()
/// ```
///
/// Writing makes the object pending, like any other change; its row is sent first, then the content
/// in pieces. Reading downloads the content if it is not on the device, and otherwise uses no
/// network. Memory holds one piece of 256 KB, for content of any size.
///
/// Each call reads the object's state from the database; the app's own copy of the object shows a
/// new pending state after `refresh`.
///
/// Errors of all: `objectNotSaved` for an object that was never saved, `objectNotFound` for one
/// that was deleted, `notDownloaded` if the content is not on the device and cannot be downloaded
/// now.
public struct BigBinary: Sendable {
  let value: BigValue

  /// The big value of one attribute of one object; generated code calls this.
  public init(_ record: ObjectRecord, _ position: Int) { value = BigValue(record, position) }

  /// Whether there is no content; empty content is not null.
  public var isNull: Bool { get throws(FerryError) { try value.reference == nil } }

  /// The size in bytes; 0 for null. It is known from the row, also if the content is not on the
  /// device.
  public var length: Int64 { get throws(FerryError) { try value.length } }

  /// SHA-256 and size of the content, known from the row; nil for null. Equal references mean equal
  /// contents.
  public var reference: BigReference? { get throws(FerryError) { try value.reference } }

  /// Whether reading needs no network; true for null.
  public var isDownloaded: Bool { get throws(FerryError) { try value.isDownloaded } }

  /// The bytes that are on the device: an interrupted download continues from there.
  public var downloadedLength: Int64 { get throws(FerryError) { try value.downloadedLength } }

  /// The progress of the transfer, up or down, from now on. It reports as `BigValueProgress` says,
  /// until the iterating task is cancelled or the database is closed.
  public var progress: AsyncStream<BigValueProgress> {
    get throws(FerryError) { try value.progress }
  }

  /// Downloads the content if it is not on the device; continues an interrupted download.
  public func download() async throws(FerryError) { try await value.download() }

  /// Opens the content, downloading it first where it must. `wrongState` for null.
  public func openForRead() async throws(FerryError) -> BigReader { try await value.openForRead() }

  /// The content piece by piece; the first step downloads it if necessary.
  public var pieces: BigPieces { BigPieces(value: value) }

  /// The whole content in memory; nil for null. `tooLarge` where it has more than `limitBytes`.
  public func read(limitBytes: Int = 16 << 20) async throws(FerryError) -> [UInt8]? {
    try await value.read(limitBytes: limitBytes)
  }

  /// Writes the content into a file; after an error there is no partial file (copyToFile).
  public func copyTo(file path: String) async throws(FerryError) { try await value.copy(to: path) }
}
