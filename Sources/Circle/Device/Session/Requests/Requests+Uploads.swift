import FerryHTTP
import FerryModel
import FerrySQLite
import FerryWire

/// Contents on their way to the server: one piece at a time, behind the operations that name them.
///
/// Where a content goes on is the server's word alone. It is asked once after each start, and said
/// with each piece after that; nothing of it is kept on the device.
extension Requests {
  /// Nil if no piece is left to send.
  func nextUpload() throws(FerryError) -> SessionRequest? {
    let upload = try store.withSnapshot { transaction throws(FerryError) in
      try Uploads(transaction).next()
    }
    guard let upload else {
      core.happened(.pieceUploaded)
      return nil
    }
    let request = try uploadRequest(upload)
    core.happened(.sent(bytes: request.body.count))
    return request
  }

  private func uploadRequest(_ upload: Upload) throws(FerryError) -> SessionRequest {
    let size = upload.reference.sizeBytes
    var bytes: [UInt8] = []
    var range = ContentRange(sizeBytes: size)
    if let offset = uploadOffsets[upload.reference], offset < size {
      bytes = try Contents(store).bytes(of: upload.content, from: offset)
      bytes.removeLast(max(0, bytes.count - store.contentSizes.piece))
      // What a damaged database lacks goes as zeros: the whole is then not what the change names,
      // and the app hears so by a refusal.
      if bytes.isEmpty {
        let missing = min(size - offset, Int64(store.contentSizes.piece))
        bytes = [UInt8](repeating: 0, count: Int(missing))
      }
      range = ContentRange(start: offset, count: Int64(bytes.count), sizeBytes: size)
    }
    var reception = Reception(.upload, upload: upload)
    reception.era = try store.setting(.uploadEra)
    receptions[.exchange] = reception
    let token = try core.tokens.token(.accessToken)
    var request = SessionRequest(
      lane: .exchange,
      path: "content/\(upload.operation)/\(PercentEncoding.encode(upload.attribute))",
      body: bytes, token: token)
    request.method = .put
    request.headers = ["Content-Range": range.text]
    if !bytes.isEmpty { request.headers["Content-Digest"] = ContentDigest.text(of: bytes) }
    return request
  }

  /// The server's answer to a piece.
  func uploaded(_ reception: Reception) throws(FerryError) {
    guard let upload = reception.upload else { return }
    guard try store.setting(.uploadEra) == reception.era else {
      // The answer is older than a restart or a restore of the server that the device knows of by now.
      // It says nothing of the present one, which is asked anew.
      uploadOffsets[upload.reference] = nil
      return core.happened(.pieceUploaded)
    }
    switch reception.status {
    case 200, 409:
      guard let progress = ContentProgress(json: reception.text),
        progress.sizeBytes == upload.reference.sizeBytes
      else {
        return fail(
          .exchange,
          FerryError(
            .protocolViolation, "the answer to a piece cannot be read",
            hint: "Check that a Ferry server is at this address.", isTransient: true))
      }
      let before = uploadOffsets.updateValue(progress.offset, forKey: upload.reference)
      if progress.isWhole { try endUpload(upload) }
      if let told = upload.progress(progress.offset), told.isWorthTelling(after: before) {
        core.tell(told)
      }
    case 404, 410:
      // What the server says of the operation itself comes with an exchange.
      try endUpload(upload)
    case 400:
      // Torn on its way: asked again where it goes on.
      uploadOffsets[upload.reference] = nil
      return try refused(.exchange, reception)
    default: return try refused(.exchange, reception)
    }
    core.happened(.pieceUploaded)
    core.lastFailure = nil
  }

  private func endUpload(_ upload: Upload) throws(FerryError) {
    try store.withTransaction { transaction throws(FerryError) in
      try Uploads(transaction).end(upload)
    }
    uploadOffsets[upload.reference] = nil
    // The answer can come now.
    core.happened(.contentUploaded)
  }
}
