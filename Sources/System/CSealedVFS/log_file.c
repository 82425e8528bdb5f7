// The write-ahead log. SQLite's 32 bytes of header live in two places by turns, each with the
// number of its generation, so that a torn header never hides the one before. A frame is its sealed
// header and its sealed page. A mark says how much of a generation is known to be on the disk: what
// is before the mark and does not open was damaged, what is behind it may be torn by a crash.
#include "sealed.h"

#define LOG_HEADER 32
#define FRAME_HEADER 24
#define HEADER_PLAIN (LOG_HEADER + 8)
#define FRAME_PLAIN (FRAME_HEADER + 8)
#define FRAME_UNIT (FRAME_PLAIN + RESERVED_BYTES)
#define MARK_PLAIN 16
#define SLOT_BYTES 1024
#define MARK_OFFSET 2048

static sqlite3_int64 logical_frame(const sealed_file *f) {
  return FRAME_HEADER + (sqlite3_int64)f->sealer->page_bytes;
}

static sqlite3_int64 real_frame(const sealed_file *f) {
  return FRAME_UNIT + (sqlite3_int64)f->sealer->page_bytes;
}

static sqlite3_int64 frame_offset(const sealed_file *f, uint64_t frame) {
  return AREA_BYTES + (sqlite3_int64)frame * real_frame(f);
}

// The newest header that opens; generation 0 when there is none.
static int newest_header(sealed_file *f, uint8_t *header, uint64_t *generation, int *slot) {
  *generation = 0;
  for (int i = 0; i < 2; i++) {
    uint8_t unit[HEADER_PLAIN + RESERVED_BYTES];
    int code = real_read(f, unit, sizeof unit, i * SLOT_BYTES);
    if (code == SQLITE_IOERR_SHORT_READ) continue;
    if (code != SQLITE_OK) return code;
    place where = {UNIT_LOG_HEADER, (uint64_t)i, 0, 0};
    if (sealer_open(f->sealer, where, unit, HEADER_PLAIN) != SQLITE_OK) continue;
    uint64_t found = get64(unit + LOG_HEADER);
    if (found <= *generation) continue;
    *generation = found;
    *slot = i;
    memcpy(header, unit, LOG_HEADER);
  }
  return SQLITE_OK;
}

static int read_mark(sealed_file *f, uint64_t *generation, uint64_t *frames) {
  uint8_t unit[MARK_PLAIN + RESERVED_BYTES];
  *generation = *frames = 0;
  int code = real_read(f, unit, sizeof unit, MARK_OFFSET);
  if (code == SQLITE_IOERR_SHORT_READ) return SQLITE_OK;
  if (code != SQLITE_OK) return code;
  place where = {UNIT_LOG_MARK, 0, 0, 0};
  if (sealer_open(f->sealer, where, unit, MARK_PLAIN) != SQLITE_OK) return SQLITE_OK;
  *generation = get64(unit);
  *frames = get64(unit + 8);
  return SQLITE_OK;
}

static void know_generation(sealed_file *f, uint64_t generation, const uint8_t *salt) {
  if (!f->u.log.knows_generation || f->u.log.generation != generation) {
    f->u.log.written = f->u.log.committed = f->u.log.marked = 0;
    f->u.log.waiting = -1;
  }
  f->u.log.generation = generation;
  memcpy(f->u.log.salt, salt, 8);
  f->u.log.knows_generation = 1;
}

static int learn_generation(sealed_file *f) {
  uint8_t header[LOG_HEADER];
  uint64_t generation;
  int slot;
  int code = newest_header(f, header, &generation, &slot);
  if (code == SQLITE_OK && generation > 0) know_generation(f, generation, header + 16);
  return code;
}

// Opens the header of a frame that stands in `unit`; 0 when it does not open.
static uint64_t open_frame_header(sealed_file *f, uint64_t frame, uint8_t *unit) {
  place where = {UNIT_LOG_FRAME, frame, 0, 0};
  if (sealer_open(f->sealer, where, unit, FRAME_PLAIN) != SQLITE_OK) return 0;
  return get64(unit + FRAME_HEADER);
}

