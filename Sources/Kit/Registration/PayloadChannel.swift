import FerryHTTPClient

/// The line on which payloads come; one that breaks is opened again behind the last payload.
actor PayloadChannel {
  private let registration: ApplicationRegistration
  private var body: (any TransportBody)?
  private var bytes: [UInt8] = []
  /// Handed out, and not confirmed yet.
  private var last: Int64?
  private var failures = 0

  private let hearsSettings: Bool

  init(_ registration: ApplicationRegistration, hearsSettings: Bool) {
    self.registration = registration
    self.hearsSettings = hearsSettings
  }

  /// Of the server, which says something four times a minute.
  static let silence: Duration = .seconds(60)
  static let mostLineBytes: Int = 256 << 10

  func nextPayload() async throws(RegistrationError) -> PushedPayload? {
    while let event = try await next() {
      if case .payload(let payload) = event { return payload }
    }
    return nil
  }

  func next() async throws(RegistrationError) -> ConnectionEvent? {
    if let number = last {
      try await registration.took(number)
      last = nil
      await confirm(number)
    }
    while true {
      do throws(RegistrationError) {
        if let event = try await read() {
          if case .payload(let payload) = event { last = payload.number }
          failures = 0
          return event
        }
        // The server has ended the channel: it says why when it is opened again.
        failures += 1
        if failures > 1 { try await rest() }
      } catch {
        bytes = []
        switch error.code {
        case .notRegistered: return nil
        case .serverUnreachable, .communicationFailed, .timedOut, .serverBusy: break
        default: throw error
        }
        failures += 1
        try await rest()
      }
    }
  }

  /// Longer after each failure, up to half a minute.
  private func rest() async throws(RegistrationError) {
    let wait = Duration.seconds(failures < 5 ? 1 << failures : 30)
    do { try await Task.sleep(for: wait) } catch {
      throw RegistrationError(.cancelled, "the app has stopped to listen")
    }
  }

  /// Nil at the end of the channel.
  private func read() async throws(RegistrationError) -> ConnectionEvent? {
    while true {
      while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
        let line = Array(bytes[..<end])
        bytes.removeFirst(end + 1)
        guard !line.isEmpty else { continue }
        guard let event = ConnectionEvent(line) else {
          throw RegistrationError(.unreadableAnswer, "the channel holds something else")
        }
        return event
      }
      let body: any TransportBody
      if let open = self.body { body = open } else { body = try await open() }
      self.body = body
      do throws(TransportError) {
        guard let more = try await body.next() else {
          self.body = nil
          return nil
        }
        bytes += more
      } catch {
        self.body = nil
        throw RegistrationError(error)
      }
      guard bytes.count <= PayloadChannel.mostLineBytes else {
        throw RegistrationError(.unreadableAnswer, "a payload is larger than 256 KB")
      }
    }
  }

  private func open() async throws(RegistrationError) -> any TransportBody {
    let state = try await registration.registered()
    let address =
      "\(registration.payloadAddress(state))?after=\(state.received)"
      + (hearsSettings ? "&settings=true" : "")
    var request = registration.request("GET", address, state)
    request.deadlines.idle = PayloadChannel.silence
    let response: TransportResponse
    do throws(TransportError) { response = try await registration.transport.send(request) } catch {
      throw RegistrationError(error)
    }
    guard response.status == 200 else {
      let body = (try? await response.body.collect(limitBytes: 64 << 10)) ?? []
      throw ApplicationRegistration.error(of: response, body)
    }
    return response.body
  }

  /// Takes a payload out of the server's queue. Where it fails, the next opening of the channel does
  /// it.
  private func confirm(_ number: Int64) async {
    guard let state = try? await registration.registered() else { return }
    let address = "\(registration.payloadAddress(state))?through=\(number)"
    _ = try? await registration.send(registration.request("DELETE", address, state))
  }
}
