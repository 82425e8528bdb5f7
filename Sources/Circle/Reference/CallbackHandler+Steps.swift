import Ferry

extension CallbackHandler {
  /// Makes the callback of a step.
  public func handle(_ step: DatabaseStep) {
    switch step {
    case .connected: onConnect()
    case .disconnected(let error): onDisconnect(error)
    case .helpNeeded(let error): onHelpNeeded(error)
    case .connectionChanged(let status): onConnectionStatusChange(status)
    case .registrationChanged(let status, let error):
      onRegistrationStatusChange(status, error: error)
    case .messageBegan(let sizeBytes): onMessageStart(sizeBytes: sizeBytes)
    case .messageFailed(let error): onMessageException(error)
    case .settingsChanged(let names): onApplicationSettingsChanged(names: names)
    case .importBegins(let group): beforeImport(group: group)
    case .downloading(let progress): onImportProgress(progress)
    case .importedObject(let object): onImport(object)
    case .imported(let changes): onImport(changes)
    case .importEnded(let group): onImportSuccess(group: group)
    case .downloadedAgain(let group): onResetSuccess(group: group)
    case .bigValue(let progress): onBigValueProgress(progress)
    case .synchronized(let groups): onSynchronizeSuccess(groups: groups)
    case .synchronizeFailed(let groups, let error): onSynchronizeFailure(groups: groups, error)
    case .accepted(let object): onReplaySuccess(object)
    case .refused(let object): onReplayFailure(object)
    case .unknown(let object): onReplayUnknown(object)
    case .waiting(let object, let reason): onReplayWaiting(object, reason)
    case .committed: onTransactionCommit()
    case .rolledBack: onTransactionRollback()
    case .storageLow: onStorageSpaceLow()
    case .storageRecovered: onStorageSpaceRecovered()
    default: handleAccount(step)
    }
  }

  /// Login and subscription.
  private func handleAccount(_ step: DatabaseStep) {
    switch step {
    case .signedIn: onLoginSuccess()
    case .signInFailed(let error): onLoginFailure(error)
    case .sessionEnds(let moment): onSessionEnd(at: moment)
    case .leaseEnds(let moment, let isOver): onLeaseEnd(at: moment, isOver: isOver)
    case .subscribed: onSubscribeSuccess()
    case .subscribeFailed(let error): onSubscribeFailure(error)
    case .unsubscribed: onUnsubscribeSuccess()
    case .unsubscribeFailed(let error): onUnsubscribeFailure(error)
    case .suspended: onSuspendSubscriptionSuccess()
    case .suspendFailed(let error): onSuspendSubscriptionFailure(error)
    case .resumed: onResumeSubscriptionSuccess()
    case .resumeFailed(let error): onResumeSubscriptionFailure(error)
    case .recovered: onRecoverSuccess()
    case .recoverFailed(let error): onRecoverFailure(error)
    case .subscriptionEnded: onSubscriptionEnd()
    default: break
    }
  }

  /// Asks `onSynchronize`.
  public func answer(
    to context: SynchronizationContext, of groups: [String]
  ) -> SynchronizationAction { onSynchronize(groups: groups, context: context) }
}
