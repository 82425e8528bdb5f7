import FerryHTTP
import FerryHTTPClient
import FerryWire

/// Destroys the data of the device where its operator ordered it.
extension SessionRunner {
  /// Does what the order says: all of it, or nothing where changes are pending that it does not
  /// include.
  func obey(_ order: WipeOrder) async {
    let store = session.store
    do throws(FerryError) {
      let (wipe, pending) = try session.accept(order)
      guard pending == 0 || order.withPending else {
        let changes =
          pending == 1
          ? "a change that was not sent or is not answered"
          : "\(pending) changes that were not sent or are not answered"
        let error = FerryError(
          .deviceLocked, "this device is to be wiped, and has \(changes)",
          hint: "Ask your administrator. The data stays until then.")
        try session.refuseWipe(error)
        _ = await send(wipe.body(pending: pending))
        return
      }
      try wipe.mark()
      let error = FerryError(
        .wiped, "the data of this device was destroyed by order of the operator",
        hint: "Ask your administrator.")
      try session.announceWipe(error)
      await deliver()
      stop()
      store.close()
      try wipe.destroy(profile.secrets)
      await sendReceipt(of: wipe)
    } catch {
      world.log.error("the data could not be destroyed", ("reason", error.description))
    }
  }

  /// Sends what a wipe before this start owes.
  func sendOwedReceipt() async {
    guard let wipe = Wipe.begun(at: session.store.path) else { return }
    await sendReceipt(of: wipe)
  }

  private func sendReceipt(of wipe: Wipe) async {
    // Without one, or where the server knows none, there is nothing to send.
    if !wipe.receipt.isEmpty {
      guard let status = await send(wipe.body(pending: nil)), [200, 404].contains(status) else {
        return
      }
    }
    do throws(FerryError) { try wipe.end() } catch {
      world.log.error("the mark of a wipe cannot be removed", ("reason", error.description))
    }
  }

  /// The status of the answer; nil: there was none.
  func send(_ body: [UInt8], to path: String = "wiped") async -> Int? {
    do throws(TransportError) {
      let response = try await transport.send(
        TransportRequest(
          url: address(of: path), method: .post,
          headers: ["Content-Type": "application/json"], body: body,
          deadlines: TransportDeadlines(connect: profile.connectTimeout, total: .seconds(30))))
      response.body.cancel()
      return response.status
    } catch {
      return nil
    }
  }
}
