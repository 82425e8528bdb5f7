import Ferry
import FerryModel

/// Big values: `["copyFrom", "Photo", "[1]", "image", "/tmp/photo.jpg"]`.
extension CommandTaker {
  /// Gives the length of the value, and how much of it is here; for `walk` the length of what was
  /// read, a text in stretches.
  func onBigValue(
    _ name: String, _ record: ObjectRecord, _ attribute: String, _ file: String
  ) async throws {
    guard let position = record.entity.position(of: attribute),
      record.entity.attributes[position].type.isBig
    else { throw Problem("\(record.entity.name) has no big value \(attribute)") }
    let value = BigBinary(record, position)
    let text =
      record.entity.attributes[position].type == .bigString ? BigString(record, position) : nil
    var walked: Int64?
    switch (name, text) {
    case ("copyFrom", let text?): try text.copyFrom(file: file)
    case ("copyFrom", nil): try value.copyFrom(file: file)
    case ("copyTo", let text?): try await text.copyTo(file: file)
    case ("copyTo", nil): try await value.copyTo(file: file)
    case ("walk", let text?):
      let reader = try await text.openForRead()
      var bytes: Int64 = 0
      while let stretch = try reader.read(upTo: 1 << 16) { bytes += Int64(stretch.utf8.count) }
      walked = bytes
    default: break
    }
    let (length, here) = (try walked ?? value.length, try value.downloadedLength)
    output.write { writer in
      writer.field("ok", true)
      writer.field("length", length)
      writer.field("here", here)
    }
  }
}