static place page_place(uint64_t frame, const uint8_t *frame_header, uint64_t generation) {
  place where = {UNIT_LOG_PAGE, frame, get32(frame_header), generation};
  return where;
}

// The mark is written when its frames are on the disk: a log that ends before them was cut.
static int check_length(sealed_file *f, uint64_t frames) {
  sqlite3_int64 size = 0;
  int code = f->real->pMethods->xFileSize(f->real, &size);
  if (code != SQLITE_OK || size >= frame_offset(f, frames)) return code;
  return seal_fault(
      SEAL_DAMAGED, "the log ends before frame %llu, which was on the disk: it was cut", frames);
}

static int read_header(sealed_file *f, uint8_t *out) {
  uint8_t header[LOG_HEADER] = {0};
  uint8_t unit[FRAME_UNIT];
  uint64_t generation, marked, frames, first = 0;
  int slot;
  int code = newest_header(f, header, &generation, &slot);
  if (code == SQLITE_OK) code = read_mark(f, &marked, &frames);
  if (code != SQLITE_OK) return code;
  code = real_read(f, unit, sizeof unit, AREA_BYTES);
  if (code == SQLITE_OK) first = open_frame_header(f, 0, unit);
  if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return code;
  // A header is synced before its first frame is written: frames without it tell of damage.
  if (marked > generation || first > generation) {
    return seal_fault(
        SEAL_DAMAGED,
        "the header of the log does not open under the key, though frames follow it: it was "
        "changed or damaged",
        0);
  }
  if (generation > 0 && marked == generation) {
    code = check_length(f, frames);
    if (code != SQLITE_OK) return code;
  }
  if (generation > 0) know_generation(f, generation, header + 16);
  memcpy(out, header, LOG_HEADER);
  return SQLITE_OK;
}

static int frame_damaged(uint64_t frame) {
  return seal_fault(
      SEAL_DAMAGED, "frame %llu of the log does not open under the key: it was changed or damaged",
      frame + 1);
}

static int frame_does_not_open(
    sealed_file *f, uint64_t frame, int is_empty, void *out, int amount) {
  uint64_t generation, frames;
  int code = read_mark(f, &generation, &frames);
  if (code != SQLITE_OK) return code;
  int is_final = f->u.log.knows_generation && generation == f->u.log.generation && frame < frames;
  if (is_final || frame < f->u.log.written) return frame_damaged(frame);
  if (!is_empty) {
    sealer_notice(
        f->sealer,
        "frame %llu of the log did not open: torn by a crash, or damaged; the log ends before it",
        frame + 1);
  }
  memset(out, 0, (size_t)amount);
  return SQLITE_OK;
}

// A frame as recovery and the renewal of checksums read it: header and page at once.
static int read_frame(sealed_file *f, uint64_t frame, uint8_t *out) {
  int size = (int)f->sealer->page_bytes;
  uint8_t *unit = f->sealer->scratch;
  int code = real_read(f, unit, (int)real_frame(f), frame_offset(f, frame));
  if (code != SQLITE_OK) return code;
  int is_empty = is_zero(unit, FRAME_UNIT);
  uint64_t generation = open_frame_header(f, frame, unit);
  if (generation == 0) return frame_does_not_open(f, frame, is_empty, out, FRAME_HEADER + size);
  memcpy(out, unit, FRAME_HEADER);
  if (!f->u.log.knows_generation || generation != f->u.log.generation) {
    code = learn_generation(f);
    if (code != SQLITE_OK) return code;
  }
  if (generation != f->u.log.generation) {
    // Left over from before the log began again: SQLite sees it by the salt.
    memset(out + FRAME_HEADER, 0, (size_t)size);
    return SQLITE_OK;
  }
  place where = page_place(frame, unit, generation);
  code = sealer_open(f->sealer, where, unit + FRAME_UNIT, (size_t)size - RESERVED_BYTES);
  if (code != SQLITE_OK) {
    return frame_does_not_open(f, frame, 0, out, FRAME_HEADER + size);
  }
  memset(unit + FRAME_UNIT + size - RESERVED_BYTES, 0, RESERVED_BYTES);
  memcpy(out + FRAME_HEADER, unit + FRAME_UNIT, (size_t)size);
  return SQLITE_OK;
}

