/// What a start takes up of the one before.
extension SessionRunner {
  func start() {
    do throws(FerryError) { try session.tellOwed() } catch {
      world.log.error("owed callbacks cannot be made", ("reason", error.description))
    }
    do throws(FerryError) { try session.tidyContents() } catch {
      world.log.error("old contents cannot be thrown away", ("reason", error.description))
    }
    do throws(FerryError) { try session.moveTokens() } catch {
      world.log.error("the tokens stay in the database", ("reason", error.description))
    }
    do throws(FerryError) { try session.announceSessionEnd() } catch {
      world.log.error("the end of the session cannot be read", ("reason", error.description))
    }
    do throws(FerryError) { try session.resumeRegistration() } catch {
      world.log.error("the registration cannot go on", ("reason", error.description))
    }
    Task { await self.sendOwedReceipt() }
    Task { await self.sendOwedLogout() }
    run()
  }
}
