import FerryHTTP
import FerryRegistration
import FerryServer

/// Services of the gateway that ask for a connection.
extension Applications {
  /// The first part of a path that names such a service; nil: the path is none of an application's.
  private func service(_ request: HTTPRequest) -> String? {
    var parts = request.path.split(separator: "/", maxSplits: 2)
    // The door for callers who do not log in leads to the same services.
    if parts.first == "public" { parts.removeFirst() }
    let name = parts.first.map(String.init) ?? ""
    return applications.values.contains { $0.services.contains(name) } ? name : nil
  }

  /// Why a request to a service is refused by its head; nil: it is not, or the service belongs to no
  /// application.
  ///
  /// Any thread, and at once.
  package func refusal(byHead request: HTTPRequest) -> HTTPResponse? {
    guard service(request) != nil, RequestIdentity(request).connection == nil else { return nil }
    return ApplicationsRefusal(.noConnectionID).response(AnswerFormat(request))
  }

  /// The same once the register was asked: the connection is the caller's, and its application may
  /// use the service.
  package func refusal(of request: HTTPRequest) async -> HTTPResponse? {
    guard let service = service(request) else { return nil }
    do throws(ApplicationsRefusal) {
      let (connection, _) = try await connection(request, nil, of: nil)
      guard applications[connection.application]?.services.contains(service) == true else {
        throw ApplicationsRefusal(.closedService, service)
      }
      return nil
    } catch {
      // The service is there, but not for this caller.
      let isUnknown = error.code == .notRegistered
      var response = error.response(AnswerFormat(request))
      if isUnknown { response.status = 403 }
      return response
    }
  }
}
