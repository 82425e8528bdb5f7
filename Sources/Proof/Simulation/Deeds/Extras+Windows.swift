import FerryModel
import FerryServer
import FerryWorld

/// Visits of some days: others plan them, the days pass, and the server looks at its clock.
extension Simulation {
  func planVisits() throws {
    if extras.chance.happens(200) { planVisit() }
    // Most days that pass bring and take visits, wherever the server is by now. With those at the end
    // they are fewer than the server remembers operations.
    let passed = counts.faults[.dayPassed, default: 0]
    if extras.chance.happens(20), may(.windowMoved), passed < 5 { try skip(days: 1) }
    if extras.chance.happens(250) { try lookAtDay() }
  }

  private func planVisit() {
    let number = Int64(extras.chance.number(below: 6) + 1)
    let agency = SimulatedBusiness.name(ofAgency: extras.chance.pick(SimulatedBusiness.agencies))
    let distance = Int64(extras.chance.number(below: 7) - 3)
    let choice = extras.chance.number(below: 12)
    let day = LocalDate(daysSince1970: server.clock.now.day + distance).map(\.description)
    guard may(.changedByOthers) else { return }
    let values: [AttributeValue]? =
      choice == 0
      ? nil
      : [
        .integer(number), .text(agency),
        choice == 1 ? .null : day.map(AttributeValue.text) ?? .null,
      ]
    let key = ObjectKey([.integer(number)])
    business.changeByOther { $0.write("Visit", key, values) }
    counts.add(.changedByOthers)
  }

  /// What the server does each second. Pages may leave at once, so what it did is noted first.
  func lookAtDay() throws {
    guard extras.has(.windows), server.isRunning else { return }
    guard server.service.moveWindows() else { return }
    try oracle.observe(business, server: server)
    counts.add(.windowMoved)
    log.say("step \(step): the window of visits moves")
  }

  /// Invariant 9: at the end the window is that of the day, or of a later one that the clock had shown.
  func checkWindow() throws {
    guard extras.has(.windows) else { return }
    // The clock went on a little since the server looked last.
    let day = server.clock.now.advanced(by: .seconds(-60)).day
    guard let window = oracle.window, window.lowerBound >= day - 1 else {
      throw SimulationFailure(
        invariant: 9,
        problem:
          "the window of visits is \(oracle.window.map { "\($0)" } ?? "nowhere") on the day \(day)"
      )
    }
  }
}
