/// What the app is asked and hears of the synchronizations that it began.
extension SessionRunner {
  /// Asks the app what the session wants to know. False where that ended the synchronization.
  func answerQuestions() async -> Bool {
    let number = session.plan?.number
    while let status = session.questions.first {
      let action = await ask(session.plan, session.context(status))
      guard session.plan?.number == number, number != nil else { return false }
      do throws(FerryError) {
        guard try session.answer(action) else { return false }
      } catch {
        session.failPlan(error)
        return false
      }
    }
    return session.plan?.number == number && number != nil
  }

  private func ask(
    _ plan: SynchronizationPlan?, _ context: SynchronizationContext
  ) async -> SynchronizationAction {
    let groups = plan?.groups ?? groups
    plan?.session?.post(context)
    return await session.observers.ask(otherwise: .proceed) {
      $0.answer(to: context, of: groups)
    }
  }

  /// Reports what has ended, in order; the next synchronization begins afterwards.
  func tellEndedPlans() {
    let ended = session.takeEndedPlans()
    guard !ended.isEmpty else { return }
    isTellingPlans = true
    Task {
      for end in ended { await self.tell(end) }
      self.isTellingPlans = false
      self.run()
    }
  }

  private func tell(_ ended: EndedPlan) async {
    let (plan, error) = (ended.plan, ended.error)
    // After CANCEL nothing more is reported to the handler that said so.
    if error?.code != .cancelled, plan.currentWait == nil {
      _ = await ask(plan, plan.context(error == nil ? .finishing : .error, error))
      let groups = plan.groups
      let step: DatabaseStep =
        if let error {
          .synchronizeFailed(groups: groups, error)
        } else {
          .synchronized(groups: groups)
        }
      session.observers.tell(step)
    }
    plan.session?.end(error)
  }
}
