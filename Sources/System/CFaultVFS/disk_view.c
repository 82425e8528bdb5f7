// What a test may ask of a disk and do to it.
#include "disk.h"

int64_t ferry_disk_operations(ferry_disk *disk) {
  sqlite3_mutex_enter(disk->mutex);
  int64_t operations = disk->first + disk->count;
  sqlite3_mutex_leave(disk->mutex);
  return operations;
}

ferry_operation ferry_disk_operation(ferry_disk *disk, int64_t number) {
  sqlite3_mutex_enter(disk->mutex);
  int64_t index = number - disk->first;
  ferry_operation kind =
      index >= 0 && index < disk->count ? disk->operations[index].kind : (ferry_operation)0;
  sqlite3_mutex_leave(disk->mutex);
  return kind;
}

void ferry_disk_keep_history(ferry_disk *disk, int keeps) { disk->keeps_history = keeps; }

void ferry_disk_lie_about_syncs(ferry_disk *disk, int lies) { disk->lies = lies; }

void ferry_disk_fail(ferry_disk *disk, int64_t number, int code, int64_t times) {
  sqlite3_mutex_enter(disk->mutex);
  disk->fails_at = number;
  disk->fails_code = code;
  disk->fails_times = times;
  sqlite3_mutex_leave(disk->mutex);
}

const char *ferry_disk_file_name(ferry_disk *disk, int index) {
  const char *name = NULL;
  sqlite3_mutex_enter(disk->mutex);
  for (inode *file = disk->inodes; file && !name; file = file->next) {
    if (file->name && index-- == 0) name = file->name;
  }
  sqlite3_mutex_leave(disk->mutex);
  return name;
}

int64_t ferry_disk_file_bytes(ferry_disk *disk, const char *path) {
  sqlite3_mutex_enter(disk->mutex);
  inode *file = disk_find(disk, path);
  int64_t length = file ? file->now.length : -1;
  sqlite3_mutex_leave(disk->mutex);
  return length;
}

int ferry_disk_file_read(
    ferry_disk *disk, const char *path, int64_t offset, uint8_t *bytes, size_t length) {
  int code = SQLITE_IOERR_SHORT_READ;
  sqlite3_mutex_enter(disk->mutex);
  inode *file = disk_find(disk, path);
  if (file && offset >= 0 && offset + (int64_t)length <= file->now.length) {
    memcpy(bytes, file->now.bytes + offset, length);
    code = SQLITE_OK;
  }
  sqlite3_mutex_leave(disk->mutex);
  return code;
}

int ferry_disk_file_cut(ferry_disk *disk, const char *path, int64_t length) {
  sqlite3_mutex_enter(disk->mutex);
  inode *file = disk_find(disk, path);
  if (file) {
    content_truncate(&file->now, length);
    content_truncate(&file->base, length);
  }
  sqlite3_mutex_leave(disk->mutex);
  return file ? SQLITE_OK : SQLITE_CANTOPEN;
}

int ferry_disk_file_damage(
    ferry_disk *disk, const char *path, int64_t offset, const uint8_t *bytes, size_t length) {
  sqlite3_mutex_enter(disk->mutex);
  inode *file = disk_find(disk, path);
  int code = file ? content_write(&file->now, bytes, (int64_t)length, offset) : SQLITE_CANTOPEN;
  if (code == SQLITE_OK) code = content_write(&file->base, bytes, (int64_t)length, offset);
  sqlite3_mutex_leave(disk->mutex);
  return code;
}
