// The disk: files, the operations on them, and what a crash leaves.
#include "disk.h"

void ferry_disk_do_not_count_memory(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

int content_write(content *c, const uint8_t *bytes, int64_t length, int64_t offset) {
  int64_t end = offset + length;
  if (end > c->capacity) {
    int64_t capacity = end < 8192 ? 16384 : end * 2;
    uint8_t *grown = sqlite3_realloc64(c->bytes, (sqlite3_uint64)capacity);
    if (!grown) return SQLITE_IOERR_NOMEM;
    c->bytes = grown;
    c->capacity = capacity;
  }
  if (offset > c->length) memset(c->bytes + c->length, 0, (size_t)(offset - c->length));
  if (length > 0) memcpy(c->bytes + offset, bytes, (size_t)length);
  if (end > c->length) c->length = end;
  return SQLITE_OK;
}

void content_truncate(content *c, int64_t length) {
  if (length < c->length) c->length = length;
}

static void content_free(content *c) {
  sqlite3_free(c->bytes);
  memset(c, 0, sizeof *c);
}

char *copy_text(const char *text) { return text ? sqlite3_mprintf("%s", text) : NULL; }

static void rename_to(char **name, const char *text) {
  char *copy = copy_text(text);
  sqlite3_free(*name);
  *name = copy;
}

inode *disk_find(ferry_disk *disk, const char *name) {
  for (inode *file = disk->inodes; file; file = file->next) {
    if (file->name && strcmp(file->name, name) == 0) return file;
  }
  return NULL;
}

static inode *find_number(ferry_disk *disk, int64_t number) {
  inode *file = disk->inodes;
  while (file && file->number != number) file = file->next;
  return file;
}

inode *disk_create(ferry_disk *disk, const char *name) {
  inode *file = sqlite3_malloc(sizeof *file);
  if (!file) return NULL;
  memset(file, 0, sizeof *file);
  file->number = ++disk->inodes_made;
  file->last_sync = -1;
  file->name = copy_text(name);
  file->next = disk->inodes;
  disk->inodes = file;
  return file;
}

void inode_free(inode *file) {
  for (int i = 0; i < SHM_REGIONS; i++) sqlite3_free(file->regions[i]);
  content_free(&file->now);
  content_free(&file->base);
  sqlite3_free(file->name);
  sqlite3_free(file->base_name);
  sqlite3_free(file);
}

// Forgets a file that nothing can reach any more: no name, no handle, no history.
void disk_drop(ferry_disk *disk, inode *file) {
  if (file->handles > 0 || (!file->is_dead && (file->name || file->base_name))) return;
  if (!file->is_dead) {
    for (int64_t i = 0; i < disk->count; i++) {
      if (disk->operations[i].inode == file->number) return;
    }
  }
  for (inode **link = &disk->inodes; *link; link = &(*link)->next) {
    if (*link != file) continue;
    *link = file->next;
    inode_free(file);
    return;
  }
}

void disk_unlink(ferry_disk *disk, inode *file) {
  sqlite3_free(file->name);
  file->name = NULL;
  disk_drop(disk, file);
}

void operation_free(operation *o) {
  sqlite3_free(o->bytes);
  sqlite3_free(o->name);
}


int disk_apply(ferry_disk *disk, const operation *o, int64_t from, int64_t length) {
  inode *file = find_number(disk, o->inode);
  switch (o->kind) {
    case FERRY_WRITE:
      return file ? content_write(&file->base, o->bytes + from, length, o->offset + from) : 0;
    case FERRY_TRUNCATE:
      if (file) content_truncate(&file->base, o->offset);
      return SQLITE_OK;
    case FERRY_CREATE:
      if (file) rename_to(&file->base_name, o->name);
      return SQLITE_OK;
    case FERRY_DELETE:
      if (file) rename_to(&file->base_name, NULL);
      return SQLITE_OK;
    case FERRY_RENAME:
      for (inode *other = disk->inodes; other; other = other->next) {
        if (other->base_name && strcmp(other->base_name, o->name) == 0) {
          rename_to(&other->base_name, NULL);
        }
      }
      if (file) rename_to(&file->base_name, o->name);
      return SQLITE_OK;
    default:
      return SQLITE_OK;
  }
}

int is_naming(ferry_operation kind) {
  return kind == FERRY_CREATE || kind == FERRY_DELETE || kind == FERRY_RENAME;
}

// What is durable at the head of the history becomes the base.
static void fold(ferry_disk *disk) {
  int64_t done = 0;
  while (done < disk->count) {
    operation *o = &disk->operations[done];
    int64_t number = disk->first + done;
    inode *file = find_number(disk, o->inode);
    int64_t synced = file ? file->last_sync : number + 1;
    if (is_naming(o->kind)) {
      int64_t folder = disk->last_folder_sync;
      if (number > folder && !(o->kind == FERRY_CREATE && number < synced)) break;
    } else if (o->kind != FERRY_SYNC && o->kind != FERRY_SYNC_FOLDER && number > synced) {
      break;
    }
    disk_apply(disk, o, 0, o->length);
    operation_free(o);
    done++;
  }
  if (done == 0) return;
  disk->count -= done;
  disk->first += done;
  memmove(
      disk->operations, disk->operations + done, (size_t)disk->count * sizeof *disk->operations);
  for (inode *file = disk->inodes, *next; file; file = next) {
    next = file->next;
    disk_drop(disk, file);
  }
}

int disk_note(
    ferry_disk *disk, ferry_operation kind, const inode *file, int64_t offset, int64_t length,
    const uint8_t *bytes, const char *name, int *fault) {
  int64_t number = disk->first + disk->count;
  *fault = SQLITE_OK;
  if (number >= disk->fails_at && disk->fails_times != 0) {
    if (disk->fails_times > 0) disk->fails_times--;
    *fault = disk->fails_code;
    // A write that fails may have been done in part; everything else has not been done.
    if (kind == FERRY_WRITE) length /= 2;
  }
  if (disk->count == disk->capacity) {
    int64_t capacity = disk->capacity ? disk->capacity * 2 : 256;
    operation *grown =
        sqlite3_realloc64(disk->operations, (sqlite3_uint64)capacity * sizeof *grown);
    if (!grown) return SQLITE_IOERR_NOMEM;
    disk->operations = grown;
    disk->capacity = capacity;
  }
  operation *o = &disk->operations[disk->count];
  memset(o, 0, sizeof *o);
  o->kind = kind;
  o->inode = file ? file->number : 0;
  o->offset = offset;
  o->length = length;
  o->is_lie = disk->lies;
  if (*fault != SQLITE_OK && kind != FERRY_WRITE) {
    // Counted, and without effect.
    o->kind = FERRY_SYNC;
    o->is_lie = 1;
  } else if (bytes && length > 0) {
    o->bytes = sqlite3_malloc64((sqlite3_uint64)length);
    if (!o->bytes) return SQLITE_IOERR_NOMEM;
    memcpy(o->bytes, bytes, (size_t)length);
  }
  o->name = copy_text(name);
  disk->count++;
  return SQLITE_OK;
}

void disk_synced(ferry_disk *disk, inode *file) {
  if (disk->lies) return;
  int64_t number = disk->first + disk->count - 1;
  if (file) {
    file->last_sync = number;
  } else {
    disk->last_folder_sync = number;
  }
  if (!disk->keeps_history) fold(disk);
}

ferry_disk *ferry_disk_make(const char *name) {
  if (sqlite3_initialize() != SQLITE_OK) return NULL;
  ferry_disk *disk = sqlite3_malloc(sizeof *disk);
  if (!disk) return NULL;
  memset(disk, 0, sizeof *disk);
  disk->mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
  disk->name = copy_text(name);
  disk->keeps_history = 1;
  disk->last_folder_sync = -1;
  disk->fails_at = INT64_MAX;
  fault_vfs_prepare(disk);
  if (!disk->name || sqlite3_vfs_register(&disk->vfs, 0) != SQLITE_OK) {
    ferry_disk_free(disk);
    return NULL;
  }
  return disk;
}

void disk_clear(ferry_disk *disk) {
  for (int64_t i = 0; i < disk->count; i++) operation_free(&disk->operations[i]);
  disk->first += disk->count;
  disk->count = 0;
  while (disk->inodes) {
    inode *file = disk->inodes;
    disk->inodes = file->next;
    inode_free(file);
  }
}

void ferry_disk_free(ferry_disk *disk) {
  if (!disk) return;
  sqlite3_vfs_unregister(&disk->vfs);
  disk_clear(disk);
  sqlite3_free(disk->operations);
  sqlite3_mutex_free(disk->mutex);
  sqlite3_free(disk->name);
  sqlite3_free(disk);
}
