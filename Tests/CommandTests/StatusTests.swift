import Foundation
import Testing

@testable import FerryCommand

/// The parts of `ferry status`; Tests/WayTests/StatusTests.swift has the command with a server.
struct StatusTests {
  @Test("Values of metrics are found by package, also where its name has marks")
  func metrics() {
    let reading = MetricsReading(
      """
      # HELP ferry_channels Channels.
      ferry_channels{package="Shop:1.0"} 3
      ferry_channels{package="a \\"b\\" }\\\\c"} 4
      ferry_operations_total{package="Shop:1.0",outcome="accepted"} 7
      ferry_load_age_seconds{package="Shop:1.0"} 1.5
      ferry_requests_refused_total{code="noToken"} 9
      broken{package="Shop:1.0"} many
      """)
    #expect(reading.packages == ["Shop:1.0", #"a "b" }\c"#])
    #expect(reading.value("ferry_channels", "Shop:1.0") == 3)
    #expect(reading.value("ferry_channels", #"a "b" }\c"#) == 4)
    #expect(reading.value("ferry_load_age_seconds", "Shop:1.0") == 1.5)
    #expect(reading.value("ferry_operations_total", "Shop:1.0") == nil)
    #expect(reading.value("broken", "Shop:1.0") == nil)
  }

  @Test("Spans of time are short")
  func spans() {
    let shown = [0.04, 0.36, 11.9, 119, 120, 7_199, 7_200, 172_800].map(StatusText.span)
    #expect(shown == ["0.0 s", "0.3 s", "11 s", "119 s", "2 min", "119 min", "2 h", "2 days"])
  }
}
