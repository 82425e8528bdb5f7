import FerryCrypto
import FerryModel

/// The contents that a run has made, so that what arrives anywhere can be compared with them.
final class MadeContents {
  private var made: [BigReference: [UInt8]] = [:]
  /// In the order in which they were made: a seed gives the same run.
  private var order: [[UInt8]] = []

  /// Into what contents are cut, and what is too large: small, so that most have several stretches.
  static let pieceBytes = 32
  static let stretchBytes = 64
  static let limitBytes: Int64 = 128
  /// What the business system gives at once.
  static let readBytes = 24
  private static let sizes = [0, 1, 31, 32, 33, 64, 64, 65, 96, 97, 128]
  private static let tooLarge = 150

  /// A text, so that it does for both types; of few lengths, so that two differ in nothing else.
  /// Now and then one that was made before, or one that is refused.
  func make(_ chance: SeededChance, like sizeBytes: Int64? = nil) -> [UInt8] {
    if chance.happens(120), !order.isEmpty { return chance.pick(order) }
    var size = chance.happens(20) ? MadeContents.tooLarge : chance.pick(MadeContents.sizes)
    if let sizeBytes, chance.happens(700) { size = Int(sizeBytes) }
    // Every stretch of it tells which content it is of.
    let mark = Array("\(order.count).".utf8)
    return add((0..<size).map { mark[$0 % mark.count] })
  }

  @discardableResult
  func add(_ bytes: [UInt8]) -> [UInt8] {
    let reference = MadeContents.reference(of: bytes)
    if made.updateValue(bytes, forKey: reference) == nil { order.append(bytes) }
    return bytes
  }

  /// Nil where nobody of this run has made such a content.
  func bytes(_ reference: BigReference) -> [UInt8]? { made[reference] }

  static func reference(of bytes: [UInt8]) -> BigReference {
    BigReference(sizeBytes: Int64(bytes.count), digest: hexadecimal(SHA256Digest.hash(bytes)))
  }
}