// A page of a frame that the index names.
static int read_page(sealed_file *f, uint64_t frame, uint8_t *out) {
  int size = (int)f->sealer->page_bytes;
  uint8_t *unit = f->sealer->scratch;
  int code = real_read(f, unit, (int)real_frame(f), frame_offset(f, frame));
  if (code != SQLITE_OK) return code;
  uint64_t generation = open_frame_header(f, frame, unit);
  if (generation != 0 && (!f->u.log.knows_generation || generation != f->u.log.generation)) {
    code = learn_generation(f);
    if (code != SQLITE_OK) return code;
  }
  place where = page_place(frame, unit, generation);
  if (generation == 0 || generation != f->u.log.generation ||
      sealer_open(f->sealer, where, unit + FRAME_UNIT, (size_t)size - RESERVED_BYTES) !=
          SQLITE_OK) {
    return frame_damaged(frame);
  }
  memcpy(out, unit + FRAME_UNIT, (size_t)size - RESERVED_BYTES);
  memset(out + size - RESERVED_BYTES, 0, RESERVED_BYTES);
  return SQLITE_OK;
}

static int log_read(sqlite3_file *file, void *out, int amount, sqlite3_int64 offset) {
  sealed_file *f = sealed(file);
  if (offset + amount <= LOG_HEADER) {
    uint8_t header[LOG_HEADER];
    int code = read_header(f, header);
    memcpy(out, header + offset, code == SQLITE_OK ? (size_t)amount : 0);
    return code;
  }
  if (offset < LOG_HEADER) return SQLITE_IOERR_READ;
  uint64_t frame = (uint64_t)((offset - LOG_HEADER) / logical_frame(f));
  int within = (int)((offset - LOG_HEADER) % logical_frame(f));
  int size = (int)f->sealer->page_bytes;
  int code;
  if (within == 0 && amount == FRAME_HEADER + size) {
    code = read_frame(f, frame, out);
  } else if (within == FRAME_HEADER && amount == size) {
    code = read_page(f, frame, out);
  } else if (within + amount <= FRAME_HEADER) {
    uint8_t unit[FRAME_UNIT];
    code = real_read(f, unit, sizeof unit, frame_offset(f, frame));
    if (code == SQLITE_OK && open_frame_header(f, frame, unit) == 0) {
      return frame_does_not_open(f, frame, 0, out, amount);
    }
    if (code == SQLITE_OK) memcpy(out, unit + within, (size_t)amount);
  } else {
    return seal_fault(SQLITE_IOERR_READ, "frame %llu is read in part", frame + 1);
  }
  if (code == SQLITE_IOERR_SHORT_READ) memset(out, 0, (size_t)amount);
  return code;
}

static int write_header(sealed_file *f, const uint8_t *header) {
  uint8_t unit[HEADER_PLAIN + RESERVED_BYTES];
  uint8_t old[LOG_HEADER];
  uint64_t generation, marked, frames;
  int slot = 1;
  int code = newest_header(f, old, &generation, &slot);
  if (code == SQLITE_OK) code = read_mark(f, &marked, &frames);
  if (code != SQLITE_OK) return code;
  if (marked > generation) generation = marked;
  slot = 1 - slot;
  memcpy(unit, header, LOG_HEADER);
  put64(unit + LOG_HEADER, generation + 1);
  place where = {UNIT_LOG_HEADER, (uint64_t)slot, 0, 0};
  code = sealer_seal(f->sealer, where, unit, HEADER_PLAIN);
  if (code != SQLITE_OK) return code;
  know_generation(f, generation + 1, header + 16);
  return f->real->pMethods->xWrite(f->real, unit, sizeof unit, slot * SLOT_BYTES);
}

