// The disk as SQLite sees it.
#include <stdlib.h>

#include "disk.h"

#define FCNTL_RENAME 0x46455231

typedef struct disk_file {
  sqlite3_file base;
  ferry_disk *disk;
  inode *file;
  char *name;
  int lock;
  int maps_shm;
  int deletes;
  uint8_t shm_shared[SHM_LOCKS];
} disk_file;

static disk_file *of(sqlite3_file *file) { return (disk_file *)(void *)file; }
static ferry_disk *disk_of(sqlite3_vfs *vfs) { return vfs->pAppData; }
static sqlite3_vfs *system_vfs(void) { return sqlite3_vfs_find(NULL); }

static int enter(disk_file *f) {
  sqlite3_mutex_enter(f->disk->mutex);
  return f->file->is_dead;
}

static int leave(disk_file *f, int code) {
  sqlite3_mutex_leave(f->disk->mutex);
  return code;
}

static void unlock_to(disk_file *f, int level) {
  inode *file = f->file;
  if (file->exclusive == f) file->exclusive = NULL;
  if (file->pending == f) file->pending = NULL;
  if (file->reserved == f && level < SQLITE_LOCK_RESERVED) file->reserved = NULL;
  if (level == SQLITE_LOCK_NONE && f->lock >= SQLITE_LOCK_SHARED) file->shared--;
  if (f->lock > level) f->lock = level;
}

static void release_shm(disk_file *f) {
  inode *file = f->file;
  if (!f->maps_shm) return;
  f->maps_shm = 0;
  for (int i = 0; i < SHM_LOCKS; i++) {
    if (f->shm_shared[i]) file->shm_shared[i]--;
    if (file->shm_exclusive[i] == f) file->shm_exclusive[i] = NULL;
    f->shm_shared[i] = 0;
  }
  if (--file->shm_handles > 0) return;
  for (int i = 0; i < SHM_REGIONS; i++) {
    sqlite3_free(file->regions[i]);
    file->regions[i] = NULL;
  }
}

static int file_close(sqlite3_file *base) {
  disk_file *f = of(base);
  sqlite3_mutex_enter(f->disk->mutex);
  unlock_to(f, SQLITE_LOCK_NONE);
  release_shm(f);
  f->file->handles--;
  disk_drop(f->disk, f->file);
  sqlite3_free(f->name);
  return leave(f, SQLITE_OK);
}

static int file_read(sqlite3_file *base, void *out, int amount, sqlite3_int64 offset) {
  disk_file *f = of(base);
  if (enter(f)) return leave(f, SQLITE_IOERR_READ);
  const content *now = &f->file->now;
  int64_t there = now->length - offset;
  if (there > amount) there = amount;
  if (there < 0) there = 0;
  if (there > 0) memcpy(out, now->bytes + offset, (size_t)there);
  memset((uint8_t *)out + there, 0, (size_t)(amount - there));
  return leave(f, there == amount ? SQLITE_OK : SQLITE_IOERR_SHORT_READ);
}

static int file_write(sqlite3_file *base, const void *in, int amount, sqlite3_int64 offset) {
  disk_file *f = of(base);
  if (enter(f)) return leave(f, SQLITE_IOERR_WRITE);
  int fault;
  int code = disk_note(f->disk, FERRY_WRITE, f->file, offset, amount, in, NULL, &fault);
  if (code == SQLITE_OK) {
    int64_t length = fault == SQLITE_OK ? amount : amount / 2;
    code = content_write(&f->file->now, in, length, offset);
  }
  return leave(f, code == SQLITE_OK ? fault : code);
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 length) {
  disk_file *f = of(base);
  if (enter(f)) return leave(f, SQLITE_IOERR_TRUNCATE);
  int fault;
  int code = disk_note(f->disk, FERRY_TRUNCATE, f->file, length, 0, NULL, NULL, &fault);
  if (code == SQLITE_OK && fault == SQLITE_OK) content_truncate(&f->file->now, length);
  return leave(f, code == SQLITE_OK ? fault : code);
}

static int file_sync(sqlite3_file *base, int flags) {
  (void)flags;
  disk_file *f = of(base);
  if (enter(f)) return leave(f, SQLITE_IOERR_FSYNC);
  int fault;
  int code = disk_note(f->disk, FERRY_SYNC, f->file, 0, 0, NULL, NULL, &fault);
  if (code == SQLITE_OK && fault == SQLITE_OK) disk_synced(f->disk, f->file);
  return leave(f, code == SQLITE_OK ? fault : code);
}

static int file_size(sqlite3_file *base, sqlite3_int64 *length) {
  disk_file *f = of(base);
  if (enter(f)) return leave(f, SQLITE_IOERR_FSTAT);
  *length = f->file->now.length;
  return leave(f, SQLITE_OK);
}

