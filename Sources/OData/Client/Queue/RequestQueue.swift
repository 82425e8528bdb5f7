import FerryHTTP
import FerryHTTPClient
import FerryOData
import Synchronization

/// Which of the waiting requests go first. Within a priority the order is that of adding.
public enum RequestPriority: Int, Sendable, Hashable, CaseIterable, Comparable {
  /// After all requests of high priority; the default.
  case normal
  /// Before all requests of normal priority.
  case high

  public static func < (left: RequestPriority, right: RequestPriority) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// What happens to a request in a queue.
public struct RequestEvent: Sendable {
  /// The steps of a request, in their order.
  public enum Step: Sendable {
    /// A worker has taken the request.
    case requestBegan
    /// So much has left and come.
    case progress(TransportProgress)
    /// Everything was sent; reported once the answer is complete.
    case requestEnded
    /// The HTTP code of the answer, directly before `responseEnded`.
    case responseBegan(status: Int)
    /// The last step of a success, with the whole answer.
    case responseEnded(ODataResponse)
    /// No answer, or not all of it, came; or the request was taken back.
    case interrupted(ODataClientError)
  }

  /// The number that the queue gave the request.
  public let id: Int
  /// The name that the app gave it.
  public let name: String?
  /// How far the request has come.
  public let step: Step
}

/// What a queue knows of a request that is not finished.
public struct QueuedRequest: Sendable {
  /// The number that the queue gave it.
  public let id: Int
  /// The one that the app gave it; nil for none.
  public let name: String?
  /// Decides the order among those that wait.
  public let priority: RequestPriority
  /// The first of a bundle that is still to be sent.
  public let request: ODataRequest
  /// Whether a worker has it.
  public let isUnderWay: Bool
}

/// Requests that wait for their turn: first come, first served within a priority, with a few
/// workers.
///
/// Calls of a session need no queue; one is of use where an app wants an order, bundles, a pause,
/// or progress over all. Any number of queues may be there, one for each server for example.
public actor RequestQueue {
  /// Workers of a queue that takes any number for this one where it is larger.
  public static let mostWorkers = 4
  /// Workers of a queue that refuses more.
  public static let mostConcurrentRequests = 5

  /// How many requests are sent side by side.
  public nonisolated var workers: Int { limit.withLock { $0 } }

  /// The queue of an app that needs no other: five requests at a time, over a session with the
  /// default options.
  public static let shared = RequestQueue(ODataSession(), limit: mostConcurrentRequests)

  private nonisolated let limit: Mutex<Int>
  private let session: ODataSession
  private var waiting: [Item] = []
  private var underWay: [Int: Item] = [:]
  var lastID = 0
  private var isPaused = false
  private(set) var isTerminated = false
  private var listeners: [Int: AsyncStream<RequestEvent>.Continuation] = [:]
  var signs: [Int: AsyncStream<Bool>.Continuation] = [:]
  var wasActivityShown = false
  private var finished = TransportProgress()
  private var sizes: [Int: Int] = [:]

  private struct Item {
    let id: Int
    let name: String?
    let priority: RequestPriority
    let slots: [RequestSlot]
    var requests: [ODataRequest]
    var task: Task<Void, Never>?
    var progress = TransportProgress()
  }

  /// A queue with 1 to 4 workers; a larger number becomes 4, and one below 1 becomes 1.
  public init(_ session: ODataSession, workers: Int = RequestQueue.mostWorkers) {
    self.init(session, limit: min(max(workers, 1), Self.mostWorkers))
  }

  private init(_ session: ODataSession, limit: Int) {
    self.session = session
    self.limit = Mutex(limit)
  }

  /// A queue with 1 to 5 requests at a time. Throws `call` for any other number.
  public init(
    _ session: ODataSession, concurrentRequests: Int
  ) throws(ODataClientError) {
    self.init(session, limit: try Self.allowed(concurrentRequests))
  }

  /// Changes how many requests are sent side by side, 1 to 5. What is under way goes on; throws
  /// `call` for any other number, and changes nothing.
  public func setConcurrentRequests(_ count: Int) throws(ODataClientError) {
    let allowed = try Self.allowed(count)
    limit.withLock { $0 = allowed }
    start()
  }

  private static func allowed(_ count: Int) throws(ODataClientError) -> Int {
    guard (1...mostConcurrentRequests).contains(count) else {
      throw ODataClientError(
        call: "\(count) requests at a time are not allowed", "RequestQueue",
        hint: "choose 1 to \(mostConcurrentRequests)")
    }
    return count
  }

  // What waits, and how it goes on.

  /// Requests and bundles that no worker has yet.
  public var count: Int { waiting.count }
  /// Whether anything waits or is under way.
  public var hasRequests: Bool { !waiting.isEmpty || !underWay.isEmpty }
  /// All that is not finished: under way first, then in the order in which it will be sent.
  public var requests: [QueuedRequest] {
    let now = underWay.values.sorted { $0.id < $1.id }.flatMap { Self.described($0, true) }
    return now + waiting.flatMap { Self.described($0, false) }
  }
  /// Whether a request is under way: what a sign of network activity shows.
  public var isNetworkInUse: Bool { !underWay.isEmpty }
  /// Whether `networkActivity` reports; on by default.
  public internal(set) var reportsNetworkActivity = true

  /// Adds a request and returns at once.
  ///
  /// Throws `call` where too many wait, and `cancelled` once the queue is terminated.
  @discardableResult
  public func add(
    _ request: ODataRequest, name: String? = nil, priority: RequestPriority = .normal
  ) throws(ODataClientError) -> RequestTicket {
    RequestTicket(slots: try add([request], name, priority))
  }

  /// Adds requests that one worker sends one after the other, so that their answers come in their
  /// order. An answer that is no success does not stop the bundle; `RequestTicket.cancel` does.
  @discardableResult
  public func add(
    bundle requests: [ODataRequest], name: String? = nil, priority: RequestPriority = .normal
  ) throws(ODataClientError) -> RequestTicket {
    RequestTicket(slots: try add(requests, name, priority))
  }

  /// Begins nothing new; what is under way ends.
  public func pause() { isPaused = true }

  /// Goes on after `pause`.
  public func resume() {
    isPaused = false
    start()
  }

  /// Takes a request or bundle back: what waits is never sent, what is under way is cut. The
  /// service may have done what was sent: `requestWasSent` of the error says so.
  public func cancel(_ ticket: RequestTicket) {
    if let place = waiting.firstIndex(where: { $0.id == ticket.id }) {
      let item = waiting.remove(at: place)
      for (slot, request) in zip(item.slots, item.requests) {
        finish(item, slot, Self.takenBack(request))
      }
    } else {
      underWay[ticket.id]?.task?.cancel()
    }
  }

  /// Takes everything back and ends the queue for good.
  public func terminate() {
    isTerminated = true
    for item in waiting {
      for (slot, request) in zip(item.slots, item.requests) {
        finish(item, slot, Self.takenBack(request))
      }
    }
    waiting = []
    for item in underWay.values { item.task?.cancel() }
    closeIfOver()
  }

  /// What happens from now on. It ends when the queue is terminated.
  public func events() -> AsyncStream<RequestEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: RequestEvent.self, bufferingPolicy: .bufferingNewest(ODataClientLimits.queuedRequests))
    guard !isTerminated || !underWay.isEmpty else {
      continuation.finish()
      return stream
    }
    lastID += 1
    let id = lastID
    listeners[id] = continuation
    continuation.onTermination = { [weak self] _ in
      Task { await self?.forget(id) }
    }
    return stream
  }

  /// The progress of all requests that were added since nothing waited.
  ///
  /// `toReceiveBytes` is known only after `measure`.
  public var progress: TransportProgress {
    var sum = finished
    sum.toReceiveBytes = sizes.isEmpty ? nil : sizes.values.reduce(0, +)
    for item in underWay.values {
      sum.sentBytes += item.progress.sentBytes
      sum.receivedBytes += item.progress.receivedBytes
    }
    return sum
  }

  /// Asks by HEAD how large the answers of all waiting GETs will be, with the headers of each, and
  /// returns the sum of those that say so. An answer that is no success counts for nothing.
  @discardableResult
  public func measure() async -> Int {
    let asked = waiting.flatMap { item in item.requests.map { (item.id, $0) } }
    for (id, request) in asked where request.method == .get {
      var head = request.head
      head.acceptsCompressed = false
      guard let answer = try? await session.send(head), answer.isSuccess,
        let size = answer.headers["Content-Length"].flatMap({ Int($0) })
      else { continue }
      sizes[id, default: 0] += size
    }
    return sizes.values.reduce(0, +)
  }

  // Within.

  private func add(
    _ requests: [ODataRequest], _ name: String?, _ priority: RequestPriority
  ) throws(ODataClientError) -> [RequestSlot] {
    guard !isTerminated else {
      throw ODataClientError(
        .cancelled, "RequestQueue", "make another queue: this one is terminated", wasSent: false)
    }
    guard waiting.count < ODataClientLimits.queuedRequests else {
      throw ODataClientError(
        call: "\(waiting.count) requests are already waiting", "RequestQueue",
        hint: "add more when some are answered")
    }
    if waiting.isEmpty && underWay.isEmpty {
      finished = TransportProgress()
      sizes = [:]
    }
    lastID += 1
    let slots = requests.map { _ in RequestSlot(id: lastID) }
    let item = Item(
      id: lastID, name: name, priority: priority, slots: slots, requests: requests)
    guard !requests.isEmpty else { return slots }
    let place = waiting.firstIndex { $0.priority < priority } ?? waiting.count
    waiting.insert(item, at: place)
    start()
    return slots
  }

  private func start() {
    while !isPaused, underWay.count < workers, !waiting.isEmpty {
      var item = waiting.removeFirst()
      let (id, requests) = (item.id, item.requests)
      item.task = Task { await work(id, requests) }
      underWay[id] = item
    }
    reportActivity()
  }

  private func work(_ id: Int, _ requests: [ODataRequest]) async {
    for (number, request) in requests.enumerated() {
      guard let item = underWay[id] else { break }
      let slot = item.slots[number]
      underWay[id]?.requests = Array(requests[number...])
      guard !Task.isCancelled else {
        finish(item, slot, Self.takenBack(request))
        continue
      }
      emit(item, .requestBegan)
      var watched = request
      let own = request.progress
      let (steps, report) = AsyncStream.makeStream(
        of: TransportProgress.self, bufferingPolicy: .bufferingNewest(1))
      watched.progress = { step in
        own?(step)
        report.yield(step)
      }
      let watcher = Task { for await step in steps { note(id, step) } }
      let result: Result<ODataResponse, ODataClientError>
      do throws(ODataClientError) { result = .success(try await session.send(watched)) } catch {
        result = .failure(error)
      }
      report.finish()
      await watcher.value
      if case .success(let response) = result {
        emit(item, .requestEnded)
        emit(item, .responseBegan(status: response.status))
      }
      finish(item, slot, result)
    }
    if let item = underWay.removeValue(forKey: id) {
      finished.sentBytes += item.progress.sentBytes
      finished.receivedBytes += item.progress.receivedBytes
    }
    start()
    closeIfOver()
  }

  private func note(_ id: Int, _ step: TransportProgress) {
    guard let item = underWay[id] else { return }
    underWay[id]?.progress = step
    emit(item, .progress(step))
  }

  private func finish(
    _ item: Item, _ slot: RequestSlot, _ result: Result<ODataResponse, ODataClientError>
  ) {
    switch result {
    case .success(let response): emit(item, .responseEnded(response))
    case .failure(let error): emit(item, .interrupted(error))
    }
    slot.put(result)
  }

  private func emit(_ item: Item, _ step: RequestEvent.Step) {
    let event = RequestEvent(id: item.id, name: item.name, step: step)
    for listener in listeners.values { listener.yield(event) }
  }

  private func forget(_ listener: Int) { listeners[listener] = nil }

  private func closeIfOver() {
    guard isTerminated, underWay.isEmpty else { return }
    for listener in listeners.values { listener.finish() }
    for sign in signs.values { sign.finish() }
    listeners = [:]
    signs = [:]
  }

  private static func takenBack(
    _ request: ODataRequest
  ) -> Result<ODataResponse, ODataClientError> {
    .failure(
      ODataClientError(
        .cancelled, ODataSession.name(request), "add it again, if it is still wanted",
        wasSent: false))
  }

  private static func described(_ item: Item, _ isUnderWay: Bool) -> [QueuedRequest] {
    item.requests.prefix(1).map {
      QueuedRequest(
        id: item.id, name: item.name, priority: item.priority, request: $0, isUnderWay: isUnderWay)
    }
  }
}
