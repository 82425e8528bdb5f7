// The VFS itself: which file is opened how, and what a connection may ask of it.
#include <stdio.h>
#include <stdlib.h>

#include "sealed.h"

typedef struct offer {
  struct offer *next;
  int64_t number;
  ferry_cipher cipher;
  uint8_t file_id[ID_BYTES];
  uint32_t page_bytes;
} offer;

// Guarded by SQLite's mutex for applications.
static offer *offers;
static int64_t offers_made;

static sqlite3_mutex *guard(void) { return sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1); }

int64_t ferry_sealed_offer(ferry_cipher cipher, const uint8_t *file_id, uint32_t page_bytes) {
  offer *made = sqlite3_malloc(sizeof *made);
  if (!made) {
    cipher.release(cipher.context);
    return 0;
  }
  made->cipher = cipher;
  memcpy(made->file_id, file_id, ID_BYTES);
  made->page_bytes = page_bytes;
  sqlite3_mutex_enter(guard());
  int64_t number = made->number = ++offers_made;
  made->next = offers;
  offers = made;
  sqlite3_mutex_leave(guard());
  return number;
}

static offer *take(int64_t number) {
  sqlite3_mutex_enter(guard());
  offer **link = &offers;
  while (*link && (*link)->number != number) link = &(*link)->next;
  offer *found = *link;
  if (found) *link = found->next;
  sqlite3_mutex_leave(guard());
  return found;
}

void ferry_sealed_withdraw(int64_t number) {
  offer *found = take(number);
  if (!found) return;
  found->cipher.release(found->cipher.context);
  sqlite3_free(found);
}

// Files that have a real one beneath.

int real_read(sealed_file *f, uint8_t *bytes, int length, sqlite3_int64 offset) {
  return f->real->pMethods->xRead(f->real, bytes, length, offset);
}

int real_close(sqlite3_file *file) {
  sealed_file *f = sealed(file);
  return f->real->pMethods ? f->real->pMethods->xClose(f->real) : SQLITE_OK;
}

int real_sync(sqlite3_file *file, int flags) {
  sealed_file *f = sealed(file);
  return f->real->pMethods->xSync(f->real, flags);
}

int real_lock(sqlite3_file *file, int level) {
  sealed_file *f = sealed(file);
  int code = f->real->pMethods->xLock(f->real, level);
  if (code == SQLITE_OK && f->lock < level) f->lock = level;
  return code;
}

int real_unlock(sqlite3_file *file, int level) {
  sealed_file *f = sealed(file);
  int code = f->real->pMethods->xUnlock(f->real, level);
  if (code == SQLITE_OK && f->lock > level) f->lock = level;
  return code;
}

int real_check_reserved(sqlite3_file *file, int *held) {
  sealed_file *f = sealed(file);
  return f->real->pMethods->xCheckReservedLock(f->real, held);
}

// A sector of 512 bytes gives the journal one form on every system.
int sealed_sector_size(sqlite3_file *file) {
  (void)file;
  return 512;
}

// POWERSAFE_OVERWRITE keeps frames whole in one write; SAFE_APPEND is true because what was not
// written whole does not open. Atomic writes are not promised: a unit is larger than its page.
int sealed_device_characteristics(sqlite3_file *file) {
  sealed_file *f = sealed(file);
  int real = f->real && f->real->pMethods ? f->real->pMethods->xDeviceCharacteristics(f->real) : 0;
  return SQLITE_IOCAP_POWERSAFE_OVERWRITE | SQLITE_IOCAP_SAFE_APPEND |
         (real & SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN);
}

// Other ciphers take their key by pragma, and SQLite says nothing to a pragma it does not know: the
// app would believe in a key that was never used.
static int pragma(sealed_file *f, char **arguments) {
  static const char *const keys[] = {"key", "hexkey", "textkey", "rekey", "hexrekey", "textrekey"};
  const char *name = arguments[1];
  const char *value = arguments[2];
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (sqlite3_stricmp(name, keys[i]) != 0) continue;
    arguments[0] = sqlite3_mprintf(
        "PRAGMA %s comes too late: the key is given when the database is opened", name);
    return SQLITE_ERROR;
  }
  if (value && sqlite3_stricmp(name, "page_size") == 0 &&
      atoll(value) != (long long)f->sealer->page_bytes) {
    arguments[0] = sqlite3_mprintf(
        "the pages of a sealed database keep their %u bytes", f->sealer->page_bytes);
    return SQLITE_ERROR;
  }
  return SQLITE_NOTFOUND;
}

