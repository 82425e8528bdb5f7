import FerryModel

/// Bytes of any size that belong to an object and are not loaded with it (the reference's BigBinary,
/// facts/1.5): a photo, a signature, a drawing.
///
/// ```swift
/// try photo.create()
/// try await photo.image.copyFrom(file: "/tmp/photo.jpg")
/// try photo.submitPending()
/// ```
/// Writing makes the object pending, like any other change; its row is sent first, the content in
/// pieces behind it. Reading downloads the content where it is not on the device, and asks for
/// nothing where it is. Memory is that of one piece, 256 KB, whatever the size.
///
/// Each call looks at the object as the database has it; the app's own copy of the object learns of
/// a new pending state by `refresh`.
///
/// Errors of all: `objectNotSaved` for an object that was never saved, `objectNotFound` for one that
/// is gone, `notDownloaded` where the content is not here and cannot be had now.
public struct BigBinary: Sendable {
  let value: BigValue

  /// Of one attribute of one object; what generated code calls.
  public init(_ record: Record, _ position: Int) { value = BigValue(record, position) }

  /// Whether there is no content at all; an empty one is not null.
  public var isNull: Bool { get throws(FerryError) { try value.reference == nil } }

  /// In bytes; 0 for null. Known with the row, whether the content is here or not.
  public var length: Int64 { get throws(FerryError) { try value.length } }

  /// SHA-256 and size of the content, known with the row; nil for null. Equal ones are equal values.
  public var reference: BigReference? { get throws(FerryError) { try value.reference } }

  /// Whether reading needs no network; true for null.
  public var isDownloaded: Bool { get throws(FerryError) { try value.isDownloaded } }

  /// Bytes that are on the device: a download that broke goes on from there.
  public var downloadedLength: Int64 { get throws(FerryError) { try value.downloadedLength } }

  /// How far the content is on its way, up or down, from now on: told as `BigValueProgress` says, until
  /// the task that iterates is cancelled or the database is closed.
  public var progress: AsyncStream<BigValueProgress> {
    get throws(FerryError) { try value.progress }
  }

  /// Brings the content onto the device, where it is not; goes on where the last try ended.
  public func download() async throws(FerryError) { try await value.download() }

  /// Opens the content, downloading it first where it must. `wrongState` for null.
  public func openForRead() async throws(FerryError) -> BigReader { try await value.openForRead() }

  /// The content piece by piece, downloaded at the first step where it must.
  public var pieces: BigPieces { BigPieces(value: value) }

  /// The whole content in memory; nil for null. `tooLarge` where it has more than `limitBytes`.
  public func read(limitBytes: Int = 16 << 20) async throws(FerryError) -> [UInt8]? {
    try await value.read(limitBytes: limitBytes)
  }

  /// Writes the content into a file, which is there whole or not at all (copyToFile).
  public func copyTo(file path: String) async throws(FerryError) { try await value.copy(to: path) }
}
