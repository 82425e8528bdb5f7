import FerryTestSupport
import Synchronization
import Testing

@testable import FerryHTTPClient

@Suite("Where receiver and reader meet")
struct MailboxTests {
  @Test(
    "A sender made to wait is told to go on, whenever the reader comes", .timeLimit(.minutes(60)))
  func pausing() async throws {
    let mailbox = Mailbox()
    let mayGoOn = Atomic<Bool>(true)
    let piece = [UInt8](repeating: 1, count: TransportLimits.bufferedBytes)
    let count = 400
    let sender = Task.detached {
      for _ in 0..<count {
        while true {
          mayGoOn.store(false, ordering: .sequentiallyConsistent)
          if piece.withUnsafeBytes({ mailbox.put($0) }) { break }
          let patience = Patience()
          while !mayGoOn.load(ordering: .sequentiallyConsistent) {
            if patience.hasEnded { return mailbox.end(nil) }
            await Task.yield()
          }
        }
      }
      mailbox.end(nil)
    }
    var received = 0
    while let bytes = try await mailbox.next(resume: {
      mayGoOn.store(true, ordering: .sequentiallyConsistent)
    }).get() {
      received += bytes.count
    }
    await sender.value
    #expect(received == count * piece.count)
  }
}