static int file_lock(sqlite3_file *base, int level) {
  disk_file *f = of(base);
  if (enter(f)) return leave(f, SQLITE_IOERR_LOCK);
  inode *file = f->file;
  if (f->lock >= level) return leave(f, SQLITE_OK);
  if (level == SQLITE_LOCK_SHARED) {
    if (file->pending || file->exclusive) return leave(f, SQLITE_BUSY);
    file->shared++;
  } else if (level == SQLITE_LOCK_RESERVED) {
    if (file->reserved || file->pending || file->exclusive) return leave(f, SQLITE_BUSY);
    file->reserved = f;
  } else {
    if ((file->reserved && file->reserved != f) || (file->pending && file->pending != f)) {
      return leave(f, SQLITE_BUSY);
    }
    file->pending = f;
    if (file->shared > 1) {
      f->lock = SQLITE_LOCK_PENDING;
      return leave(f, SQLITE_BUSY);
    }
    file->exclusive = f;
  }
  f->lock = level;
  return leave(f, SQLITE_OK);
}

static int file_unlock(sqlite3_file *base, int level) {
  disk_file *f = of(base);
  enter(f);
  unlock_to(f, level);
  return leave(f, SQLITE_OK);
}

static int file_check_reserved(sqlite3_file *base, int *held) {
  disk_file *f = of(base);
  enter(f);
  *held = f->file->reserved || f->file->pending || f->file->exclusive;
  return leave(f, SQLITE_OK);
}

static int sync_folder(ferry_disk *disk) {
  int fault;
  int code = disk_note(disk, FERRY_SYNC_FOLDER, NULL, 0, 0, NULL, NULL, &fault);
  if (code == SQLITE_OK && fault == SQLITE_OK) disk_synced(disk, NULL);
  return code == SQLITE_OK ? fault : code;
}

static int rename_file(disk_file *f, const char *name) {
  int fault;
  int code = sync_folder(f->disk);
  if (code != SQLITE_OK) return code;
  code = disk_note(f->disk, FERRY_RENAME, f->file, 0, 0, NULL, name, &fault);
  if (code == SQLITE_OK) code = fault;
  char *copy = sqlite3_mprintf("%s", name);
  if (!copy && code == SQLITE_OK) code = SQLITE_NOMEM;
  if (code != SQLITE_OK) {
    sqlite3_free(copy);
    return code;
  }
  inode *replaced = disk_find(f->disk, name);
  if (replaced) disk_unlink(f->disk, replaced);
  sqlite3_free(f->file->name);
  f->file->name = copy;
  return sync_folder(f->disk);
}

static int file_control(sqlite3_file *base, int operation, void *argument) {
  disk_file *f = of(base);
  if (enter(f)) return leave(f, SQLITE_IOERR);
  int code = SQLITE_NOTFOUND;
  if (operation == FCNTL_RENAME) {
    code = rename_file(f, argument);
  } else if (operation == SQLITE_FCNTL_HAS_MOVED) {
    *(int *)argument = disk_find(f->disk, f->name) != f->file;
    code = SQLITE_OK;
  }
  return leave(f, code);
}

static int file_sector_size(sqlite3_file *base) {
  (void)base;
  return 512;
}

