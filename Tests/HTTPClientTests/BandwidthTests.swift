import FerryTestTraits
import Synchronization
import Testing

@testable import FerryHTTPClient

@Suite("The bandwidth that transports share")
struct BandwidthTests {
  @Test(
    "The mean is that of the last five seconds, and each second has its limit",
    .reference("ios/REQ-28"))
  func mean() {
    let now = Mutex<Int64>(100)
    let bandwidth = TransportBandwidth(1000, false) { now.withLock { $0 } }
    #expect(bandwidth.allowance(5000) == 1000)
    bandwidth.use(900)
    #expect(bandwidth.allowance(5000) == 100)
    bandwidth.use(200)
    #expect(bandwidth.isThrottled)
    now.withLock { $0 = 101 }
    #expect(!bandwidth.isThrottled)
    bandwidth.use(400)
    #expect(bandwidth.averageBytesPerSecond == 300)
    now.withLock { $0 = 105 }
    #expect(bandwidth.averageBytesPerSecond == 80)
    now.withLock { $0 = 106 }
    #expect(bandwidth.averageBytesPerSecond == 0)
  }

  @Test("A limit for mobile networks leaves others alone", .reference("ios/REQ-29"))
  func cellular() {
    let bandwidth = TransportBandwidth(1, true) { 0 }
    #expect(bandwidth.allowance(100) == 100)
    bandwidth.isOnCellular = true
    #expect(bandwidth.allowance(100) == 1)
    bandwidth.limitBytesPerSecond = nil
    #expect(bandwidth.allowance(100) == 100)
  }

  @Test(
    "A language of the system becomes the tag that services know",
    .reference("ios/CON-10", "adr/PAR-1"))
  func language() {
    #expect(SystemLanguage.tag("de_DE.UTF-8") == "de-DE")
    #expect(SystemLanguage.tag("pt_BR@euro") == "pt-BR")
    #expect(SystemLanguage.tag("en") == "en")
    for none in ["C", "C.UTF-8", "POSIX", "", "x1_DE"] { #expect(SystemLanguage.tag(none) == nil) }
  }
}
