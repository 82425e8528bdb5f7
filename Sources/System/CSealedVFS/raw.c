// The few things that are done to whole files, beneath the seal: looking at the header, writing the
// first one, putting a new file in the place of an old one.
#if !defined(__APPLE__)
#define _DEFAULT_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sealed.h"

typedef struct raw_file {
  sqlite3_vfs *vfs;
  sqlite3_file *file;
  char *full;
  sqlite3_filename name;
} raw_file;

static void raw_close(raw_file *raw) {
  if (raw->file && raw->file->pMethods) raw->file->pMethods->xClose(raw->file);
  sqlite3_free(raw->file);
  if (raw->name) sqlite3_free_filename(raw->name);
  sqlite3_free(raw->full);
  memset(raw, 0, sizeof *raw);
}

static int raw_name(raw_file *raw, const char *base, const char *path) {
  memset(raw, 0, sizeof *raw);
  int code = sqlite3_initialize();
  if (code != SQLITE_OK) return code;
  raw->vfs = sqlite3_vfs_find(base);
  if (!raw->vfs) return SQLITE_NOTFOUND;
  raw->full = sqlite3_malloc(raw->vfs->mxPathname + 1);
  if (!raw->full) return SQLITE_NOMEM;
  // A name that is a symbolic link gives a warning code and the right name.
  code = raw->vfs->xFullPathname(raw->vfs, path, raw->vfs->mxPathname + 1, raw->full);
  return code == SQLITE_OK_SYMLINK ? SQLITE_OK : code;
}

static int raw_open(raw_file *raw, const char *base, const char *path, int flags) {
  int code = raw_name(raw, base, path);
  if (code == SQLITE_OK) {
    raw->name = sqlite3_create_filename(raw->full, "", "", 0, NULL);
    raw->file = sqlite3_malloc(raw->vfs->szOsFile);
    if (!raw->name || !raw->file) code = SQLITE_NOMEM;
  }
  if (code == SQLITE_OK) {
    memset(raw->file, 0, (size_t)raw->vfs->szOsFile);
    code = raw->vfs->xOpen(raw->vfs, raw->name, raw->file, flags | SQLITE_OPEN_MAIN_DB, NULL);
  }
  if (code != SQLITE_OK) raw_close(raw);
  return code;
}

static int look(raw_file *raw, uint8_t *bytes, int capacity, int64_t *file_bytes) {
  sqlite3_int64 size = 0;
  memset(bytes, 0, (size_t)capacity);
  int code = raw->file->pMethods->xFileSize(raw->file, &size);
  *file_bytes = size;
  if (code != SQLITE_OK) return code;
  int there = size < capacity ? (int)size : capacity;
  return there > 0 ? raw->file->pMethods->xRead(raw->file, bytes, there, 0) : SQLITE_OK;
}

// One look: a file that goes between the question whether it is there and its opening cannot be opened.
static int peek_once(
    const char *base, const char *path, uint8_t *bytes, int capacity, int64_t *file_bytes) {
  raw_file raw;
  int there = 0;
  int code = raw_name(&raw, base, path);
  if (code == SQLITE_OK) {
    code = raw.vfs->xAccess(raw.vfs, raw.full, SQLITE_ACCESS_EXISTS, &there);
  }
  // A pipe would make the reader wait, and a folder has no bytes: SQLite says what it makes of them.
  struct stat status;
  if (there && !base && stat(raw.full, &status) == 0 && !S_ISREG(status.st_mode)) there = 0;
  raw_close(&raw);
  if (code != SQLITE_OK || !there) return code;
  code = raw_open(&raw, base, path, SQLITE_OPEN_READONLY);
  if (code != SQLITE_OK) return code;
  code = look(&raw, bytes, capacity, file_bytes);
  raw_close(&raw);
  return code;
}

