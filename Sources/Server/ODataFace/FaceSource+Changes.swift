import FerryCrypto
import FerryModel
import FerryOData
import FerryODataService
import FerryServer
import FerryText
import FerryWire

/// Changes since a token. A token is the caller's mark, sealed with all that it belongs to.
extension FaceSource {
  func entries(
    _ set: EdmEntitySet, keys: [ODataProperties]
  ) async throws(ODataRefusal) -> [ODataEntry?] {
    try await entries(try face(set), keys: keys)
  }

  func mark(_ set: EdmEntitySet, query: String) async throws(ODataRefusal) -> String? {
    let face = try face(set)
    do throws(ServerError) {
      guard let mark = try await desk.mark(of: face.position, for: caller) else { return nil }
      return FaceMark(mark).sealed(belonging(set, query), try await desk.key())
    } catch { throw FaceSource.refusal(error) }
  }

  func changes(
    _ set: EdmEntitySet, query: String, since token: String, limit: Int
  ) async throws(ODataRefusal) -> ODataSourceChanges {
    let face = try face(set)
    do throws(ServerError) {
      let key = try await desk.key()
      let belonging = belonging(set, query)
      guard let mark = FaceMark(token, belonging, key)?.mark else {
        return .lost("It was given to another user, for another query, or by another server.")
      }
      switch try await desk.changes(of: face.position, for: caller, since: mark, limit: limit) {
      case .changed(let keys, let now):
        return .changed(
          keys.map { self.key($0, face) }, mark: FaceMark(now).sealed(belonging, key))
      case .lost(.history): return .lost("The server does not have all changes since then.")
      case .lost(.partition): return .lost("The rights of the user have changed.")
      case .lost(.tooMany): return .lost("More than \(limit) rows were changed since then.")
      }
    } catch { throw FaceSource.refusal(error) }
  }

  private func belonging(_ set: EdmEntitySet, _ query: String) -> [String] {
    [caller.name, model.package.id, set.name, query]
  }
}

/// A mark as a text that a client keeps and cannot change.
struct FaceMark {
  let mark: CallerMark

  init(_ mark: CallerMark) { self.mark = mark }

  private var text: String {
    ([Hexadecimal.encode(mark.era.utf8), String(mark.version)] + mark.partitions.map { String($0) })
      .joined(separator: "-")
  }

  /// The mark, and what says that it is of this user and query.
  func sealed(_ belonging: [String], _ key: [UInt8]) -> String {
    "\(text)-\(FaceMark.seal(text, belonging, key))"
  }

  /// Nil for a token of another user or query, and for one that was made elsewhere.
  init?(_ token: String, _ belonging: [String], _ key: [UInt8]) {
    let parts = token.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard parts.count >= 3, let seal = parts.last, let era = Hexadecimal.decode(parts[0]),
      let version = Int64(parts[1])
    else { return nil }
    let partitions = parts.dropFirst(2).dropLast().compactMap { Int64($0) }
    let text = parts.dropLast().joined(separator: "-")
    guard partitions.count == parts.count - 3,
      equalInConstantTime(
        Array(seal.utf8), Array(FaceMark.seal(text, belonging, key).utf8))
    else { return nil }
    mark = CallerMark(
      era: String(decoding: era, as: UTF8.self), version: version, partitions: partitions)
  }

  private static func seal(_ text: String, _ belonging: [String], _ key: [UInt8]) -> String {
    // With their lengths, so that no two lists are the same text.
    let parts = ["delta", text] + belonging
    let bytes = parts.flatMap { part in Array("\(part.utf8.count):\(part)".utf8) }
    return Hexadecimal.encode(SHA256Digest.authenticate(bytes, key: key).prefix(16))
  }
}
