/// Which stage writes which column of a side's state: the only list.
///
/// `table.column` is what UPDATE sets, `table.+` who brings a row into being and `table.-` who ends
/// it. Of the server the stages are the files of its store. A side whose list is empty is not
/// checked; as soon as it has one entry, every literal write in its folder must be listed. Tables of
/// entities have names that code makes up: Store alone writes them.
enum StateColumns {
  private static let columnCame = "a file made before the column was there gets its first value"

  private static let chainFreed =
    "a migration that discards one of a chain, as the app asked, lets the others wait again"

  static let client: [String: ColumnWriter] = [
    "ferry_setting.+": "Store",
    "ferry_setting.-": "Store",
    "ferry_parameter_set.+": "Session",
    "ferry_parameter_set.-": "Session",
    "ferry_personalization.+": "Session",
    "ferry_personalization.value": "Session",
    "ferry_personalization.changed": "Session",
    "sqlite_sequence.+": "Store",
    "sqlite_sequence.seq": .shared(
      "Store", "Pending",
      because: "a change that goes behind the others of its object gets the next number"),

    "ferry_batch.+": "Store",
    "ferry_batch.-": "Store",
    "ferry_batch_member.+": "Store",
    "ferry_batch_member.-": "Store",
    "ferry_batch_member.batch": "Store",
    "ferry_batch_member.chain": "Store",
    "ferry_batch_member.finished": "Store",

    "ferry_operation.+": "Pending",
    "ferry_operation.-": .shared(
      "Pending", "Outbox", "Store",
      because:
        "what was withdrawn and never seen is let go where it is sent, and what no model knows "
        + "where it is migrated, if the app asked for that"),
    "ferry_operation.id": "Pending",
    "ferry_operation.kind": "Pending",
    "ferry_operation.key": "Pending",
    "ferry_operation.temporary": "Pending",
    "ferry_operation.changed": .shared(
      "Pending", "Store", because: "a newer model's migration writes it in the model's words"),
    "ferry_operation.base": .shared(
      "Pending", "Store", because: "a newer model's migration writes it in the model's words"),
    "ferry_operation.chain": "Pending",
    "ferry_operation.wanted": .shared(
      "Pending", "Store",
      because: chainFreed + ", and a trigger of the schema marks who waited for what has ended"),
    "ferry_operation.state": .shared("Pending", "Store", because: chainFreed),
    "ferry_operation.counter": .shared("Pending", "Store", because: columnCame),
    "ferry_operation.failure": .shared("Pending", "Store", because: columnCame),
    "ferry_operation.root_entity": .shared("Pending", "Store", because: columnCame),
    "ferry_operation.root_object": .shared("Pending", "Store", because: columnCame),
    "ferry_operation.payload": .shared(
      "Pending", "Outbox", "Store",
      because:
        "Outbox seals; Pending opens again what takes a new id; a migration keeps it readable"),
    "ferry_operation.sent": .shared(
      "Pending", "Outbox", because: "Outbox sends; Pending opens again what takes a new id"),
    "ferry_operation.acknowledged": .shared(
      "Pending", "Outbox", because: "Outbox is told; Pending opens again what takes a new id"),
    "ferry_operation.may_have_run": "Outbox",

    "ferry_content.+": "BigValues",
    "ferry_content.-": "BigValues",
    "ferry_content.reference": "BigValues",
    "ferry_content.size": "BigValues",
    "ferry_content.stored": "BigValues",
    "ferry_content_piece.+": "BigValues",
    "ferry_content_piece.-": "BigValues",
    "ferry_upload.+": "Outbox",
    "ferry_upload.-": .shared(
      "Outbox", "BigValues", because: "the sweep lets go of what belongs to no operation any more"),
    "ferry_upload.done": "Outbox",

    "ferry_page.+": "Inbox",
    "ferry_page.-": .shared(
      "Inbox", "Import", "Store",
      because: "Inbox throws away what no longer fits, Import what it took, a migration all"),
    "ferry_partition.+": "Inbox",
    "ferry_partition.-": "Import",
    "ferry_partition.staged_version": .shared(
      "Inbox", "Import", "Store",
      because: "an import, a repair and a migration set the download back"),
    "ferry_partition.staged_row": .shared(
      "Inbox", "Import", "Store",
      because: "an import, a repair and a migration set the download back"),
    "ferry_partition.state": .shared(
      "Inbox", "Import", "Store",
      because: "Inbox notes what the server asks for, Import that it is done, a migration that all "
        + "comes anew"),
    "ferry_partition.version": "Import",
    "ferry_partition.row": "Import",
    "ferry_partition.sum": "Import",
    "ferry_partition.count": "Import",
    "ferry_partition.repaired_day": "Import",
    "ferry_checkpoint.+": .shared(
      "Inbox", "Import", because: "whichever comes first brings the group's row"),
    "ferry_checkpoint.staged_era": .shared(
      "Inbox", "Import", because: "an import ends the download that it took"),
    "ferry_checkpoint.staged_at": .shared(
      "Inbox", "Import", because: "an import ends the download that it took"),
    "ferry_checkpoint.era": "Import",
    "ferry_checkpoint.version": "Import",
    "ferry_checkpoint.imported": "Import",

    "ferry_owner.+": "Pending",
    "ferry_owner.-": .shared(
      "Pending", "Store", because: "a trigger of the schema ends it with its operation"),
    "ferry_reference.+": .shared(
      "Pending", "Store", because: "the schema notes that what an older version left is not noted"),
    "ferry_reference.-": .shared(
      "Pending", "Store", because: "a trigger of the schema ends it with its operation"),
    "ferry_reference.key": "Import",
    "ferry_report.+": "Pending",
    "ferry_report.submitted": "Outbox",
    "ferry_report.-": .shared(
      "Pending", "Outbox",
      because: "the oldest go for new ones, the others when the server has them"),

    "ferry_alias.+": "Import",
    "ferry_log_record.+": "Pending",
    "ferry_outcome.+": "Store",
    "ferry_outcome.-": "Store",
    "ferry_outcome.number": "Store",
    "ferry_outcome.outcome": "Store",
    "ferry_outcome.reasons": "Store",
    "ferry_outcome.whole": "Store",
    "ferry_outcome.ended": "Store",
    "ferry_shared_change.+": "Store",
    "ferry_shared_change.content": "Store",
    "ferry_shared_change.-": "Store",
    "ferry_kept.+": "Store",
    "ferry_kept.-": "Store",
    "ferry_kept.content": "Store",
    "ferry_change_log.+": "Store",
    "ferry_change_log.-": "Store",
    "ferry_log_record.-": .shared(
      "Pending", "Import", because: "a cancelled change takes its log records along"),
    "ferry_notice.+": "Pending",
    "ferry_notice.-": "Pending",
    "ferry_notice_heard.+": "Pending",
    "ferry_notice_heard.-": "Pending",
  ]

