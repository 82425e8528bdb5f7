// The rollback journal: 512 bytes of header, then records of page number, page and checksum. SQLite
// writes a record in three pieces; it is sealed and written when it is whole, once, and never
// again, so a torn write can only hurt the end. (SQLite keeps to that because the device says
// SAFE_APPEND, which is true here: what was not written whole does not open.)
//
// A mark says how many records are known to be on the disk. It also tells a header that was damaged
// from one that a crash has torn: see `header_does_not_open`.
#include "sealed.h"

#define JOURNAL_HEADER 512
#define ENDING_BYTES 28
#define IDENTITY_OFFSET 8
#define MARK_OFFSET 64
#define MARK_PLAIN 16
#define MARK_UNIT (MARK_PLAIN + RESERVED_BYTES)
#define UNIT_OFFSET 256
#define HEADER_UNIT (JOURNAL_HEADER + RESERVED_BYTES)
#define START_BYTES (UNIT_OFFSET + HEADER_UNIT)
// More bits than this differ between two random identities, fewer between one and its damaged self.
#define DAMAGED_BITS 16

static const uint8_t lead[8] = {'F', 'e', 'r', 'r', 'y', 'J', 'n', 'l'};

static sqlite3_int64 logical_record(const sealed_file *f) {
  return (sqlite3_int64)f->sealer->page_bytes + 8;
}

static sqlite3_int64 real_record(const sealed_file *f) {
  return (sqlite3_int64)f->sealer->page_bytes + 8 + RESERVED_BYTES;
}

static sqlite3_int64 record_offset(const sealed_file *f, uint64_t record) {
  return AREA_BYTES + (sqlite3_int64)record * real_record(f);
}

static place journal_place(const sealed_file *f, unit_kind kind, uint64_t position) {
  place where = {kind, position, 0, get64(f->u.journal.identity)};
  return where;
}

int journal_prepare(sealed_file *f) {
  f->u.journal.waiting = f->u.journal.opened = -1;
  f->u.journal.record = sqlite3_malloc64((sqlite3_uint64)real_record(f) * 2);
  if (!f->u.journal.record) return SQLITE_NOMEM;
  f->u.journal.opened_record = f->u.journal.record + real_record(f);
  return SQLITE_OK;
}

static int journal_close(sqlite3_file *file) {
  sqlite3_free(sealed(file)->u.journal.record);
  sealed(file)->u.journal.record = NULL;
  return real_close(file);
}

static int differing_bits(const uint8_t *left, const uint8_t *right, int length) {
  int bits = 0;
  for (int i = 0; i < length; i++) {
    for (uint8_t d = left[i] ^ right[i]; d; d &= (uint8_t)(d - 1)) bits++;
  }
  return bits;
}

// The mark carries the identity of its journal; its place is not bound to it, so that it opens also
// where the identity in clear was damaged.
static int read_mark(sealed_file *f, uint8_t *start, uint64_t *records) {
  sealer *s = f->sealer;
  place where = {UNIT_JOURNAL_MARK, 0, 0, 0};
  if (sealer_open(s, where, start + MARK_OFFSET, MARK_PLAIN) != SQLITE_OK) return 0;
  *records = get64(start + MARK_OFFSET + 8);
  return 1;
}

// A torn header shares nothing with the identity in the mark: a new journal in an old file has a
// new one, over zeros. A damaged header shares all but a few bits.
static int header_does_not_open(sealed_file *f, uint8_t *start, uint8_t *out) {
  uint64_t records = 0;
  memset(out, 0, JOURNAL_HEADER);
  if (!read_mark(f, start, &records)) {
    sealer_notice(
        f->sealer, "the header of the journal did not open: torn by a crash, or damaged", 0);
    return SQLITE_OK;
  }
  int bits = differing_bits(start, lead, 8) +
             differing_bits(start + IDENTITY_OFFSET, start + MARK_OFFSET, 8);
  if (bits > DAMAGED_BITS) return SQLITE_OK;
  return seal_fault(
      SEAL_DAMAGED,
      "the header of the journal does not open under the key, and %llu records wait for their "
      "return: it was changed or damaged",
      records);
}

