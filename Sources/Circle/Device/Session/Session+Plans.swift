/// Synchronizations of the app.
extension Session {
  /// The synchronization that is under way or next.
  package var plan: SynchronizationPlan? { plans.current }

  /// The questions that the app answers before anything else happens.
  package var questions: [SynchronizationContext.Status] { plans.questions }

  /// Queues a synchronization behind those that were asked for before.
  package func begin(_ plan: SynchronizationPlan) { plans.begin(plan) }

  /// A number for a plan, unique in this process.
  package func nextPlanNumber() -> Int { plans.nextNumber() }

  /// What a handler hears of the current status.
  package func context(_ status: SynchronizationContext.Status) -> SynchronizationContext {
    plans.context(status)
  }

  /// The app's answer to the first of `questions`. False if the synchronization ends with it.
  package func answer(_ action: SynchronizationAction) throws(FerryError) -> Bool {
    try requests.answer(action)
  }

  /// Everything was asked; the request leaves.
  package func leave() { plans.leave() }

  /// The app cancels a plan by its number, wherever that is.
  func cancelPlan(_ number: Int) throws(FerryError) { try requests.cancelPlan(number) }

  /// The plan cannot go on.
  func failPlan(_ error: FerryError) { plans.end(error) }

  var hasEndedPlans: Bool { plans.hasEnded }

  /// What has ended since the last call, for the app.
  package func takeEndedPlans() -> [EndedPlan] { plans.takeEnded() }

  /// The database is closed: nobody goes on with a plan.
  func endAllPlans(_ error: FerryError) { plans.endAll(error) }
}