  static let server: [String: ColumnWriter] = [
    "server.+": "Start",
    "server.days": "Upkeep",
    "server.last_day": "Upkeep",
    "package.+": "Start",
    "package.version": "Start",
    "package.loaded": "Loads",
    "era.+": "Start",
    "sqlite_sequence.+": "Start",
    "sqlite_sequence.seq": "Start",
    "entity.+": "Start",
    "personalization.+": "Sessions",
    "personalization.-": "Sessions",
    "session.+": .shared(
      "Sessions", "Start", because: "the sessions of older stores are brought over"),
    "session.-": "Sessions",
    "session.used": "Sessions",
    "session.renewed": "Sessions",
    "session.stamp": "Sessions",
    "session.ended": "Sessions",
    "token_user.+": "Sessions",
    "token_user.-": "Sessions",
    "device_of_server.+": "Start",
    "registered_device.+": .shared(
      "Register", "Connections", because: "a connection need not synchronize"),
    "registered_device.-": "Register",
    "registered_device.last_seen": "Register",
    "registered_device.pending": "Register",
    "registered_device.cursors": "Register",
    "registered_device.incarnation": "Register",
    "registered_device.model": "Register",
    "registered_device.hardware": "Register",
    "registered_device.system": "Register",
    "registered_device.library": "Register",
    "registered_device.first_seen": "Register",
    "registered_device.state": "Register",
    "registered_device.reason": "Register",
    "registered_device.receipt": "Register",
    "registered_device.with_pending": "Register",
    "registered_device.subscription": "Register",
    "registered_device.parameters": "Register",
    "registered_device.log_level": "Register",
    "registered_device.template": .shared(
      "Register", "Connections", because: "a device that has none gets that of its connection"),
    "registered_device.application": "Connections",
    "registered_device.registered": "Connections",
    "registered_device.changes": "Connections",
    "registered_device.properties": "Connections",
    "registered_device.proof": "Connections",
    "payload.+": "Connections",
    "payload.-": .shared(
      "Register", "Connections", because: "a connection that leaves takes its payloads along"),
    "device.+": "Sessions",
    "device.-": "Sessions",

    "report.+": "Sessions",
    "report.-": .shared(
      "Sessions", "Upkeep",
      because: "Sessions bounds what one device keeps, Upkeep how long"),

    "operation.+": "Operations",
    "operation.-": "Upkeep",
    "operation.payload": .shared(
      "Operations", "Desk", because: "Desk empties what was refused long ago"),
    "operation.day": "Operations",
    "operation.state": "Operations",
    "operation.answer": .shared(
      "Operations", "Desk", because: "Desk empties what was refused long ago"),
    "correction.+": "Desk",
    "correction.-": "Desk",
    "correction.state": "Desk",
    "correction.detail": "Desk",
    "correction.became": "Desk",
    "correction.ended": "Desk",
    "operation.outcome": "Operations",
    "operation.answer_version": "Operations",
    "operation.new_key": "Operations",
    "operation.claimed_by": "Operations",
    "operation.mark": "Operations",
    "operation.sent_at": "Operations",
    "operation.may_have_run": "Operations",
    "operation.package": "Operations",
    "operation.group_name": "Operations",

    "content.+": "Contents",
    "content.-": "Contents",
    "content.stored": "Contents",
    "content.state": "Contents",
    "content.day": "Contents",
    "unknown_outcome.+": "Operations",
    "unknown_outcome.-": "Upkeep",
    "unknown_outcome.reason": "Operations",
    "unknown_outcome.candidates": "Operations",
    "content_piece.+": "Contents",
    "content_piece.-": "Contents",

    "partition.+": "Partitions",
    "partition.-": "Partitions",
    "partition.asked_day": .shared(
      "Partitions", "Start", because: "a step of the schema gives it its first value"),
    "partition.version": .shared(
      "Rows", "Loads", because: "a first load that has ended is news in every partition"),
    "partition.floor": "Upkeep",
    "partition.sum": "Rows",
    "partition.count": "Rows",
    "partition.left_count": .shared(
      "Rows", "Upkeep", because: "rows leave, and leaves are purged"),
    "partition.loaded": "Loads",
    "row.+": "Rows",
    "row.-": "Upkeep",
    "row.parent_key": "Rows",
    "row.partition": "Rows",
    "row.body": "Rows",
    "row.hash": "Rows",
    "row.version": "Rows",
    "row.deleted": "Rows",
    "member.+": "Rows",
    "member.-": "Upkeep",
    "member.version": "Rows",
    "member.left": "Rows",
    "alternate.+": "Rows",
    "alternate.-": "Rows",
    "border.+": "Partitions",
    "border.attribute": "Partitions",
    "border.position": "Partitions",
    "border.first_day": "Partitions",
    "border.last_day": "Partitions",
    "source_cursor.+": "Loads",
    "source_cursor.text": "Loads",
    "staged.+": "Loads",
    "staged.-": "Loads",
    "staged.body": "Loads",
    "staged.moment": "Loads",
    "staged_rejected.+": "Loads",
    "staged_rejected.-": "Loads",
    "rejected.+": "Loads",
    "rejected.-": "Loads",
    "seen_day.+": "Upkeep",
  ]
}
