/// The names of the reference's object API, as the facts about it have them: each is named in the
/// first column of a table of Documentation/Reference.md, with what it is here or why it is not.
enum ReferenceNames {
  static let facts: [(section: String, names: String)] = [
    (
      "facts/1.2",
      """
      SUPApplication applicationIdentifier applicationCallback connectionProperties serverName
      portNumber farmId urlSuffix networkProtocol securityConfiguration loginCredentials
      loginCertificate activationCode httpHeaders httpCookies httpCredentials createDatabase
      encryptionKey cacheSize pageSize maxDbConnections registerCallbackHandler setApplication
      registerApplication startConnection stopConnection unregisterApplication registrationStatus
      connectionStatus getSynchronizationProfile onlineLogin subscribe synchronize provisioned
      startBackgroundSynchronization beginOnlineLogin isSubscribed beginSynchronize
      ConnectionPropertyException ApplicationRuntimeException ApplicationTimeoutException
      """
    ),
    (
      "facts/1.3",
      """
      SUPSynchronizationStatus SUPSynchronizationAction SUPConnectionStatus SUPRegistrationStatus
      SUPDeviceCondition SUPDeviceConnectionStatus SUPDeviceConnectionType SUPSyncStatusState
      pendingChange SUPEntityFilter SUPAttributeTest SUPCompositeTest SUPSortOrder
      SUPCompositeQuery SUPLogLevel SUPNetworkProtocol SUPMessageClient SUPNotificationType GLOBAL
      LOCAL GUID NONE STARTING UPLOADING DOWNLOADING FINISHING ERROR ASYNC_REPLAY_UPLOADED
      ASYNC_REPLAY_COMPLETED STARTING_ON_NOTIFICATION CANCEL CONTINUE CONNECTION_ERROR CONNECTING
      CONNECTED DISCONNECTING DISCONNECTED NOTIFICATION_WAIT REGISTRATION_ERROR REGISTERING
      REGISTERED UNREGISTERING UNREGISTERED BATTERY_POWER_LOW BATTERY_POWER_RECOVERED
      STORAGE_SPACE_LOW STORAGE_SPACE_RECOVERED WRONG_STATUS DEVICEINFLIGHTMODE
      DEVICEOUTOFNETWORKCOVERAGE WAITINGTOCONNECT DEVICEROAMING DEVICELOWSTORAGE WRONG_TYPE ALWAYS_ON
      SENDING_HEADER SENDING_TABLE SENDING_DATA FINISHING_UPLOAD RECEIVING_UPLOAD_ACK
      RECEIVING_TABLE RECEIVING_DATA COMMITTING_DOWNLOAD SENDING_DOWNLOAD_ACK DONE
      ROLLING_BACK_DOWNLOAD UNKNOWN currentMBO
      """
    ),
    (
      "facts/1.4",
      """
      deleteDatabase databaseExists cleanAllData openConnection closeConnection beginTransaction
      LocalTransaction commit rollback getConnectionProfile generateEncryptionKey
      changeEncryptionKey synchronizeWithListener enableSync disableSync syncEnabled
      getSynchronizationGroup isSynchronized getLastSynchronizationTime getBackgroundSyncRequests
      isReplayQueueEmpty stopBackgroundSynchronization setNeedSync synchronizeIfNeeded unsubscribe
      suspendSubscription resumeSubscription recover getOnlineLoginStatus offlineLogin loginToSync
      submitPendingOperations cancelPendingOperations hasPendingOperations executeQuery
      QueryResultSet columnNames columnTypes getEntityName getLogger getLogRecords
      submitLogRecords enableChangeLog disableChangeLog getChangeLogs deleteChangeLogs
      getPackageName getDomainName getSyncUsername getSchemaVersion getProtocolVersion metaData
      getPersonalizationParameters vacuum user password credentials certificate databaseName
      clientId domainName networkStreamParams collation asyncReplay enableTrace initTrace
      getString getInt getBoolean enableSIS interval adminLock getEntityNames
      """
    ),
    (
      "facts/1.5",
      """
      create update delete save refresh submitPending cancelPending createLogRecord
      getLastOperation copyAll keyToString _pk surrogateKey find load findAll findByPrimaryKey
      findWithQuery countWithQuery getSize getPendingObjects getReplayPendingObjects
      countReplayPendingObjects getSynchronizationParameters getInstance clearRelationshipObjects
      UserDefined size PersonalizationParameters isNew isDirty isDeleted isCreated isUpdated
      pending replayCounter replayPending replayFailure disableSubmit originalState downloadState
      KeyGenerator generateId OperationReplay LogRecordImpl ChangeLogImpl SISSubscription
      PackageProperties OfflineAuthentication SubscriptionStatus EntityRead
      """
    ),
    (
      "facts/1.6",
      """
      SUPQuery select from fromQuery join where groupBy having orderBy thenBy distinct skip take
      entityFilter union unionAll except intersect SUPColumn SUPTestCriteria SUPSortCriteria count
      sum avg min max
      """
    ),
    (
      "facts/1.7",
      """
      onMessageStart beforeImport onImport onImportSuccess onReplaySuccess onReplayFailure
      onSearchSuccess onSearchFailure onLoginSuccess onLoginFailure onSubscribeSuccess
      onSubscribeFailure onUnsubscribeSuccess onUnsubscribeFailure onSuspendSubscriptionSuccess
      onSuspendSubscriptionFailure onResumeSubscriptionSuccess onResumeSubscriptionFailure
      onRecoverSuccess onRecoverFailure onSubscriptionEnd onResetSuccess onSynchronize
      onSynchronizeSuccess onSynchronizeFailure onMessageException onTransactionCommit
      onTransactionRollback onStorageSpaceLow onStorageSpaceRecovered onConnectionStatusChange
      onApplicationConnectionPropertyChange status exception userContext errorCode errorMessage
      ApplicationCallback onApplicationSettingsChanged onConnectionStatusChanged
      onRegistrationStatusChanged onDeviceConditionChanged onHttpCommunicationError
      onCustomizationBundleDownloadComplete onPushNotification onHttpsCertificateChallenge
      onLoadingStatus connectionId domainName custom1 custom4
      """
    ),
    (
      "facts/1.8",
      """
      PersistenceException ObjectNotFound TooManyResults SynchronizeException SynchronizeRequired
      LoginRequired ProtocolException NoSuchAttribute NoSuchClass NoSuchOperation NoSuchParameter
      InvalidDataType WrongDataType AbstractClass ApplicationRuntime ApplicationTimeout
      ConnectionProperty E2ETraceIllegalState E2ETraceUpload ObjectNotSaved StreamNotOpen
      StreamNotClosed WriteAppendOnly WriteOverLength DataVaultException messageId level code
      eisCode message component entityKey operation requestId timestamp 401 403 404 405 409 412 500
      503 516 517 550 551 552 554 563 566 571 572 576 577 578 579 580 581 583 584 1212 1213
      SupThrowCredentialRequestOn401Error
      """
    ),
    (
      "facts/1.10",
      """
      BigBinary BigString isNull length position value openForRead openForWrite read readByte
      readChar write writeByte writeChar seek flush close copyToFile copyFromFile
      """
    ),
    (
      "facts/1.11",
      "entityType surrogateKey operationType rootEntityType rootSurrogateKey"
    ),
  ]

  /// The words that stand as code in the first column of the page's tables.
  static func named(in lines: [String]) -> Set<String> {
    var words: Set<String> = []
    for line in lines where line.hasPrefix("|") {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false)
      guard cells.count > 2 else { continue }
      let codes = cells[1].split(separator: "`", omittingEmptySubsequences: false).enumerated()
      for (index, code) in codes where index % 2 == 1 {
        words.formUnion(
          code.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
      }
    }
    return words
  }

  static func violations(in guide: String, _ lines: [String]) -> [Violation] {
    let known = named(in: lines)
    return facts.flatMap { section, names in
      names.split(whereSeparator: \.isWhitespace).map(String.init).filter { !known.contains($0) }
        .map { name in
          Violation(
            file: guide, line: 1, rule: "every name of the reference has a row",
            found: "\(name) (\(section)) has none",
            cure: "give it one: what it is here, or \"not here, because\"")
        }
    }
  }
}
