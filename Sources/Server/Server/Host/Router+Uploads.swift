import FerryHTTP

/// Log records and traces of apps: whoever may synchronize may send them.
extension Router {
  func keep(
    _ request: HTTPRequest, _ kind: DeviceUploads.Kind, of claimed: TokenIdentity
  ) async -> HTTPResponse {
    let identity: CheckedIdentity
    do throws(ServerError) { identity = try await service.check(claimed) } catch {
      return refusal(Router.status(of: error.code), error)
    }
    guard request.body.count <= DeviceUploads.bodyBytes else {
      return refusal(
        413, "tooLarge", "an upload of \(request.body.count) bytes",
        hint: "Send at most \(DeviceUploads.bodyBytes) bytes at once.")
    }
    let uploads = self.uploads
    let (user, device) = (identity.identity.user, identity.identity.device ?? "")
    // The disk keeps no other request waiting.
    let result = await Task.detached { () -> Result<DeviceUploads.Kept, DeviceUploads.Refusal> in
      do throws(DeviceUploads.Refusal) {
        return .success(try uploads.keep(request.body, kind, of: identity))
      } catch {
        return .failure(error)
      }
    }.value
    switch result {
    case .success(let kept):
      uploads.world.log.info(
        "an upload of a device was kept", ("kind", kind.rawValue), ("user", user),
        ("device", device), ("bytes", String(request.body.count)), ("file", kept.file))
      for trace in kept.traces {
        uploads.world.log.info(
          "the trace of a device was kept", ("trace", trace), ("user", user), ("file", kept.file))
      }
      return json(200, Array("{}".utf8))
    case .failure(.unreadable(let what)):
      return refusal(400, "badRequest", what, hint: "Send what LogUpload or TraceSpans makes.")
    case .failure(.disk(let reason)):
      uploads.world.log.error(
        "an upload of a device cannot be kept", ("kind", kind.rawValue), ("reason", reason))
      return refusal(503, "store", "the upload cannot be kept now", hint: "Send it again later.")
    }
  }
}
