import Ferry
import FerryWire
import Testing

@Suite("What an app does about an error")
struct ErrorReactionTests {
  private func error(_ code: FerryError.Code, isTransient: Bool = false) -> FerryError {
    FerryError(code, "it failed", hint: "Mend it.", isTransient: isTransient)
  }

  @Test("Each code leads to one reaction, and an unknown one to the administrator")
  func reactions() {
    let expected: [(FerryError.Reaction, [FerryError.Code])] = [
      (.signIn, [.notLoggedIn]),
      (.wait, [.offline, .timedOut, .inUse, .notDownloaded]),
      (.freeSpace, [.diskFull]),
      (.correctInput, [.invalidValue, .objectExists, .tooLarge, .invalidReference]),
      (.reload, [.objectNotFound]),
      (.decideOnPending, [.pendingChanges]),
      (
        .askForHelp,
        [.deviceLocked, .wiped, .notAllowed, .damaged, .wrongKey, .incompatibleModel]
      ),
      (.nothing, [.cancelled, .closed]),
      (.fixCode, [.wrongState, .unknownName, .invalidQuery, .notSubmitted, .keyChanged]),
    ]
    #expect(Set(expected.map(\.0) + [.updateApp]) == Set(FerryError.Reaction.allCases))
    let tooOld = WireFailure(.unknownPackage, "no package", hint: "Update the app.")
    #expect(FerryError(.server, "it failed", hint: "", cause: tooOld).reaction == .updateApp)
    for (reaction, codes) in expected {
      for code in codes { #expect(error(code).reaction == reaction, "\(code.rawValue)") }
    }
    let later = FerryError.Code(rawValue: "ofALaterVersion")
    #expect(error(later).reaction == .askForHelp)
    #expect(error(later, isTransient: true).reaction == .wait)
    #expect(error(.server, isTransient: true).reaction == .wait)
  }

  @Test("A catch names a code, and passes every other error on")
  func caught() throws {
    func handle(_ thrown: any Error) throws -> String {
      do { throw thrown } catch FerryError.Code.offline {
        return "offline"
      } catch FerryError.Code.pendingChanges {
        return "pending"
      }
    }
    #expect(try handle(error(.offline)) == "offline")
    #expect(try handle(error(.pendingChanges)) == "pending")
    #expect(throws: FerryError.self) { try handle(error(.server)) }
    #expect(throws: CancellationError.self) { try handle(CancellationError()) }
  }
}
