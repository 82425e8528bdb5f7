// The database file: a header in clear, then pages, each sealed with its number and the file's id.
#include "sealed.h"

#define HEADER_READ_BYTES 100

static int page_read_one(sealed_file *f, uint32_t page, uint8_t *bytes) {
  sealer *s = f->sealer;
  uint32_t size = s->page_bytes;
  int code = f->real->pMethods->xRead(
      f->real, bytes, (int)size, HEADER_BYTES + (sqlite3_int64)(page - 1) * size);
  if (code != SQLITE_OK) return code;
  place where = {UNIT_PAGE, page, page, 0};
  if (sealer_open(s, where, bytes, size - RESERVED_BYTES) != SQLITE_OK) {
    return seal_fault(
        SEAL_DAMAGED, "page %llu does not open under the key: it was changed or damaged", page);
  }
  memset(bytes + size - RESERVED_BYTES, 0, RESERVED_BYTES);
  return SQLITE_OK;
}

// SQLite looks at the file's head before it has a lock, to learn the page size. Then the page may
// be torn, by a crash that the journal or the log is about to heal or by a writer at work. What is
// needed is known: the answer is a head that says nothing else.
static void answer_unlocked_head(const sealer *s, uint8_t *bytes) {
  memset(bytes, 0, HEADER_READ_BYTES);
  bytes[16] = (uint8_t)(s->page_bytes >> 8);
  bytes[17] = (uint8_t)(s->page_bytes == 65536 ? 1 : s->page_bytes);
  bytes[20] = RESERVED_BYTES;
}

static int page_read(sqlite3_file *file, void *out, int amount, sqlite3_int64 offset) {
  sealed_file *f = sealed(file);
  uint32_t size = f->sealer->page_bytes;
  uint8_t *bytes = out;
  while (amount > 0) {
    uint32_t page = (uint32_t)(offset / size) + 1;
    int within = (int)(offset % size);
    int part = (int)size - within < amount ? (int)size - within : amount;
    int isWhole = part == (int)size;
    uint8_t *target = isWhole ? bytes : f->sealer->scratch;
    int code = page_read_one(f, page, target);
    if (code == SQLITE_IOERR_SHORT_READ) {
      memset(bytes, 0, (size_t)amount);
      return code;
    }
    if (code == SEAL_DAMAGED && offset == 0 && amount == HEADER_READ_BYTES &&
        f->lock == SQLITE_LOCK_NONE) {
      seal_forget_fault();
      answer_unlocked_head(f->sealer, bytes);
      return SQLITE_OK;
    }
    if (code != SQLITE_OK) return code;
    if (!isWhole) memcpy(bytes, target + within, (size_t)part);
    bytes += part;
    offset += part;
    amount -= part;
  }
  return SQLITE_OK;
}

static int page_write_one(sealed_file *f, uint32_t page, const uint8_t *bytes) {
  sealer *s = f->sealer;
  uint32_t size = s->page_bytes;
  uint8_t *unit = s->scratch;
  if (bytes) {
    memcpy(unit, bytes, size);
  } else {
    memset(unit, 0, size);
  }
  place where = {UNIT_PAGE, page, page, 0};
  int code = sealer_seal(s, where, unit, size - RESERVED_BYTES);
  if (code != SQLITE_OK) return code;
  return f->real->pMethods->xWrite(
      f->real, unit, (int)size, HEADER_BYTES + (sqlite3_int64)(page - 1) * size);
}

static int page_size(sqlite3_file *file, sqlite3_int64 *length) {
  sealed_file *f = sealed(file);
  sqlite3_int64 real = 0;
  int code = f->real->pMethods->xFileSize(f->real, &real);
  sqlite3_int64 size = f->sealer->page_bytes;
  // A page that is there in part was torn while the file grew; it holds nothing.
  *length = real <= HEADER_BYTES ? 0 : (real - HEADER_BYTES) / size * size;
  return code;
}