static int read_header(sealed_file *f, uint8_t *out) {
  uint8_t start[START_BYTES];
  int code = real_read(f, start, sizeof start, 0);
  if (code != SQLITE_OK) return code;
  f->u.journal.knows_identity = 0;
  f->u.journal.synced = 0;
  if (start[0] == 0) {
    memset(out, 0, JOURNAL_HEADER);
    return SQLITE_OK;
  }
  memcpy(f->u.journal.identity, start + IDENTITY_OFFSET, 8);
  if (memcmp(start, lead, 8) != 0 ||
      sealer_open(
          f->sealer, journal_place(f, UNIT_JOURNAL_HEADER, 0), start + UNIT_OFFSET,
          JOURNAL_HEADER) != SQLITE_OK) {
    return header_does_not_open(f, start, out);
  }
  memcpy(out, start + UNIT_OFFSET, JOURNAL_HEADER);
  f->u.journal.knows_identity = 1;
  uint64_t records = 0;
  if (read_mark(f, start, &records) &&
      memcmp(start + MARK_OFFSET, f->u.journal.identity, 8) == 0) {
    f->u.journal.synced = records;
  }
  return SQLITE_OK;
}

static int open_record(sealed_file *f, uint64_t record) {
  if (f->u.journal.opened == (int64_t)record) return SQLITE_OK;
  uint8_t *unit = f->u.journal.opened_record;
  f->u.journal.opened = -1;
  if (!f->u.journal.knows_identity) {
    uint8_t header[JOURNAL_HEADER];
    int code = read_header(f, header);
    if (code != SQLITE_OK) return code;
  }
  int code = real_read(f, unit, (int)real_record(f), record_offset(f, record));
  if (code != SQLITE_OK) return code;
  if (sealer_open(
          f->sealer, journal_place(f, UNIT_JOURNAL_RECORD, record), unit,
          (size_t)logical_record(f)) != SQLITE_OK) {
    if (record < f->u.journal.synced || record < f->u.journal.written) {
      return seal_fault(
          SEAL_DAMAGED,
          "record %llu of the journal does not open under the key: it was changed or damaged",
          record + 1);
    }
    // Zeros end the journal for SQLite: page 0 is none.
  }
  f->u.journal.opened = (int64_t)record;
  return SQLITE_OK;
}

static int journal_read(sqlite3_file *file, void *out, int amount, sqlite3_int64 offset) {
  sealed_file *f = sealed(file);
  int code;
  if (offset < JOURNAL_HEADER) {
    uint8_t header[JOURNAL_HEADER];
    if (offset + amount > JOURNAL_HEADER) return SQLITE_IOERR_READ;
    code = read_header(f, header);
    if (code == SQLITE_OK) memcpy(out, header + offset, (size_t)amount);
  } else {
    sqlite3_int64 size = logical_record(f);
    uint64_t record = (uint64_t)((offset - JOURNAL_HEADER) / size);
    sqlite3_int64 within = (offset - JOURNAL_HEADER) % size;
    if (within + amount > size) return SQLITE_IOERR_READ;
    code = open_record(f, record);
    if (code == SQLITE_OK) memcpy(out, f->u.journal.opened_record + within, (size_t)amount);
  }
  if (code == SQLITE_IOERR_SHORT_READ) memset(out, 0, (size_t)amount);
  return code;
}

static int write_header(sealed_file *f, const uint8_t *header) {
  uint8_t start[START_BYTES];
  memset(start, 0, sizeof start);
  int code = seal_random(f->u.journal.identity, 8);
  if (code != SQLITE_OK) return code;
  memcpy(start, lead, 8);
  memcpy(start + IDENTITY_OFFSET, f->u.journal.identity, 8);
  memcpy(start + UNIT_OFFSET, header, JOURNAL_HEADER);
  code = sealer_seal(
      f->sealer, journal_place(f, UNIT_JOURNAL_HEADER, 0), start + UNIT_OFFSET, JOURNAL_HEADER);
  if (code != SQLITE_OK) return code;
  f->u.journal.knows_identity = 1;
  f->u.journal.written = f->u.journal.synced = 0;
  f->u.journal.waiting = f->u.journal.opened = -1;
  return f->real->pMethods->xWrite(f->real, start, sizeof start, 0);
}

// SQLite ends a journal that it keeps by writing zeros over its header.
static int write_ending(sealed_file *f) {
  static const uint8_t zeros[IDENTITY_OFFSET + 8];
  f->u.journal.knows_identity = 0;
  f->u.journal.written = f->u.journal.synced = 0;
  f->u.journal.waiting = f->u.journal.opened = -1;
  return f->real->pMethods->xWrite(f->real, zeros, sizeof zeros, 0);
}