static int seal_frame_header(sealed_file *f, uint64_t frame, const uint8_t *header, uint8_t *unit) {
  memcpy(unit, header, FRAME_HEADER);
  put64(unit + FRAME_HEADER, f->u.log.generation);
  place where = {UNIT_LOG_FRAME, frame, 0, 0};
  return sealer_seal(f->sealer, where, unit, FRAME_PLAIN);
}

// Whether a frame is of the generation that this handle knows. SQLite leaves the salt empty while a
// transaction writes over frames of its own, and fills it in before it commits.
static int is_known(const sealed_file *f, const uint8_t *header) {
  return f->u.log.knows_generation &&
         (memcmp(f->u.log.salt, header + 8, 8) == 0 || is_zero(header + 8, 16));
}

static int write_frame_header(sealed_file *f, uint64_t frame, const uint8_t *header) {
  int code = SQLITE_OK;
  if (!is_known(f, header)) {
    code = learn_generation(f);
    if (code != SQLITE_OK) return code;
    if (!is_known(f, header)) {
      return seal_fault(
          SQLITE_IOERR_WRITE, "frame %llu belongs to no header of the log", frame + 1);
    }
  }
  if (frame >= f->u.log.written) {
    // A new frame: its page comes next, and both are written at once.
    f->u.log.waiting = (int64_t)frame;
    memcpy(f->u.log.waiting_header, header, FRAME_HEADER);
    return SQLITE_OK;
  }
  uint8_t unit[FRAME_UNIT];
  code = seal_frame_header(f, frame, header, unit);
  if (code != SQLITE_OK) return code;
  return f->real->pMethods->xWrite(f->real, unit, sizeof unit, frame_offset(f, frame));
}

static int write_page(sealed_file *f, uint64_t frame, const uint8_t *bytes) {
  int size = (int)f->sealer->page_bytes;
  uint8_t *unit = f->sealer->scratch;
  uint8_t header[FRAME_UNIT];
  int is_new = f->u.log.waiting == (int64_t)frame;
  int code;
  if (!is_zero(bytes + size - RESERVED_BYTES, RESERVED_BYTES)) {
    return seal_fault(SQLITE_IOERR_WRITE, "frame %llu leaves no room for its seal", frame + 1);
  }
  if (is_new) {
    memcpy(header, f->u.log.waiting_header, FRAME_HEADER);
    f->u.log.waiting = -1;
    code = seal_frame_header(f, frame, header, unit);
    if (code != SQLITE_OK) return code;
  } else {
    code = real_read(f, header, FRAME_UNIT, frame_offset(f, frame));
    if (code != SQLITE_OK) return code;
    if (open_frame_header(f, frame, header) != f->u.log.generation) return frame_damaged(frame);
  }
  memcpy(unit + FRAME_UNIT, bytes, (size_t)size);
  place where = page_place(frame, header, f->u.log.generation);
  code = sealer_seal(f->sealer, where, unit + FRAME_UNIT, (size_t)size - RESERVED_BYTES);
  if (code != SQLITE_OK) return code;
  int skipped = is_new ? 0 : FRAME_UNIT;
  code = f->real->pMethods->xWrite(
      f->real, unit + skipped, (int)real_frame(f) - skipped, frame_offset(f, frame) + skipped);
  if (code != SQLITE_OK) return code;
  if (frame >= f->u.log.written) f->u.log.written = frame + 1;
  // The size of the database in a frame's header says that a transaction ends here.
  if (get32(header + 4) != 0) f->u.log.committed = frame + 1;
  return SQLITE_OK;
}

