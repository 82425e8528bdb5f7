/// Which stage writes which column of a side's state: the only list.
///
/// `table.column` is what UPDATE sets, `table.+` who brings a row into being and `table.-` who ends
/// it. A side whose list is empty is not checked; as soon as it has one entry, every literal
/// write in its folder must be listed. Tables of entities have names that code makes up: Store
/// alone writes them.
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
    "sqlite_sequence.seq": "Store",

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
    "ferry_log_record.+": "Import",
    "ferry_shared_change.+": "Store",
    "ferry_shared_change.-": "Store",
    "ferry_kept.+": "Store",
    "ferry_kept.-": "Store",
    "ferry_kept.content": "Store",
    "ferry_change_log.+": "Store",
    "ferry_change_log.-": "Store",
    "ferry_log_record.-": .shared(
      "Pending", "Import", because: "a cancelled change takes its log records along"),
    "ferry_notice.+": "Import",
    "ferry_notice.-": "Import",
    "ferry_notice_heard.+": "Import",
    "ferry_notice_heard.-": "Import",
  ]

  static let server: [String: ColumnWriter] = [
    "server.+": "Store",
    "server.days": "Changes",
    "server.last_day": "Changes",
    "package.+": "Store",
    "package.version": "Store",
    "package.loaded": "Changes",
    "era.+": "Store",
    "entity.+": "Store",
    "personalization.+": "Security",
    "personalization.-": "Security",
    "refresh_token.+": "Security",
    "refresh_token.-": "Security",

    "report.+": "Inbox",
    "report.-": .shared(
      "Inbox", "Changes", because: "Inbox bounds what one device keeps, Changes how long"),

    "operation.+": "Inbox",
    "operation.-": "Changes",
    "operation.payload": "Inbox",
    "operation.day": "Inbox",
    "operation.state": .shared(
      "Inbox", "Replay", because: "Replay brings it to its end, Inbox learns that it was confirmed"),
    "operation.answer": .shared(
      "Inbox", "Replay", because: "Replay writes it, Inbox empties it when it was confirmed"),
    "operation.outcome": "Replay",
    "operation.answer_version": "Replay",
    "operation.new_key": "Replay",
    "operation.claimed_by": "Replay",
    "operation.mark": "Replay",
    "operation.may_have_run": "Replay",

    "content.+": "BigValues",
    "content.-": "BigValues",
    "content.stored": "BigValues",
    "content.state": "BigValues",
    "content.day": "BigValues",
    "content_piece.+": "BigValues",
    "content_piece.-": "BigValues",

    "partition.+": "Store",
    "partition.-": "Store",
    "partition.asked_day": "Store",
    "partition.version": "Changes",
    "partition.floor": "Changes",
    "partition.sum": "Changes",
    "partition.count": "Changes",
    "partition.left_count": "Changes",
    "partition.loaded": "Changes",
    "row.+": "Changes",
    "row.-": "Changes",
    "row.parent_key": "Changes",
    "row.partition": "Changes",
    "row.body": "Changes",
    "row.hash": "Changes",
    "row.version": "Changes",
    "row.deleted": "Changes",
    "member.+": "Changes",
    "member.-": "Changes",
    "member.version": "Changes",
    "member.left": "Changes",
    "alternate.+": "Changes",
    "alternate.-": "Changes",
    "source_cursor.+": "Changes",
    "source_cursor.text": "Changes",
    "staged.+": "Changes",
    "staged.-": "Changes",
    "staged.body": "Changes",
    "staged.moment": "Changes",
    "staged_rejected.+": "Changes",
    "staged_rejected.-": "Changes",
    "rejected.+": "Changes",
    "rejected.-": "Changes",
    "seen_day.+": "Changes",
    "device.+": "Service",
    "device.-": "Service",
  ]
}