int ferry_sealed_peek(
    const char *base, const char *path, uint8_t *bytes, int capacity, int64_t *file_bytes) {
  int code = SQLITE_OK;
  // Another process deletes or cuts its journal at each commit. A file that was there and is gone or
  // shorter is looked at again; one that cannot be opened fails each time.
  for (int look = 0; look < 20; look++) {
    *file_bytes = -1;
    memset(bytes, 0, (size_t)capacity);
    code = peek_once(base, path, bytes, capacity, file_bytes);
    if ((code & 0xff) != SQLITE_CANTOPEN && code != SQLITE_IOERR_SHORT_READ) break;
  }
  return code;
}

static int raw_lock(raw_file *raw) {
  static const int levels[] = {SQLITE_LOCK_SHARED, SQLITE_LOCK_RESERVED, SQLITE_LOCK_EXCLUSIVE};
  int code = SQLITE_OK;
  for (int i = 0; i < 3 && code == SQLITE_OK; i++) {
    code = raw->file->pMethods->xLock(raw->file, levels[i]);
  }
  return code;
}

int ferry_sealed_begin(
    const char *base, const char *path, const uint8_t *seen, int64_t seen_bytes,
    const uint8_t *header) {
  raw_file raw;
  int code = raw_open(&raw, base, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (code != SQLITE_OK) return code;
  code = raw_lock(&raw);
  uint8_t now[HEADER_BYTES];
  int64_t file_bytes = 0;
  if (code == SQLITE_OK) code = look(&raw, now, HEADER_BYTES, &file_bytes);
  int64_t expected = seen_bytes < 0 ? 0 : seen_bytes;
  if (code == SQLITE_OK &&
      (file_bytes != expected || expected > HEADER_BYTES ||
       memcmp(now, seen, (size_t)expected) != 0)) {
    code = SQLITE_BUSY;
  }
  if (code == SQLITE_OK) {
    code = raw.file->pMethods->xWrite(raw.file, header, HEADER_BYTES, 0);
  }
  if (code == SQLITE_OK) code = raw.file->pMethods->xSync(raw.file, SQLITE_SYNC_FULL);
  raw.file->pMethods->xUnlock(raw.file, SQLITE_LOCK_NONE);
  raw_close(&raw);
  return code;
}

static int sync_folder(const char *path) {
  char *folder = sqlite3_mprintf("%s", path);
  if (!folder) return SQLITE_NOMEM;
  char *last = strrchr(folder, '/');
  if (last) *(last == folder ? last + 1 : last) = 0;
  int descriptor = open(last ? folder : ".", O_RDONLY);
  sqlite3_free(folder);
  if (descriptor < 0) return SQLITE_IOERR_DIR_FSYNC;
  int code = fsync(descriptor) == 0 || errno == EINVAL ? SQLITE_OK : SQLITE_IOERR_DIR_FSYNC;
  close(descriptor);
  return code;
}

int ferry_sealed_replace(const char *base, const char *from, const char *to) {
  raw_file target, raw;
  int code = raw_name(&target, base, to);
  if (code == SQLITE_OK) code = raw_open(&raw, base, from, SQLITE_OPEN_READWRITE);
  if (code != SQLITE_OK) {
    raw_close(&target);
    return code;
  }
  code = raw.file->pMethods->xSync(raw.file, SQLITE_SYNC_FULL);
  if (code == SQLITE_OK) {
    code = raw.file->pMethods->xFileControl(raw.file, FERRY_FCNTL_RENAME, target.full);
    if (code == SQLITE_NOTFOUND) {
      // First what was removed before (a log of the old key), then the new name.
      code = sync_folder(target.full);
      if (code == SQLITE_OK && rename(raw.full, target.full) != 0) code = SQLITE_IOERR_WRITE;
      if (code == SQLITE_OK) code = sync_folder(target.full);
    }
  }
  raw_close(&raw);
  raw_close(&target);
  return code;
}

int ferry_sealed_remove(const char *base, const char *path) {
  raw_file raw;
  int code = raw_name(&raw, base, path);
  if (code == SQLITE_OK) code = raw.vfs->xDelete(raw.vfs, raw.full, 1);
  raw_close(&raw);
  return code == SQLITE_IOERR_DELETE_NOENT ? SQLITE_OK : code;
}