#define FCNTL_NOTICE 0x46455233

int sealed_file_control(sqlite3_file *file, int operation, void *argument) {
  sealed_file *f = sealed(file);
  switch (operation) {
    case SQLITE_FCNTL_PRAGMA:
      return pragma(f, argument);
    case SQLITE_FCNTL_MMAP_SIZE:
      // Mapped pages would be ciphertext.
      *(sqlite3_int64 *)argument = 0;
      return SQLITE_OK;
    case SQLITE_FCNTL_CHUNK_SIZE:
    case SQLITE_FCNTL_SIZE_HINT:
      // Space taken in advance would read as pages that do not open.
      return SQLITE_OK;
    case SQLITE_FCNTL_BEGIN_ATOMIC_WRITE:
    case SQLITE_FCNTL_COMMIT_ATOMIC_WRITE:
    case SQLITE_FCNTL_ROLLBACK_ATOMIC_WRITE:
      return SQLITE_NOTFOUND;
    case FCNTL_NOTICE:
      *(const char **)argument = f->sealer->notice;
      return SQLITE_OK;
    default:
      return f->real->pMethods->xFileControl(f->real, operation, argument);
  }
}

const char *ferry_sealed_notice(void *database, const char *schema) {
  const char *text = "";
  sqlite3_file *file = NULL;
  // Only a file of ours understands the question.
  if (sqlite3_file_control(database, schema, SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK &&
      file && file->pMethods == &page_methods) {
    sealed_file_control(file, FCNTL_NOTICE, &text);
  }
  return text;
}

void ferry_leave_log(void *database, int leaves) {
  // Swift calls no function of variable arguments.
  sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leaves, NULL);
}

// Opening.

static sqlite3_vfs *base_of(sqlite3_vfs *vfs) { return vfs->pAppData; }

static int take_offer(sealed_file *f, const char *name) {
  offer *found = take(sqlite3_uri_int64(name, FERRY_SEAL_PARAMETER, 0));
  if (!found) return seal_fault(SQLITE_CANTOPEN, "no key was offered for the file", 0);
  sealer *s = sqlite3_malloc(sizeof *s);
  uint8_t *scratch = sqlite3_malloc64((sqlite3_uint64)found->page_bytes + 1024);
  if (!s || !scratch) {
    found->cipher.release(found->cipher.context);
    sqlite3_free(found);
    sqlite3_free(s);
    sqlite3_free(scratch);
    return SQLITE_NOMEM;
  }
  memset(s, 0, sizeof *s);
  s->cipher = found->cipher;
  s->page_bytes = found->page_bytes;
  s->scratch = scratch;
  s->owner = -1;
  memcpy(s->file_id, found->file_id, ID_BYTES);
  sqlite3_free(found);
  f->sealer = s;
  return SQLITE_OK;
}

