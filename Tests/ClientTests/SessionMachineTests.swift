import FerryWorld
import Testing

@testable import Ferry

@Suite struct SessionMachineTests {
  private let now = Timestamp(milliseconds: 1_000_000)

  private var waiting: SessionMachine.Facts {
    var facts = SessionMachine.Facts()
    facts.hasRefreshToken = true
    facts.accessTokenExpires = now.advanced(by: .seconds(86_400))
    facts.isSubscribed = true
    facts.hasOutgoing = true
    return facts
  }

  /// In the background, and in its first exchange.
  private func exchanging(_ facts: SessionMachine.Facts) -> SessionMachine {
    var machine = SessionMachine(settings: SessionSettings())
    machine.take(.background(isOn: true), now: now)
    #expect(machine.next(facts, now: now) == .exchange)
    return machine
  }

  @Test("A device that was told no does not ask again and again, though it has something to send")
  func stopped() {
    var machine = exchanging(waiting)
    machine.take(.stopped(.exchange), now: now)
    let later = now.advanced(by: .seconds(300))
    #expect(machine.next(waiting, now: now) == .wait(until: later))
    #expect(machine.next(waiting, now: now.advanced(by: .seconds(299))) == .wait(until: later))
    var asked = machine
    asked.take(.woken, now: now)
    #expect(asked.next(waiting, now: now) == .exchange)
    #expect(machine.next(waiting, now: later) == .exchange)
  }

  @Test(
    "A channel whose place went to another is tried again after 30 s, and polled for until then")
  func replaced() {
    var facts = waiting
    facts.hasOutgoing = false
    var machine = exchanging(waiting)
    machine.take(.succeeded(.exchange, facts), now: now)
    #expect(machine.next(facts, now: now) == .openChannel)
    machine.take(.heard(.channel), now: now)
    machine.take(.channelRefused, now: now)
    // Bytes that come behind the last word do not open it again.
    machine.take(.heard(.channel), now: now)
    machine.take(.succeeded(.channel, facts), now: now)
    let poll = now.advanced(by: SessionSettings().pollInterval)
    #expect(machine.next(facts, now: now) == .wait(until: poll))
    #expect(machine.next(facts, now: poll) == .exchange)
    let later = now.advanced(by: .seconds(30))
    machine.take(.succeeded(.exchange, facts), now: later)
    #expect(machine.next(facts, now: later) == .openChannel)
  }

  @Test("What goes well on one lane does not shorten the pause of the other, which was stopped")
  func stoppedBeside() {
    var machine = exchanging(waiting)
    machine.take(.stopped(.channel), now: now)
    let later = now.advanced(by: .seconds(300))
    machine.take(.pieceUploaded, now: now)
    #expect(machine.next(waiting, now: now) == .wait(until: later))
    machine.take(.succeeded(.exchange, waiting), now: now)
    #expect(machine.next(waiting, now: now) == .wait(until: later))
    #expect(machine.next(waiting, now: later) == .exchange)
  }

  @Test(
    "A background synchronization that is stopped closes its channel, and opens one when begun again"
  )
  func channelEnds() {
    var idle = waiting
    idle.hasOutgoing = false
    var machine = exchanging(idle)
    machine.take(.succeeded(.exchange, idle), now: now)
    #expect(machine.next(idle, now: now) == .openChannel)
    var opening = machine
    opening.take(.background(isOn: false), now: now)
    #expect(opening.next(idle, now: now) == .cancel(.channel))
    machine.take(.heard(.channel), now: now)
    #expect(machine.isChannelOpen)
    machine.take(.background(isOn: false), now: now)
    #expect(machine.next(idle, now: now) == .cancel(.channel))
    #expect(machine.next(idle, now: now) == .wait(until: nil), "nothing is held any more")
    machine.take(.background(isOn: true), now: now)
    #expect(machine.next(idle, now: now) == .openChannel)
  }