static int log_write(sqlite3_file *file, const void *in, int amount, sqlite3_int64 offset) {
  sealed_file *f = sealed(file);
  int code;
  if (offset == 0 && amount == LOG_HEADER) {
    code = write_header(f, in);
  } else if (offset < LOG_HEADER) {
    code = SQLITE_IOERR_WRITE;
  } else {
    uint64_t frame = (uint64_t)((offset - LOG_HEADER) / logical_frame(f));
    int within = (int)((offset - LOG_HEADER) % logical_frame(f));
    if (within == 0 && amount == FRAME_HEADER) {
      code = write_frame_header(f, frame, in);
    } else if (within == FRAME_HEADER && amount == (int)f->sealer->page_bytes) {
      code = write_page(f, frame, in);
    } else {
      code = seal_fault(SQLITE_IOERR_WRITE, "frame %llu is written in part", frame + 1);
    }
  }
  // A transaction that failed is written over by the next: nothing of it is final.
  if (code != SQLITE_OK) f->u.log.committed = f->u.log.marked;
  return code;
}

static int write_mark(sealed_file *f, uint64_t generation, uint64_t frames) {
  uint8_t unit[MARK_PLAIN + RESERVED_BYTES];
  put64(unit, generation);
  put64(unit + 8, frames);
  place where = {UNIT_LOG_MARK, 0, 0, 0};
  int code = sealer_seal(f->sealer, where, unit, MARK_PLAIN);
  if (code != SQLITE_OK) return code;
  return f->real->pMethods->xWrite(f->real, unit, sizeof unit, MARK_OFFSET);
}

static int log_sync(sqlite3_file *file, int flags) {
  sealed_file *f = sealed(file);
  int code = f->real->pMethods->xSync(f->real, flags);
  if (code != SQLITE_OK) {
    f->u.log.committed = f->u.log.marked;
    return code;
  }
  if (f->u.log.committed <= f->u.log.marked) return SQLITE_OK;
  // The mark is evidence, not truth: without it damage at the log's end looks like a torn write.
  if (write_mark(f, f->u.log.generation, f->u.log.committed) == SQLITE_OK) {
    f->u.log.marked = f->u.log.committed;
  }
  return SQLITE_OK;
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 length) {
  sealed_file *f = sealed(file);
  sqlite3_int64 real = 0;
  int code = f->real->pMethods->xFileSize(f->real, &real);
  if (code != SQLITE_OK) return code;
  // The area stays: the headers go on counting generations.
  uint64_t kept = 0;
  if (length > LOG_HEADER) {
    kept = (uint64_t)((length - LOG_HEADER + logical_frame(f) - 1) / logical_frame(f));
  }
  if (real <= frame_offset(f, kept)) return SQLITE_OK;
  // The mark goes back first, and is on the disk: else what is taken away here would look cut.
  uint64_t generation, frames;
  code = read_mark(f, &generation, &frames);
  if (code == SQLITE_OK && frames > kept) {
    code = write_mark(f, generation, kept);
    if (code == SQLITE_OK) code = f->real->pMethods->xSync(f->real, SQLITE_SYNC_NORMAL);
    if (f->u.log.marked > kept) f->u.log.marked = kept;
  }
  if (code != SQLITE_OK) return code;
  return f->real->pMethods->xTruncate(f->real, frame_offset(f, kept));
}

static int log_size(sqlite3_file *file, sqlite3_int64 *length) {
  sealed_file *f = sealed(file);
  sqlite3_int64 real = 0;
  int code = f->real->pMethods->xFileSize(f->real, &real);
  *length = real > 0 ? LOG_HEADER : 0;
  if (real > AREA_BYTES) *length += (real - AREA_BYTES) / real_frame(f) * logical_frame(f);
  // Of a log without a whole frame SQLite reads nothing, not even the header.
  uint8_t header[LOG_HEADER];
  if (code == SQLITE_OK && *length == LOG_HEADER) code = read_header(f, header);
  return code;
}

const sqlite3_io_methods log_methods = {
    1,
    real_close,
    log_read,
    log_write,
    log_truncate,
    log_sync,
    log_size,
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
