import FerryHTTP
import FerryRegistration
import FerryServer
import Synchronization

/// Resource bundles: `GET /bundles/<application>/<name:version>`, or without a name the one that the
/// connection has.
extension Applications {
  func bundle(
    _ request: HTTPRequest, _ id: String?, _ application: Application
  ) async throws(ApplicationsRefusal) -> HTTPResponse {
    guard request.method == .get || request.method == .head else {
      throw ApplicationsRefusal(.notOffered, request.method.rawValue)
    }
    let (connection, caller) = try await connection(request, nil, of: application)
    guard let shelf = shelves[application.id] else {
      throw ApplicationsRefusal(.bundleNotAvailable, id)
    }
    let values = ConnectionValues.read(connection.properties)
    var own: String?
    if case .text(let text)? = values["CustomizationBundleId"], !text.isEmpty { own = text }
    guard let wanted = id ?? own ?? application.bundle else {
      throw ApplicationsRefusal(.bundleNotAvailable)
    }
    guard let bundle = shelf.bundle(wanted), let file = OpenFile(path: bundle.path),
      file.etag == bundle.etag
    else { throw ApplicationsRefusal(.bundleNotAvailable, String(wanted.prefix(129))) }
    return completed(Applications.answer(request, bundle, file), caller)
  }

  /// The whole file, a range of it, or that the caller has it (RFC 9110).
  static func answer(
    _ request: HTTPRequest, _ bundle: BundleFile, _ file: OpenFile
  ) -> HTTPResponse {
    var headers: HTTPHeaders = [
      "ETag": bundle.etag, "Accept-Ranges": "bytes", "Cache-Control": "private, no-cache",
      "X-BUNDLE-EXTENSION": bundle.ending, "X-BUNDLE-ID": bundle.id,
    ]
    if request.headers["If-None-Match"] == bundle.etag {
      return HTTPResponse(status: 304, headers: headers)
    }
    headers["Content-Type"] =
      bundle.ending == "jar" ? "application/java-archive" : "application/zip"
    let size = bundle.sizeBytes
    var stretch: Range<Int64> = 0..<size
    var status = 200
    // A range of another state of the file would be mixed with this one.
    let condition = request.headers["If-Range"]
    if let text = request.headers["Range"], condition == nil || condition == bundle.etag {
      switch ByteRange.read(text, of: size) {
      case .none: break
      case .some(.none):
        headers["Content-Range"] = "bytes */\(size)"
        return HTTPResponse(status: 416, headers: headers)
      case .some(.some(let range)):
        stretch = range
        status = 206
        headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
      }
    }
    headers["Content-Length"] = String(stretch.count)
    return HTTPResponse(
      status: status, headers: headers, body: .stream(FileBody(file, stretch)))
  }
}

/// The header `Range` with one range of bytes (RFC 9110, 14.2).
enum ByteRange {
  /// Nil: the header is to be ignored. Inner nil: no byte of the range is there.
  static func read(_ text: String, of size: Int64) -> Range<Int64>?? {
    guard text.hasPrefix("bytes="), !text.contains(",") else { return .none }
    let sides = text.dropFirst(6).split(
      separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard sides.count == 2, sides.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
    else { return .none }
    switch (Int64(sides[0]), Int64(sides[1])) {
    case (nil, let count?) where sides[0].isEmpty:
      return count > 0 && size > 0 ? .some(max(0, size - count)..<size) : .some(nil)
    case (let start?, nil) where sides[1].isEmpty:
      return start < size ? .some(start..<size) : .some(nil)
    case (let start?, let last?) where start <= last:
      return start < size ? .some(start..<min(last + 1, size)) : .some(nil)
    default: return .none
    }
  }
}

/// A stretch of a file, read as the line takes it.
private final class FileBody: HTTPBodySource {
  private let file: OpenFile
  private let stretch: Mutex<Range<Int64>>
  private static let pieceBytes: Int64 = 128 << 10

  init(_ file: OpenFile, _ stretch: Range<Int64>) {
    self.file = file
    self.stretch = Mutex(stretch)
  }

  func next() async -> HTTPBodyPiece {
    let stretch = stretch.withLock { $0 }
    guard !stretch.isEmpty else { return .end }
    let count = min(Int64(stretch.count), FileBody.pieceBytes)
    guard let bytes = file.read(at: stretch.lowerBound, count: Int(count)), !bytes.isEmpty else {
      return .abort
    }
    self.stretch.withLock { $0 = stretch.lowerBound + Int64(bytes.count)..<stretch.upperBound }
    return .bytes(bytes)
  }
}
