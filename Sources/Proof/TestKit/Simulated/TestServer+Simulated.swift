import Ferry

/// What a simulated test needs of its server.
extension TestServer {
  /// During a request of a simulated device.
  func restartInRun() async {
    do throws(FerryError) { try await restart() } catch {
      SimulatedSeed.current?.fail("the server does not start again: \(error)")
    }
  }

  /// Waits until the server has performed what it can; what waits for something else stays.
  func becomeQuiet() async {
    var (last, rounds) = (Int.max, 0)
    while true {
      let waiting = await host.waitingOperations()
      guard waiting > 0 else { return }
      rounds = waiting < last ? 0 : rounds + 1
      last = waiting
      guard rounds < 100 else { return }
      await host.wait(for: .milliseconds(1))
    }
  }
}