static int open_file(
    sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out_flags) {
  sealed_file *f = sealed(file);
  int kinds = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL;
  memset(f, 0, sizeof *f);
  if (flags & SQLITE_OPEN_SUPER_JOURNAL) {
    // It would name files in clear, and the journals could not hold its name.
    return seal_fault(
        SQLITE_CANTOPEN,
        "a transaction over several files needs the write-ahead log (journal_mode = WAL)", 0);
  }
  if (!name || !(flags & kinds)) {
    f->base.pMethods = &memory_methods;
    if (out_flags) *out_flags = flags;
    return SQLITE_OK;
  }
  f->real = (sqlite3_file *)(void *)(f + 1);
  int code = SQLITE_OK;
  if (flags & SQLITE_OPEN_MAIN_DB) {
    code = take_offer(f, name);
    f->base.pMethods = &page_methods;
  } else {
    sqlite3_file *main = sqlite3_database_file_object(name);
    if (!main || main->pMethods != &page_methods) return SQLITE_CANTOPEN;
    f->sealer = sealed(main)->sealer;
    if (flags & SQLITE_OPEN_WAL) {
      f->base.pMethods = &log_methods;
      f->u.log.waiting = -1;
    } else {
      code = journal_prepare(f);
      f->base.pMethods = &journal_methods;
    }
  }
  if (code == SQLITE_OK) {
    code = base_of(vfs)->xOpen(base_of(vfs), name, f->real, flags, out_flags);
  }
  if (code != SQLITE_OK && f->base.pMethods) {
    // SQLite does not close what did not open.
    const sqlite3_io_methods *methods = f->base.pMethods;
    f->base.pMethods = NULL;
    methods->xClose(file);
  }
  return code;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int syncs) {
  return base_of(vfs)->xDelete(base_of(vfs), name, syncs);
}

static int access_file(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
  return base_of(vfs)->xAccess(base_of(vfs), name, flags, out);
}

static int full_name(sqlite3_vfs *vfs, const char *name, int length, char *out) {
  return base_of(vfs)->xFullPathname(base_of(vfs), name, length, out);
}

static int randomness(sqlite3_vfs *vfs, int length, char *out) {
  return base_of(vfs)->xRandomness(base_of(vfs), length, out);
}

static int pause_for(sqlite3_vfs *vfs, int microseconds) {
  return base_of(vfs)->xSleep(base_of(vfs), microseconds);
}

static int last_error(sqlite3_vfs *vfs, int length, char *out) {
  return base_of(vfs)->xGetLastError ? base_of(vfs)->xGetLastError(base_of(vfs), length, out) : 0;
}

static int current_time(sqlite3_vfs *vfs, double *out) {
  return base_of(vfs)->xCurrentTime(base_of(vfs), out);
}

static int current_time_64(sqlite3_vfs *vfs, sqlite3_int64 *out) {
  return base_of(vfs)->xCurrentTimeInt64(base_of(vfs), out);
}

static sqlite3_vfs *make_vfs(const char *name) {
  // Kept for the life of the process, as connections may be.
  sqlite3_vfs *made = sqlite3_malloc(sizeof *made);
  char *kept = sqlite3_mprintf("%s", name);
  if (!made || !kept) {
    sqlite3_free(made);
    sqlite3_free(kept);
    return NULL;
  }
  memset(made, 0, sizeof *made);
  made->zName = kept;
  made->xOpen = open_file;
  made->xDelete = delete_file;
  made->xAccess = access_file;
  made->xFullPathname = full_name;
  made->xRandomness = randomness;
  made->xSleep = pause_for;
  made->xCurrentTime = current_time;
  made->xGetLastError = last_error;
  made->xCurrentTimeInt64 = current_time_64;
  return made;
}

int ferry_sealed_register(const char *name, const char *base_name) {
  int code = sqlite3_initialize();
  if (code != SQLITE_OK) return code;
  sqlite3_mutex_enter(guard());
  sqlite3_vfs *base = sqlite3_vfs_find(base_name);
  sqlite3_vfs *found = sqlite3_vfs_find(name);
  sqlite3_vfs *made = found || !base ? NULL : make_vfs(name);
  if (!base) {
    code = SQLITE_NOTFOUND;
  } else if (!found && !made) {
    code = SQLITE_NOMEM;
  } else if (made || found->pAppData != base) {
    // A base that was taken away and came back under its name is another one.
    sqlite3_vfs *vfs = made ? made : found;
    vfs->iVersion = base->iVersion >= 2 ? 2 : 1;
    vfs->szOsFile = (int)sizeof(sealed_file) + base->szOsFile;
    vfs->mxPathname = base->mxPathname;
    vfs->pAppData = base;
    if (made) code = sqlite3_vfs_register(made, 0);
  }
  sqlite3_mutex_leave(guard());
  return code;
}
