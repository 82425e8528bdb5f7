#ifndef FERRY_DISK_H
#define FERRY_DISK_H

#include <sqlite3.h>
#include <string.h>

#include "CFaultVFS.h"

#define SHM_LOCKS 8
#define SHM_REGIONS 64

typedef struct content {
  uint8_t *bytes;
  int64_t length;
  int64_t capacity;
} content;

// A file without its names. `now` is what processes see; `base` is what stands on the disk before
// the first operation that is remembered.
typedef struct inode {
  struct inode *next;
  int64_t number;
  content now;
  content base;
  char *name;
  char *base_name;
  int64_t last_sync;
  int handles;
  int is_dead;
  // Locks of SQLite's five levels.
  int shared;
  const void *reserved;
  const void *pending;
  const void *exclusive;
  void *regions[SHM_REGIONS];
  int shm_handles;
  int shm_shared[SHM_LOCKS];
  const void *shm_exclusive[SHM_LOCKS];
} inode;

typedef struct operation {
  ferry_operation kind;
  int is_lie;
  int64_t inode;
  int64_t offset;
  int64_t length;
  uint8_t *bytes;
  char *name;
} operation;

struct ferry_disk {
  sqlite3_vfs vfs;
  sqlite3_mutex *mutex;
  char *name;
  inode *inodes;
  int64_t inodes_made;
  // Operations from number `first` on.
  operation *operations;
  int64_t first;
  int64_t count;
  int64_t capacity;
  int64_t last_folder_sync;
  int keeps_history;
  int lies;
  int64_t fails_at;
  int64_t fails_times;
  int fails_code;
};

int content_write(content *c, const uint8_t *bytes, int64_t length, int64_t offset);
void content_truncate(content *c, int64_t length);
inode *disk_find(ferry_disk *disk, const char *name);
inode *disk_create(ferry_disk *disk, const char *name);
void disk_unlink(ferry_disk *disk, inode *file);
void disk_drop(ferry_disk *disk, inode *file);
// Remembers an operation. `*fault` is the code with which it is to fail, or SQLITE_OK. A NULL
// `name` and NULL `bytes` are none.
int disk_note(
    ferry_disk *disk, ferry_operation kind, const inode *file, int64_t offset, int64_t length,
    const uint8_t *bytes, const char *name, int *fault);
// Remembers that what was noted last, a sync of `file` (NULL: of the folder), has been done.
void disk_synced(ferry_disk *disk, inode *file);
// Does an operation, or some bytes of it, to the `base` of the files.
int disk_apply(ferry_disk *disk, const operation *o, int64_t from, int64_t length);
int is_naming(ferry_operation kind);
void operation_free(operation *o);
void inode_free(inode *file);
void disk_clear(ferry_disk *disk);
char *copy_text(const char *text);
void fault_vfs_prepare(ferry_disk *disk);

#endif
