import FerryCachePolicies
import FerryJSON
import FerryWire
import FerryWorld

/// What is said of cache groups.
extension CacheGroups {
  /// One group as an operator sees it.
  struct Status: Sendable, Equatable {
    let name: String
    let refresh: String
    let state: String
    /// How old the rows are; nil where that is not known.
    let age: Duration?
    let loads: Int64
    let failure: String?

    func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("group", name)
      writer.field("refresh", refresh)
      writer.field("state", state)
      if let age { writer.field("ageMilliseconds", Int64(age / .milliseconds(1))) }
      writer.field("loads", loads)
      if let failure { writer.field("failure", failure) }
      writer.endObject()
    }
  }

  func statuses(at now: Duration) -> [Status] {
    state.withLock { state in
      state.machines.keys.sorted().compactMap { name in
        state.machines[name].map { machine in
          Status(
            name: name, refresh: machine.group.refresh.word, state: machine.state.rawValue,
            age: machine.age(at: now), loads: machine.begun, failure: machine.failure)
        }
      }
    }
  }

  /// Whether the rows are those that the business system had when they were asked for.
  func currency(_ needed: NeededGroups) -> Currency {
    state.withLock { state in
      var result = Currency.current
      for (name, answer) in needed.groups {
        guard let machine = state.machines[name] else { continue }
        switch answer {
        case .load(let number) where machine.hasBrought(number): continue
        case .load where machine.failure != nil, .away: return .businessAway
        case .load: return .behind
        case .cached: result = .cached
        }
      }
      return result
    }
  }

  /// How old the oldest rows of these entities are; nil where that is not known of one of their groups.
  func age(of entities: [String], at now: Duration) -> Duration? {
    state.withLock { state in
      let groups = Set(entities.compactMap { state.owners[$0] })
      let ages = groups.compactMap { state.machines[$0]?.age(at: now) }
      return ages.count == groups.count ? ages.max() : nil
    }
  }
}
