import FerryHTTP
import FerryModel
import FerryServer
import FerryWire

extension FuzzTarget {
  /// Requests about contents of big values, as the server's router sees them, and the answers to
  /// them, as a device does.
  static let contents = FuzzTarget(
    "contents",
    afterHeader: { bytes in
      guard let request = contentRequest(bytes), request.method == .put,
        ContentPiece(request) != nil
      else { return nil }
      return request.body
    },
    run: { bytes in
      guard let request = contentRequest(bytes) else { return nil }
      if let piece = ContentPiece(request), let broken = broken(piece) { return broken }
      if let question = ContentQuestion(request), let broken = broken(question) { return broken }
      guard let progress = ContentProgress(json: request.body) else { return nil }
      guard progress.offset >= 0, progress.offset <= progress.sizeBytes else {
        return "the server has \(progress.offset) bytes of \(progress.sizeBytes)"
      }
      return ContentProgress(json: progress.json) == progress ? nil : "written it is read otherwise"
    })

  private static func broken(_ piece: ContentPiece) -> String? {
    let range = piece.range
    if piece.attribute.isEmpty || piece.attribute.contains("/") {
      return "an attribute that is none"
    }
    if ContentRange(range.text) != range { return "a range written is read otherwise" }
    guard let start = range.start else { return range.count == 0 ? nil : "a question has bytes" }
    return start >= 0 && range.count > 0 && range.count <= range.sizeBytes
      && start <= range.sizeBytes - range.count ? nil : "a piece lies outside of its content"
  }

  private static func broken(_ question: ContentQuestion) -> String? {
    let stretch = question.stretch
    if ContentStretch(stretch.text) != stretch { return "a stretch written is read otherwise" }
    for size in [0, 1, stretch.start, .max] {
      guard (0...size).contains(stretch.end(of: size)) else {
        return "a stretch ends outside of a content of \(size) bytes"
      }
    }
    if let tag = question.wanted, let reference = BigReference(String(tag.dropFirst().dropLast())),
      tag.dropFirst().dropLast() != reference.description
    {
      return "a reference has two forms"
    }
    guard let entity = business.entity(named: "Thing"),
      let values = question.key.values(of: entity)
    else { return nil }
    return ObjectKey(values).values(of: entity) == values ? nil : "a key written is read otherwise"
  }

  /// A request in lines: method and address, the range, the tag or the digest, then the body.
  private static func contentRequest(_ bytes: [UInt8]) -> HTTPRequest? {
    let lines = bytes.split(separator: 0x0A, maxSplits: 3, omittingEmptySubsequences: false)
    guard lines.count == 4, let first = String(validating: lines[0], as: UTF8.self),
      let range = String(validating: lines[1], as: UTF8.self),
      let tag = String(validating: lines[2], as: UTF8.self)
    else { return nil }
    let words = first.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, words[1].hasPrefix("/") else { return nil }
    let sides = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let isPut = words[0] == "PUT"
    return HTTPRequest(
      method: isPut ? .put : .get, path: String(sides[0]),
      query: sides.count == 2 ? String(sides[1]) : nil,
      headers: isPut
        ? ["Content-Range": range, "Content-Digest": tag] : ["Range": range, "If-Match": tag],
      body: Array(lines[3]))
  }
}
