import FerryHTTP
import FerryHTTPClient
import FerryWorld

/// A resource bundle that was downloaded.
public struct ResourceBundle: Sendable, Equatable {
  /// Its name and version, as `name:version`.
  public let id: String
  /// Where it is: a ZIP or JAR file.
  public let path: String
  public let sizeBytes: Int64
}

extension ApplicationRegistration {
  /// How often a broken download goes on without a byte between.
  static let bundleAttempts = 5

  /// Downloads a resource bundle into a file. A file that was there is replaced once the new one is
  /// whole, and stays if the download fails.
  ///
  /// `name`: `name:version`; nil: the bundle that the administrator gave the connection, or else the
  /// default of the application. A line that breaks goes on where it was. `progress` is called with the
  /// bytes so far and the size of the file.
  ///
  /// Throws `bundleNotAvailable` where there is no such bundle, and `bundleFetchFailed` where the file
  /// cannot be written or the line breaks five times in a row.
  @discardableResult
  public func bundle(
    _ name: String? = nil, to path: String,
    progress: @Sendable (_ received: Int64, _ size: Int64) -> Void = { _, _ in }
  ) async throws(RegistrationError) -> ResourceBundle {
    let state = try registered()
    let address =
      "\(profile.root)bundles/\(profile.application)/\(name.map { PercentEncoding.encode($0) } ?? "")"
    var download = BundleDownload("\(path).part")
    defer { download.drop(files) }
    var failures = 0
    while true {
      let before = download.received
      var request = request("GET", address, state)
      if let etag = download.etag, before > 0 {
        request.headers["Range"] = "bytes=\(before)-"
        request.headers["If-Range"] = etag
      }
      do throws(RegistrationError) {
        try await fetch(request, &download, progress)
        try download.finish(path, files)
        return ResourceBundle(id: download.id, path: path, sizeBytes: download.received)
      } catch {
        failures = download.received > before ? 1 : failures + 1
        let isBroken = error.code == .communicationFailed || error.code == .timedOut
        guard isBroken, download.received > 0 else { throw error }
        guard failures < ApplicationRegistration.bundleAttempts else {
          throw RegistrationError(.bundleFetchFailed, error.message)
        }
      }
    }
  }

  private func fetch(
    _ request: TransportRequest, _ download: inout BundleDownload,
    _ progress: (Int64, Int64) -> Void
  ) async throws(RegistrationError) {
    let response: TransportResponse
    var refusal: [UInt8]?
    do throws(TransportError) {
      response = try await transport.send(request)
      if response.status != 200, response.status != 206 {
        refusal = try await response.body.collect(limitBytes: 1 << 20)
      }
    } catch { throw RegistrationError(error) }
    if let refusal { throw ApplicationRegistration.error(of: response, refusal) }
    try download.begin(response, files)
    while true {
      let bytes: [UInt8]?
      do throws(TransportError) { bytes = try await response.body.next() } catch {
        throw RegistrationError(error)
      }
      guard let bytes else { break }
      try download.take(bytes)
      progress(download.received, download.size)
    }
    guard download.received == download.size else {
      throw RegistrationError(.communicationFailed, "the bundle ended too early")
    }
  }
}

/// A bundle on its way into a file beside the one that it becomes.
private struct BundleDownload {
  private let part: String
  private var file: (any FileWriter)?
  private(set) var received: Int64 = 0
  private(set) var size: Int64 = 0
  private(set) var etag: String?
  private(set) var id = ""

  init(_ part: String) { self.part = part }

  /// The answer to a first request, or to one that goes on.
  mutating func begin(
    _ response: TransportResponse, _ files: any FileAccess
  ) throws(RegistrationError) {
    let count = response.headers["Content-Length"].flatMap { Int64($0) }
    guard let count, let tag = response.headers["ETag"], let id = response.headers["X-BUNDLE-ID"]
    else { throw RegistrationError(.unreadableAnswer, "the answer is no bundle") }
    if response.status == 206 {
      guard tag == etag, response.headers["Content-Range"]?.hasPrefix("bytes \(received)-") == true
      else {
        throw RegistrationError(.unreadableAnswer, "the answer is another part of the bundle")
      }
      return
    }
    (etag, self.id, size, received) = (tag, id, count, 0)
    let part = part
    file = try BundleDownload.written(part) { () throws(FileError) in try files.create(part) }
  }

  mutating func take(_ bytes: [UInt8]) throws(RegistrationError) {
    guard let file, received + Int64(bytes.count) <= size else {
      throw RegistrationError(.unreadableAnswer, "the bundle is longer than its length")
    }
    try BundleDownload.written(part) { () throws(FileError) in try file.write(bytes) }
    received += Int64(bytes.count)
  }

  mutating func finish(_ path: String, _ files: any FileAccess) throws(RegistrationError) {
    let file = file
    try BundleDownload.written(part) { () throws(FileError) in
      try file?.finish()
      try files.move(part, to: path)
    }
    self.file = nil
  }

  /// Leaves nothing of a download that was not finished.
  mutating func drop(_ files: any FileAccess) {
    guard file != nil else { return }
    file = nil
    _ = try? files.remove(part)
  }

  private static func written<Value>(
    _ path: String, _ work: () throws(FileError) -> Value
  ) throws(RegistrationError) -> Value {
    do throws(FileError) { return try work() } catch {
      throw RegistrationError(.bundleFetchFailed, "\(path) cannot be written: \(error)")
    }
  }
}
