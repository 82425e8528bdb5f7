import Ferry
import FerryModel

/// Big values: `["copyFrom", "Photo", "[1]", "image", "/tmp/photo.jpg"]`.
extension CommandTaker {
  /// Gives the length of the value, and how much of it is here.
  func onBigValue(
    _ name: String, _ record: Record, _ attribute: String, _ file: String
  ) async throws {
    guard let position = record.entity.position(of: attribute),
      record.entity.attributes[position].type.isBig
    else { throw Problem("\(record.entity.name) has no big value \(attribute)") }
    let value = BigBinary(record, position)
    switch name {
    case "copyFrom": try value.copyFrom(file: file)
    case "copyTo": try await value.copyTo(file: file)
    default: break
    }
    let (length, here) = (try value.length, try value.downloadedLength)
    output.write { writer in
      writer.field("ok", true)
      writer.field("length", length)
      writer.field("here", here)
    }
  }
}