static int file_device_characteristics(sqlite3_file *base) {
  (void)base;
  return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int shm_map(sqlite3_file *base, int region, int bytes, int extend, void volatile **out) {
  disk_file *f = of(base);
  *out = NULL;
  if (enter(f) || region >= SHM_REGIONS) return leave(f, SQLITE_IOERR_SHMMAP);
  if (!f->maps_shm) {
    f->maps_shm = 1;
    f->file->shm_handles++;
  }
  void **place = &f->file->regions[region];
  if (!*place && extend) {
    *place = sqlite3_malloc(bytes);
    if (!*place) return leave(f, SQLITE_NOMEM);
    memset(*place, 0, (size_t)bytes);
  }
  *out = *place;
  return leave(f, SQLITE_OK);
}

static int shm_lock(sqlite3_file *base, int offset, int count, int flags) {
  disk_file *f = of(base);
  if (enter(f)) return leave(f, SQLITE_IOERR_SHMLOCK);
  inode *file = f->file;
  for (int i = offset; i < offset + count; i++) {
    if (flags & SQLITE_SHM_UNLOCK) {
      if (file->shm_exclusive[i] == f) file->shm_exclusive[i] = NULL;
      if (f->shm_shared[i]) file->shm_shared[i]--;
      f->shm_shared[i] = 0;
    } else if (flags & SQLITE_SHM_SHARED) {
      if (file->shm_exclusive[i] && file->shm_exclusive[i] != f) return leave(f, SQLITE_BUSY);
      if (!f->shm_shared[i]) file->shm_shared[i]++;
      f->shm_shared[i] = 1;
    } else if ((file->shm_exclusive[i] && file->shm_exclusive[i] != f) ||
               file->shm_shared[i] > f->shm_shared[i]) {
      return leave(f, SQLITE_BUSY);
    }
  }
  if ((flags & SQLITE_SHM_EXCLUSIVE) && (flags & SQLITE_SHM_LOCK)) {
    for (int i = offset; i < offset + count; i++) file->shm_exclusive[i] = f;
  }
  return leave(f, SQLITE_OK);
}

static void shm_barrier(sqlite3_file *base) {
  disk_file *f = of(base);
  enter(f);
  leave(f, SQLITE_OK);
}

static int shm_unmap(sqlite3_file *base, int deletes) {
  (void)deletes;
  disk_file *f = of(base);
  enter(f);
  release_shm(f);
  return leave(f, SQLITE_OK);
}

static const sqlite3_io_methods methods = {
    2,
    file_close,
    file_read,
    file_write,
    file_truncate,
    file_sync,
    file_size,
    file_lock,
    file_unlock,
    file_check_reserved,
    file_control,
    file_sector_size,
    file_device_characteristics,
    shm_map,
    shm_lock,
    shm_barrier,
    shm_unmap,
    NULL,
    NULL,
};

static int open_file(
    sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *base, int flags, int *out_flags) {
  ferry_disk *disk = disk_of(vfs);
  disk_file *f = of(base);
  memset(f, 0, sizeof *f);
  sqlite3_mutex_enter(disk->mutex);
  inode *file = name ? disk_find(disk, name) : NULL;
  int code = SQLITE_OK;
  if (!file && name && !(flags & SQLITE_OPEN_CREATE)) {
    code = SQLITE_CANTOPEN;
  } else if (!file) {
    file = disk_create(disk, name);
    int fault = SQLITE_OK;
    if (!file) code = SQLITE_NOMEM;
    if (file && name) code = disk_note(disk, FERRY_CREATE, file, 0, 0, NULL, name, &fault);
    if (code == SQLITE_OK && fault != SQLITE_OK) {
      disk_unlink(disk, file);
      code = fault;
    }
  }
  if (code == SQLITE_OK) {
    f->disk = disk;
    f->file = file;
    f->name = sqlite3_mprintf("%s", name ? name : "");
    f->base.pMethods = &methods;
    file->handles++;
    if (out_flags) *out_flags = flags;
  }
  sqlite3_mutex_leave(disk->mutex);
  return code;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int syncs) {
  ferry_disk *disk = disk_of(vfs);
  int code = SQLITE_IOERR_DELETE_NOENT;
  int fault = SQLITE_OK;
  sqlite3_mutex_enter(disk->mutex);
  inode *file = disk_find(disk, name);
  if (file) {
    code = disk_note(disk, FERRY_DELETE, file, 0, 0, NULL, name, &fault);
    if (code == SQLITE_OK) code = fault;
    if (code == SQLITE_OK) disk_unlink(disk, file);
    if (code == SQLITE_OK && syncs) code = sync_folder(disk);
  }
  sqlite3_mutex_leave(disk->mutex);
  return code;
}

static int access_file(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
  ferry_disk *disk = disk_of(vfs);
  sqlite3_mutex_enter(disk->mutex);
  inode *file = disk_find(disk, name);
  // As in the system's VFS an empty file does not exist when SQLite asks for it.
  *out = file && (flags != SQLITE_ACCESS_EXISTS || file->now.length > 0);
  sqlite3_mutex_leave(disk->mutex);
  return SQLITE_OK;
}

static int full_name(sqlite3_vfs *vfs, const char *name, int length, char *out) {
  (void)vfs;
  sqlite3_snprintf(length, out, "%s%s", name[0] == '/' ? "" : "/", name);
  return SQLITE_OK;
}

static int randomness(sqlite3_vfs *vfs, int length, char *out) {
  (void)vfs;
  return system_vfs()->xRandomness(system_vfs(), length, out);
}

static int pause_for(sqlite3_vfs *vfs, int microseconds) {
  (void)vfs;
  return system_vfs()->xSleep(system_vfs(), microseconds);
}

static int current_time(sqlite3_vfs *vfs, double *out) {
  (void)vfs;
  return system_vfs()->xCurrentTime(system_vfs(), out);
}

void fault_vfs_prepare(ferry_disk *disk) {
  disk->vfs.iVersion = 1;
  disk->vfs.szOsFile = (int)sizeof(disk_file);
  disk->vfs.mxPathname = 512;
  disk->vfs.zName = disk->name;
  disk->vfs.pAppData = disk;
  disk->vfs.xOpen = open_file;
  disk->vfs.xDelete = delete_file;
  disk->vfs.xAccess = access_file;
  disk->vfs.xFullPathname = full_name;
  disk->vfs.xRandomness = randomness;
  disk->vfs.xSleep = pause_for;
  disk->vfs.xCurrentTime = current_time;
}
