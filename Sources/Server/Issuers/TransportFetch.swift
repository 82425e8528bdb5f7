import FerryHTTPClient

extension Issuer {
  /// Fetches documents over a transport: small ones, soon, without following anybody elsewhere.
  static func fetch(over transport: any Transport) -> IssuerKeys.Fetch {
    { address throws(IssuerError) in
      var request = TransportRequest(url: address)
      request.headers["Accept"] = "application/json"
      request.deadlines = TransportDeadlines(
        connect: .seconds(5), total: .seconds(10), idle: .seconds(5), head: .seconds(5))
      let (status, bytes): (Int, [UInt8])
      do throws(TransportError) {
        let response = try await transport.send(request)
        status = response.status
        bytes = try await response.body.collect(limitBytes: KeySet.mostBytes)
      } catch {
        throw IssuerError(
          error.code == .tooLarge ? .badDocument : .away, "\(address): \(error.message)",
          hint: "Check the address of the issuer (--issuer), and that it runs.")
      }
      guard status == 200 else {
        throw IssuerError(
          .away, "\(address) answered \(status)",
          hint: "Check the address of the issuer (--issuer), and that it runs.")
      }
      return bytes
    }
  }
}