static int write_record(
    sealed_file *f, uint64_t record, int64_t within, const uint8_t *in, int amount) {
  sealer *s = f->sealer;
  uint8_t *unit = f->u.journal.record;
  if (within == 0) {
    f->u.journal.waiting = (int64_t)record;
    f->u.journal.waiting_bytes = 0;
  }
  if (f->u.journal.waiting != (int64_t)record || f->u.journal.waiting_bytes != within) {
    return seal_fault(
        SQLITE_IOERR_WRITE,
        "record %llu of the journal has an unknown form; a transaction over several sealed files "
        "needs the write-ahead log",
        record + 1);
  }
  memcpy(unit + within, in, (size_t)amount);
  f->u.journal.waiting_bytes += (uint32_t)amount;
  if (f->u.journal.waiting_bytes < logical_record(f)) return SQLITE_OK;
  f->u.journal.waiting = -1;
  if (f->u.journal.opened == (int64_t)record) f->u.journal.opened = -1;
  int code = sealer_seal(
      s, journal_place(f, UNIT_JOURNAL_RECORD, record), unit, (size_t)logical_record(f));
  if (code != SQLITE_OK) return code;
  code = f->real->pMethods->xWrite(f->real, unit, (int)real_record(f), record_offset(f, record));
  if (code == SQLITE_OK) f->u.journal.written = record + 1;
  return code;
}

static int journal_write(sqlite3_file *file, const void *in, int amount, sqlite3_int64 offset) {
  sealed_file *f = sealed(file);
  if (offset == 0 && amount == JOURNAL_HEADER) return write_header(f, in);
  if (offset == 0 && amount == ENDING_BYTES && is_zero(in, ENDING_BYTES)) return write_ending(f);
  if (offset < JOURNAL_HEADER) {
    return seal_fault(SQLITE_IOERR_WRITE, "the header of the journal is written in part", 0);
  }
  uint64_t record = (uint64_t)((offset - JOURNAL_HEADER) / logical_record(f));
  int64_t within = (offset - JOURNAL_HEADER) % logical_record(f);
  int size = (int)f->sealer->page_bytes;
  if (!((within == 0 && amount == 4) || (within == 4 && amount == size) ||
        (within == 4 + size && amount == 4))) {
    f->u.journal.waiting = -1;
    within = 1;
    amount = 0;
  }
  return write_record(f, record, within, in, amount);
}

static int journal_sync(sqlite3_file *file, int flags) {
  sealed_file *f = sealed(file);
  int code = f->real->pMethods->xSync(f->real, flags);
  if (code != SQLITE_OK || f->u.journal.written <= f->u.journal.synced) return code;
  uint8_t unit[MARK_UNIT];
  memcpy(unit, f->u.journal.identity, 8);
  put64(unit + 8, f->u.journal.written);
  place where = {UNIT_JOURNAL_MARK, 0, 0, 0};
  code = sealer_seal(f->sealer, where, unit, MARK_PLAIN);
  if (code != SQLITE_OK) return code;
  // The mark is evidence, not truth: without it damage at the end looks like a torn write.
  if (f->real->pMethods->xWrite(f->real, unit, sizeof unit, MARK_OFFSET) == SQLITE_OK) {
    f->u.journal.synced = f->u.journal.written;
  }
  return SQLITE_OK;
}

static int journal_truncate(sqlite3_file *file, sqlite3_int64 length) {
  sealed_file *f = sealed(file);
  sqlite3_int64 real = 0;
  f->u.journal.opened = -1;
  if (length > 0) {
    uint64_t records = 0;
    if (length > JOURNAL_HEADER) {
      records = (uint64_t)((length - JOURNAL_HEADER + logical_record(f) - 1) / logical_record(f));
    }
    real = record_offset(f, records);
    if (f->u.journal.written > records) f->u.journal.written = records;
  } else {
    f->u.journal.knows_identity = 0;
    f->u.journal.written = 0;
  }
  sqlite3_int64 there = 0;
  int code = f->real->pMethods->xFileSize(f->real, &there);
  if (code != SQLITE_OK || there <= real) return code;
  return f->real->pMethods->xTruncate(f->real, real);
}

static int journal_size(sqlite3_file *file, sqlite3_int64 *length) {
  sealed_file *f = sealed(file);
  sqlite3_int64 real = 0;
  int code = f->real->pMethods->xFileSize(f->real, &real);
  *length = real >= START_BYTES ? JOURNAL_HEADER : 0;
  if (real > AREA_BYTES) *length += (real - AREA_BYTES) / real_record(f) * logical_record(f);
  return code;
}

const sqlite3_io_methods journal_methods = {
    1,
    journal_close,
    journal_read,
    journal_write,
    journal_truncate,
    journal_sync,
    journal_size,
    real_lock,
    real_unlock,
    real_check_reserved,
    sealed_file_control,
    sealed_sector_size,
    sealed_device_characteristics,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
};