static int page_write(sqlite3_file *file, const void *in, int amount, sqlite3_int64 offset) {
  sealed_file *f = sealed(file);
  sealer *s = f->sealer;
  uint32_t size = s->page_bytes;
  const uint8_t *bytes = in;
  uint64_t page = (uint64_t)(offset / size) + 1;
  if (amount != (int)size || offset % size != 0) {
    return seal_fault(SQLITE_IOERR_WRITE, "page %llu is written in part", page);
  }
  // A page without room for its seal would lose bytes; refusing is the only honest answer.
  if (!is_zero(bytes + size - RESERVED_BYTES, RESERVED_BYTES) ||
      (page == 1 && bytes[20] != RESERVED_BYTES)) {
    return seal_fault(SQLITE_IOERR_WRITE, "page %llu leaves no room for its seal", page);
  }
  if (page == 1) {
    uint32_t told = (uint32_t)bytes[16] << 8 | (uint32_t)bytes[17] << 16;
    if (told != size) {
      return seal_fault(SQLITE_IOERR_WRITE, "the page size may not change", 0);
    }
  }
  int code = SQLITE_OK;
  if (page > f->u.pages.known + 1) {
    sqlite3_int64 length = 0;
    code = page_size(file, &length);
    // A gap would read as damage: what SQLite leaves out is sealed as zeros.
    for (sqlite3_int64 gap = length; code == SQLITE_OK && gap < offset; gap += size) {
      code = page_write_one(f, (uint32_t)(gap / size) + 1, NULL);
    }
    f->u.pages.known = (uint64_t)((length > offset ? length : offset) / size);
  }
  if (code == SQLITE_OK) code = page_write_one(f, (uint32_t)page, bytes);
  if (code == SQLITE_OK && page > f->u.pages.known) f->u.pages.known = page;
  if (code != SQLITE_OK) f->u.pages.known = 0;
  return code;
}

static int page_truncate(sqlite3_file *file, sqlite3_int64 length) {
  sealed_file *f = sealed(file);
  f->u.pages.known = 0;
  return f->real->pMethods->xTruncate(f->real, HEADER_BYTES + length);
}

static int page_close(sqlite3_file *file) {
  sealed_file *f = sealed(file);
  int code = real_close(file);
  sealer *s = f->sealer;
  f->sealer = NULL;
  if (s) {
    if (s->cipher.release) s->cipher.release(s->cipher.context);
    sqlite3_free(s->scratch);
    sqlite3_free(s);
  }
  return code;
}

// A key change puts another file in this one's place. Whoever still has the old one open must not
// go on writing into what nobody will ever read again.
static int page_lock(sqlite3_file *file, int level) {
  sealed_file *f = sealed(file);
  int had = f->lock;
  f->u.pages.known = 0;
  int code = real_lock(file, level);
  if (code != SQLITE_OK || had != SQLITE_LOCK_NONE) return code;
  int moved = 0;
  if (f->real->pMethods->xFileControl(f->real, SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
      moved) {
    real_unlock(file, SQLITE_LOCK_NONE);
    return seal_fault(
        SQLITE_IOERR_LOCK, "the file was replaced, by a change of its key: open it again", 0);
  }
  return SQLITE_OK;
}

static int page_shm_map(
    sqlite3_file *file, int region, int bytes, int extend, void volatile **out) {
  sealed_file *f = sealed(file);
  if (f->real->pMethods->iVersion < 2) return SQLITE_IOERR_SHMMAP;
  return f->real->pMethods->xShmMap(f->real, region, bytes, extend, out);
}

static int page_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  sealed_file *f = sealed(file);
  // Who may write pages now: before, others may have cut the file.
  f->u.pages.known = 0;
  return f->real->pMethods->xShmLock(f->real, offset, count, flags);
}

static void page_shm_barrier(sqlite3_file *file) {
  sealed_file *f = sealed(file);
  f->real->pMethods->xShmBarrier(f->real);
}

static int page_shm_unmap(sqlite3_file *file, int removes) {
  sealed_file *f = sealed(file);
  return f->real->pMethods->xShmUnmap(f->real, removes);
}

// Version 2: there is no xFetch, so SQLite cannot map pages into memory past the seal.
const sqlite3_io_methods page_methods = {
    2,
    page_close,
    page_read,
    page_write,
    page_truncate,
    real_sync,
    page_size,
    page_lock,
    real_unlock,
    real_check_reserved,
    sealed_file_control,
    sealed_sector_size,
    sealed_device_characteristics,
    page_shm_map,
    page_shm_lock,
    page_shm_barrier,
    page_shm_unmap,
    NULL,
    NULL,
};
