// A disk in memory under SQLite that can do what disks do: fail, and forget at a crash, in part and
// out of order, what was not synced. For proofs only.
#ifndef FERRY_CFAULTVFS_H
#define FERRY_CFAULTVFS_H

#include <stddef.h>
#include <stdint.h>

typedef struct ferry_disk ferry_disk;

// What changes a disk. Each is one operation and has a number, counted from 0.
typedef enum ferry_operation {
  FERRY_WRITE = 1,
  FERRY_TRUNCATE,
  FERRY_SYNC,
  FERRY_CREATE,
  FERRY_DELETE,
  FERRY_RENAME,
  FERRY_SYNC_FOLDER,
} ferry_operation;

typedef enum ferry_crash {
  // The process dies, the machine goes on: what was written stays, but for the operation under way.
  FERRY_CRASH_KILL = 1,
  // The machine dies, and all that was not synced is gone.
  FERRY_CRASH_FORGET_ALL,
  // The machine dies; of what was not synced each piece may be there, be gone, or be torn. Names
  // change in order, as journaling file systems do it.
  FERRY_CRASH_FORGET_SOME,
} ferry_crash;

// SQLite counts what it allocates under a lock of the whole process, which runs beside each other
// wait for. It counts no more from here on; too late, and without effect, after the first connection.
void ferry_disk_do_not_count_memory(void);

// An empty disk, registered as the VFS `name`; NULL without memory. Its files may be used from all
// threads.
ferry_disk *ferry_disk_make(const char *name);
// No file may be open.
void ferry_disk_free(ferry_disk *disk);

int64_t ferry_disk_operations(ferry_disk *disk);
// What the operation `number` was; 0 when it is not remembered.
ferry_operation ferry_disk_operation(ferry_disk *disk, int64_t number);

// Without history (1 is the beginning) what is synced is folded away, and only `ferry_disk_crash`
// can be asked.
void ferry_disk_keep_history(ferry_disk *disk, int keeps);
// A disk that says that it has synced, and has not.
void ferry_disk_lie_about_syncs(ferry_disk *disk, int lies);
// From operation `number` on, `times` operations fail with SQLite's `code`; a write may be done in
// part. `times` < 0: all of them.
void ferry_disk_fail(ferry_disk *disk, int64_t number, int code, int64_t times);

// A new disk with what is left when the crash comes while operation `at` is under way (as many as
// there were: after the last). The same seed leaves the same.
ferry_disk *ferry_disk_survivors(
    ferry_disk *disk, const char *name, int64_t at, ferry_crash crash, uint64_t seed);
// The crash comes now, to this disk: files that are open fail from then on, and what is left can be
// opened.
int ferry_disk_crash(ferry_disk *disk, ferry_crash crash, uint64_t seed);

// The files as they are: names (NULL behind the last), size (-1: none), bytes.
const char *ferry_disk_file_name(ferry_disk *disk, int index);
int64_t ferry_disk_file_bytes(ferry_disk *disk, const char *path);
int ferry_disk_file_read(
    ferry_disk *disk, const char *path, int64_t offset, uint8_t *bytes, size_t length);
// Changes bytes past SQLite, as damage does; not an operation.
int ferry_disk_file_damage(
    ferry_disk *disk, const char *path, int64_t offset, const uint8_t *bytes, size_t length);
// Takes away what lies behind `length` past SQLite; not an operation.
int ferry_disk_file_cut(ferry_disk *disk, const char *path, int64_t length);

#endif
