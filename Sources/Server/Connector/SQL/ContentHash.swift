import FerryJSON
import FerryModel

extension ConnectorOperation {
  /// FNV-1a over what the operation says: it tells two forms of one change apart in a table of
  /// operations, and guards against nobody.
  public var contentHash: String {
    var writer = JSONWriter()
    writer.beginArray()
    writer.string(entity.name)
    writer.string(kind.rawValue)
    writer.string(key?.text ?? "")
    for (position, value) in changed.sorted(by: { $0.key < $1.key }) {
      writer.string(entity.attributes[position].name)
      writer.value(value)
    }
    writer.endArray()
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in writer.bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return String(hash, radix: 16)
  }
}
