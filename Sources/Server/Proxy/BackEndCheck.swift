import FerryHTTP
import FerryHTTPClient

extension BackEnd {
  /// A way to this service and to nothing else.
  package func makeTransport() -> any Transport { CurlTransport(options) }

  /// Asks the service for its first page; nil where it answers, else why it is no use.
  package func check() async -> String? {
    var request = TransportRequest(url: address)
    if case .technical(let authorization) = credentials {
      request.headers["Authorization"] = authorization
    }
    request.headers["X-Requested-With"] = "ferry check"
    request.isForwarded = true
    request.deadlines = TransportDeadlines(
      connect: limits.connect, total: limits.connect + limits.idle, idle: limits.idle)
    do throws(TransportError) {
      let answer = try await makeTransport().send(request)
      answer.body.cancel()
      switch answer.status {
      case 401, 403:
        guard case .technical = credentials else { return nil }
        return "it refuses the credentials of the file with status \(answer.status)"
      case 500...: return "it answers with status \(answer.status)"
      default: return nil
      }
    } catch {
      return error.message
    }
  }
}
