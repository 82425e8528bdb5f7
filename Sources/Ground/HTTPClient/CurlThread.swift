#if canImport(Glibc)
  import CCurl
  import Glibc
  import Synchronization

  /// The one thread on which libcurl moves all transfers of a transport.
  ///
  /// `@unchecked Sendable`: `transfers` is touched only on the thread; `multi` is made before it
  /// begins and otherwise used by others only for `curl_multi_wakeup`, which libcurl allows from
  /// any thread, under the lock that also guards its end.
  final class CurlThread: @unchecked Sendable {
    enum Command {
      case add(CurlTransfer)
      case remove(CurlTransfer)
      /// The reader has caught up.
      case goOn(CurlTransfer)
    }

    private struct State {
      var commands: [Command] = []
      var isRunning = false
      var isQuitting = false
      var multi: UnsafeMutableRawPointer?
    }

    private let options: TransportOptions
    private let state = Mutex(State())
    private var transfers: [UnsafeMutableRawPointer: CurlTransfer] = [:]
    /// Transfers under way to each server, and those that wait for their turn, first come first.
    private var busy: [String: Int] = [:]
    private var waiting: [CurlTransfer] = []

    /// Once per process, before any other use (libcurl's rule).
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// How often a silent transfer's deadline is looked at.
    private static let tickMilliseconds: CInt = 100

    init(_ options: TransportOptions) { self.options = options }

    /// Any thread. The first command begins the thread.
    func post(_ command: Command) {
      state.withLock { state in
        guard !state.isQuitting else { return }
        state.commands.append(command)
        if !state.isRunning { begin(&state) }
        if let multi = state.multi { curl_multi_wakeup(multi) }
      }
    }

    func quit() {
      state.withLock { state in
        state.isQuitting = true
        if let multi = state.multi { curl_multi_wakeup(multi) }
      }
    }

    private func begin(_ state: inout State) {
      guard Self.isReady, let multi = curl_multi_init() else {
        return fail(&state, "libcurl cannot be made ready")
      }
      state.multi = multi
      let held = Unmanaged.passRetained(self)
      var thread = pthread_t()
      let status = pthread_create(
        &thread, nil,
        { context in
          guard let context else { return nil }
          let own = Unmanaged<CurlThread>.fromOpaque(context).takeRetainedValue()
          own.run()
          return nil
        }, held.toOpaque())
      guard status == 0 else {
        held.release()
        curl_multi_cleanup(multi)
        state.multi = nil
        return fail(&state, "no further thread: \(String(cString: strerror(status)))")
      }
      pthread_detach(thread)
      state.isRunning = true
    }

    private func fail(_ state: inout State, _ message: String) {
      for case .add(let transfer) in state.commands {
        transfer.mailbox.end(
          TransportError(
            code: .other, message: message, hint: "Check the limits of this process.",
            isTransient: true, requestWasSent: false))
      }
      state.commands = []
    }

    private func run() {
      guard let multi = state.withLock({ $0.multi }) else { return }
      while true {
        let (commands, isQuitting) = state.withLock { state in
          defer { state.commands = [] }
          return (state.commands, state.isQuitting)
        }
        for command in commands { perform(command, multi) }
        if isQuitting { break }
        var running: CInt = 0
        curl_multi_perform(multi, &running)
        takeFinished(multi)
        giveUpSilent(multi)
        letOn(multi)
        let isIdle = transfers.isEmpty && waiting.isEmpty
        curl_multi_poll(multi, nil, 0, isIdle ? 60_000 : Self.tickMilliseconds, nil)
      }
      for transfer in waiting { transfer.mailbox.end(.cancelled(wasSent: false)) }
      for transfer in Array(transfers.values) {
        remove(transfer, multi)
        transfer.mailbox.end(.cancelled(wasSent: transfer.mailbox.wasSent))
      }
      state.withLock { $0.multi = nil }
      curl_multi_cleanup(multi)
    }

    private func perform(_ command: Command, _ multi: UnsafeMutableRawPointer) {
      switch command {
      case .add(let transfer):
        // Cancelled before it began.
        guard !transfer.mailbox.isOver else { return }
        waiting.append(transfer)
        letOn(multi)
      case .remove(let transfer):
        remove(transfer, multi)
      case .goOn(let transfer):
        guard let easy = transfer.easy else { return }
        transfer.touch()
        curl_easy_pause(easy, CURLPAUSE_CONT)
      }
    }

    /// Begins what waits and may go on: no server gets more at a time than the options allow.
    private func letOn(_ multi: UnsafeMutableRawPointer) {
      guard !waiting.isEmpty else { return }
      let limit = max(1, options.connectionsPerHost)
      var later: [CurlTransfer] = []
      for transfer in waiting where !transfer.mailbox.isOver {
        guard busy[transfer.server, default: 0] < limit else {
          later.append(transfer)
          continue
        }
        guard let easy = transfer.open(options) else {
          transfer.finish(CURLE_OUT_OF_MEMORY)
          continue
        }
        transfers[easy] = transfer
        busy[transfer.server, default: 0] += 1
        curl_multi_add_handle(multi, easy)
      }
      waiting = later
    }

    private func remove(_ transfer: CurlTransfer, _ multi: UnsafeMutableRawPointer) {
      guard let easy = transfer.easy else { return }
      let left = busy[transfer.server, default: 1] - 1
      busy[transfer.server] = left > 0 ? left : nil
      curl_multi_remove_handle(multi, easy)
      transfer.close()
      transfers[easy] = nil
    }

    private func takeFinished(_ multi: UnsafeMutableRawPointer) {
      var left: CInt = 0
      while let message = curl_multi_info_read(multi, &left) {
        guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
          let transfer = transfers[easy]
        else { continue }
        let code = message.pointee.data.result
        remove(transfer, multi)
        transfer.finish(code)
      }
    }

    private func giveUpSilent(_ multi: UnsafeMutableRawPointer) {
      let now = ContinuousClock.now
      for transfer in Array(transfers.values) {
        if transfer.isThrottled, transfer.bandwidth?.isThrottled != true, let easy = transfer.easy {
          transfer.isThrottled = false
          curl_easy_pause(easy, CURLPAUSE_CONT)
        }
        guard let error = transfer.givenUp(now, isWaiting: false) else { continue }
        remove(transfer, multi)
        transfer.mailbox.end(error)
      }
      for transfer in waiting {
        if let error = transfer.givenUp(now, isWaiting: true) { transfer.mailbox.end(error) }
      }
    }
  }
#endif
