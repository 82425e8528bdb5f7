// What a crash leaves of a disk.
#include "disk.h"

static uint64_t chance(uint64_t *state) {
  *state += UINT64_C(0x9E3779B97F4A7C15);
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

// A part of a write: its beginning, or some of its sectors.
static int apply_torn(ferry_disk *left, const operation *o, uint64_t *seed) {
  if (o->kind != FERRY_WRITE || o->length < 2) return SQLITE_OK;
  if (chance(seed) % 2) {
    return disk_apply(left, o, 0, 1 + (int64_t)(chance(seed) % (uint64_t)(o->length - 1)));
  }
  for (int64_t at = 0; at < o->length;) {
    int64_t part = 512 - (o->offset + at) % 512;
    if (part > o->length - at) part = o->length - at;
    if (chance(seed) % 2) {
      int code = disk_apply(left, o, at, part);
      if (code != SQLITE_OK) return code;
    }
    at += part;
  }
  return SQLITE_OK;
}

static int copy_base(ferry_disk *left, ferry_disk *disk) {
  for (inode *file = disk->inodes; file; file = file->next) {
    if (file->is_dead) continue;
    inode *copy = disk_create(left, NULL);
    if (!copy) return SQLITE_NOMEM;
    copy->number = file->number;
    copy->base_name = copy_text(file->base_name);
    int code = content_write(&copy->base, file->base.bytes, file->base.length, 0);
    if (code != SQLITE_OK) return code;
  }
  left->inodes_made = disk->inodes_made;
  return SQLITE_OK;
}

static int64_t last_sync(const ferry_disk *disk, int64_t before, int64_t inode_number) {
  for (int64_t i = before - 1; i >= 0; i--) {
    const operation *o = &disk->operations[i];
    if (o->is_lie) continue;
    if (inode_number ? o->kind == FERRY_SYNC && o->inode == inode_number
                     : o->kind == FERRY_SYNC_FOLDER) {
      return i;
    }
  }
  return -1;
}

// How many of the first `before` operations on names are there after the crash: all up to one that
// a sync has made durable, and a few more.
static int64_t names_kept(ferry_disk *disk, int64_t before, ferry_crash crash, uint64_t *seed) {
  int64_t kept = last_sync(disk, before, 0);
  int64_t undecided = 0;
  for (int64_t i = 0; i < before; i++) {
    const operation *o = &disk->operations[i];
    if (!is_naming(o->kind)) continue;
    if (i > kept && o->kind == FERRY_CREATE && last_sync(disk, before, o->inode) > i) kept = i;
  }
  if (crash == FERRY_CRASH_FORGET_ALL) return kept + 1;
  for (int64_t i = kept + 1; i < before; i++) undecided += is_naming(disk->operations[i].kind);
  int64_t more = (int64_t)(chance(seed) % (uint64_t)(undecided + 1));
  for (int64_t i = kept + 1; i < before && more > 0; i++) {
    if (!is_naming(disk->operations[i].kind)) continue;
    kept = i;
    more--;
  }
  return kept + 1;
}

static int replay(
    ferry_disk *left, ferry_disk *disk, int64_t before, ferry_crash crash, uint64_t seed) {
  int64_t names =
      crash == FERRY_CRASH_KILL ? before : names_kept(disk, before, crash, &seed);
  int code = SQLITE_OK;
  for (int64_t i = 0; i < before && code == SQLITE_OK; i++) {
    const operation *o = &disk->operations[i];
    if (is_naming(o->kind)) {
      if (i < names) code = disk_apply(left, o, 0, 0);
      continue;
    }
    if (crash == FERRY_CRASH_KILL || i < last_sync(disk, before, o->inode)) {
      code = disk_apply(left, o, 0, o->length);
    } else if (crash == FERRY_CRASH_FORGET_SOME) {
      uint64_t fate = chance(&seed) % 4;
      if (fate < 2) code = disk_apply(left, o, 0, o->length);
      if (fate == 2) code = apply_torn(left, o, &seed);
    }
  }
  if (code == SQLITE_OK && before < disk->count && crash != FERRY_CRASH_FORGET_ALL) {
    // The operation under way: done, not done, or torn.
    const operation *o = &disk->operations[before];
    uint64_t fate = chance(&seed) % 4;
    int is_name_ready = !is_naming(o->kind) || names == before;
    if (fate == 0 && is_name_ready) code = disk_apply(left, o, 0, o->length);
    if (fate > 1) code = apply_torn(left, o, &seed);
  }
  for (inode *file = left->inodes; file && code == SQLITE_OK; file = file->next) {
    if (!file->base_name) continue;
    file->name = copy_text(file->base_name);
    code = content_write(&file->now, file->base.bytes, file->base.length, 0);
  }
  return code;
}

ferry_disk *ferry_disk_survivors(
    ferry_disk *disk, const char *name, int64_t at, ferry_crash crash, uint64_t seed) {
  ferry_disk *left = ferry_disk_make(name);
  if (!left) return NULL;
  sqlite3_mutex_enter(disk->mutex);
  int64_t before = at - disk->first;
  if (before > disk->count) before = disk->count;
  int code = before < 0 ? SQLITE_MISUSE : copy_base(left, disk);
  if (code == SQLITE_OK) code = replay(left, disk, before, crash, seed);
  sqlite3_mutex_leave(disk->mutex);
  if (code == SQLITE_OK) return left;
  ferry_disk_free(left);
  return NULL;
}

int ferry_disk_crash(ferry_disk *disk, ferry_crash crash, uint64_t seed) {
  ferry_disk left;
  memset(&left, 0, sizeof left);
  sqlite3_mutex_enter(disk->mutex);
  int code = copy_base(&left, disk);
  if (code == SQLITE_OK) code = replay(&left, disk, disk->count, crash, seed);
  if (code == SQLITE_OK) {
    for (int64_t i = 0; i < disk->count; i++) operation_free(&disk->operations[i]);
    disk->first += disk->count;
    disk->count = 0;
    // Who has a file open keeps a dead one.
    inode *old = disk->inodes;
    disk->inodes = left.inodes;
    left.inodes = NULL;
    while (old) {
      inode *next = old->next;
      old->is_dead = 1;
      if (old->handles > 0) {
        sqlite3_free(old->name);
        old->name = NULL;
        old->number = 0;
        old->next = disk->inodes;
        disk->inodes = old;
      } else {
        inode_free(old);
      }
      old = next;
    }
  }
  sqlite3_mutex_leave(disk->mutex);
  disk_clear(&left);
  return code;
}