  @Test("A content that goes up stops behind its piece with the background, and goes on when asked")
  func uploadEnds() {
    var idle = waiting
    (idle.hasOutgoing, idle.hasUploads, idle.hasUnanswered) = (false, true, true)
    idle.isSubscribed = false
    var machine = SessionMachine(settings: SessionSettings())
    #expect(machine.next(idle, now: now) == .upload, "without a background that was ever on")
    let end = SessionMachine.Step.wait(until: now.advanced(by: .seconds(40)))
    machine.take(.background(isOn: true), now: now)
    machine.take(.background(isOn: false), now: now)
    #expect(machine.next(idle, now: now) == end, "the piece under way goes there")
    machine.take(.pieceUploaded, now: now)
    #expect(machine.next(idle, now: now) == .wait(until: nil), "nothing is held any more")
    // Who asked for answers once is still told them, but only while somebody waits.
    machine.take(.exchangeRequested(awaitingAnswers: true), now: now)
    #expect(machine.next(idle, now: now) == .exchange)
    machine.take(.succeeded(.exchange, idle), now: now)
    machine.take(.background(isOn: false), now: now)
    #expect(machine.next(idle, now: now) == .wait(until: nil))
    var awaited = machine
    awaited.take(.answersAwaited(true), now: now)
    #expect(awaited.next(idle, now: now) == .upload)
    var asked = machine
    asked.take(.planRequested, now: now)
    #expect(asked.next(idle, now: now) == .upload)
    var outgoing = idle
    outgoing.hasOutgoing = true
    var sending = machine
    #expect(sending.next(outgoing, now: now) == .exchange, "operations do not wait")
    machine.take(.background(isOn: true), now: now)
    #expect(machine.next(idle, now: now) == .upload)
  }

  @Test("Who waits for an answer has the server asked for it, and nobody else does")
  func answers() {
    var sent = waiting
    (sent.hasOutgoing, sent.hasUnanswered, sent.isSubscribing) = (false, true, false)
    var machine = SessionMachine(settings: SessionSettings())
    machine.take(.succeeded(.exchange, sent), now: now)
    #expect(machine.next(sent, now: now) == .wait(until: nil))
    machine.take(.answersAwaited(true), now: now)
    let soon = now.advanced(by: .milliseconds(100))
    #expect(machine.next(sent, now: now) == .wait(until: soon))
    #expect(machine.next(sent, now: soon) == .exchange)
  }

  @Test("A large message has the time that a slow line needs to send it")
  func upload() {
    var machine = SessionMachine(settings: SessionSettings())
    #expect(machine.next(waiting, now: now) == .exchange)
    machine.take(.sent(bytes: 1 << 20), now: now)
    let soon = now.advanced(by: .seconds(100))
    #expect(
      machine.next(waiting, now: soon) == .wait(until: now.advanced(by: .milliseconds(171_072))))
    #expect(machine.next(waiting, now: now.advanced(by: .seconds(172))) == .cancel(.exchange))
  }

  @Test("An exchange shows what is new if a caller asked for it, and the next one does not")
  func pulling() {
    var idle = waiting
    idle.hasOutgoing = false
    var machine = SessionMachine(settings: SessionSettings())
    machine.take(.exchangeRequested(awaitingAnswers: false), now: now)
    #expect(machine.next(idle, now: now) == .exchange)
    #expect(machine.isPulling)
    machine.take(.succeeded(.exchange, idle), now: now)
    machine.take(.exchangeNeeded(), now: now)
    #expect(machine.next(idle, now: now) == .exchange)
    #expect(!machine.isPulling)
    machine.take(.succeeded(.exchange, idle), now: now)
    machine.take(.exchangeNeeded(pulls: true), now: now)
    #expect(machine.next(idle, now: now) == .exchange)
    #expect(machine.isPulling)
  }

  @Test("A token that ended is renewed at once, and the exchange is made again")
  func tokenEnded() {
    var machine = exchanging(waiting)
    machine.take(.tokenEnded(.exchange), now: now)
    var ended = waiting
    (ended.accessTokenExpires, ended.hasOutgoing) = (nil, false)
    #expect(machine.next(ended, now: now) == .renewToken)
    var renewed = waiting
    renewed.hasOutgoing = false
    machine.take(.succeeded(.exchange, renewed), now: now)
    #expect(machine.next(renewed, now: now) == .exchange)
  }
}
