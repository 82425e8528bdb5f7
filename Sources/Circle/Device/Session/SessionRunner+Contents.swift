import FerryHTTP
import FerryHTTPClient
import FerryModel
import FerryWire

/// Contents that the app asks for: a request beside the session's own, carried here and decided by
/// `ContentDownload`.
extension SessionRunner {
  func fetch(_ place: ContentPlace) async throws(FerryError) {
    var download = ContentDownload(session, place)
    while true {
      switch try download.next() {
      case .done: return
      case .synchronize:
        do throws(FerryError) {
          try await synchronize(awaitsAnswers: false, within: profile.session.patience)
        } catch { throw download.missing(error) }
      case .send(let request):
        let reference = request.reference
        if fetching.contains(reference) {
          // Somebody else of this process is at it.
          await withCheckedContinuation { continuation in
            // A task that prefers an executor may have left the actor since it looked.
            guard fetching.contains(reference) else { return continuation.resume() }
            fetchWaiters[reference, default: []].append(continuation)
          }
          continue
        }
        fetching.insert(reference)
        defer {
          fetching.remove(reference)
          for waiter in fetchWaiters.removeValue(forKey: reference) ?? [] { waiter.resume() }
        }
        try await carry(request, &download)
      }
    }
  }

  private func carry(
    _ request: ContentRequest, _ download: inout ContentDownload
  ) async throws(FerryError) {
    download.begin(request)
    var headers: HTTPHeaders = [:]
    for (name, value) in request.headers { headers[name] = value }
    let call = TransportRequest(
      url: address(of: request.path), method: .get, headers: headers,
      deadlines: TransportDeadlines(
        connect: profile.connectTimeout, total: nil, idle: profile.session.silence))
    var failure: FerryError?
    var ownFailure: FerryError?
    do throws(TransportError) {
      let response = try await transport.send(call)
      defer { response.body.cancel() }
      download.received(status: response.status)
      reading: while let bytes = try await response.body.next() {
        do throws(FerryError) {
          guard try download.received(bytes) else { break reading }
        } catch {
          ownFailure = error
          break reading
        }
      }
    } catch {
      failure = FerryError.offline(error)
    }
    if let ownFailure { throw download.missing(ownFailure) }
    try download.ended(failure)
  }
}
