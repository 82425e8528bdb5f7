// Temporary files (sorters, statement journals, VACUUM's copy) hold plaintext, so they stay in
// memory.
#include "sealed.h"

static int memory_close(sqlite3_file *file) {
  sqlite3_free(sealed(file)->u.memory.bytes);
  sealed(file)->u.memory.bytes = NULL;
  return SQLITE_OK;
}

static int memory_read(sqlite3_file *file, void *out, int amount, sqlite3_int64 offset) {
  sealed_file *f = sealed(file);
  sqlite3_int64 there = f->u.memory.length - offset;
  if (there > amount) there = amount;
  if (there > 0) memcpy(out, f->u.memory.bytes + offset, (size_t)there);
  if (there >= amount) return SQLITE_OK;
  if (there < 0) there = 0;
  memset((uint8_t *)out + there, 0, (size_t)(amount - there));
  return SQLITE_IOERR_SHORT_READ;
}

static int memory_write(sqlite3_file *file, const void *in, int amount, sqlite3_int64 offset) {
  sealed_file *f = sealed(file);
  sqlite3_int64 end = offset + amount;
  if (end > f->u.memory.capacity) {
    sqlite3_int64 capacity = end < 32768 ? 65536 : end * 2;
    uint8_t *bytes = sqlite3_realloc64(f->u.memory.bytes, (sqlite3_uint64)capacity);
    if (!bytes) return SQLITE_IOERR_NOMEM;
    f->u.memory.bytes = bytes;
    f->u.memory.capacity = capacity;
  }
  if (offset > f->u.memory.length) {
    memset(f->u.memory.bytes + f->u.memory.length, 0, (size_t)(offset - f->u.memory.length));
  }
  memcpy(f->u.memory.bytes + offset, in, (size_t)amount);
  if (end > f->u.memory.length) f->u.memory.length = end;
  return SQLITE_OK;
}

static int memory_truncate(sqlite3_file *file, sqlite3_int64 length) {
  sealed_file *f = sealed(file);
  if (length < f->u.memory.length) f->u.memory.length = length;
  return SQLITE_OK;
}

static int memory_sync(sqlite3_file *file, int flags) {
  (void)file;
  (void)flags;
  return SQLITE_OK;
}

static int memory_size(sqlite3_file *file, sqlite3_int64 *length) {
  *length = sealed(file)->u.memory.length;
  return SQLITE_OK;
}

static int memory_lock(sqlite3_file *file, int level) {
  (void)file;
  (void)level;
  return SQLITE_OK;
}

static int memory_check_reserved(sqlite3_file *file, int *held) {
  (void)file;
  *held = 0;
  return SQLITE_OK;
}

static int memory_file_control(sqlite3_file *file, int operation, void *argument) {
  (void)file;
  (void)operation;
  (void)argument;
  return SQLITE_NOTFOUND;
}

const sqlite3_io_methods memory_methods = {
    1,
    memory_close,
    memory_read,
    memory_write,
    memory_truncate,
    memory_sync,
    memory_size,
    memory_lock,
    memory_lock,
    memory_check_reserved,
    memory_file_control,
    sealed_sector_size,
    sealed_device_characteristics,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
};
