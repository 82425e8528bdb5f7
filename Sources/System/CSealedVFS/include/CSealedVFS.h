// A SQLite VFS that seals what it writes and opens what it reads. The format and the reasons stand
// in Documentation/Encryption.md; the keys and their header stand in Sources/Ground/SQLite.
#ifndef FERRY_CSEALEDVFS_H
#define FERRY_CSEALEDVFS_H

#include <stddef.h>
#include <stdint.h>

// The database file begins with a header in clear that SQLite never sees; page 1 follows it.
#define FERRY_SEAL_HEADER_BYTES 4096
#define FERRY_SEAL_ID_BYTES 16
#define FERRY_SEAL_NONCE_BYTES 24
#define FERRY_SEAL_TAG_BYTES 16
// What a page gives to nonce and tag, at its end.
#define FERRY_SEAL_RESERVED_BYTES 40
// The URI parameter that carries the number of an offer.
#define FERRY_SEAL_PARAMETER "seal"

// Seals `length` bytes in place and writes the tag; 0 is success.
typedef int (*ferry_seal_function)(
    void *context, const uint8_t *nonce, const uint8_t *associated, size_t associated_length,
    uint8_t *bytes, size_t length, uint8_t *tag);

// Opens `length` bytes in place; 0 is success, anything else says that the tag does not fit.
typedef int (*ferry_open_function)(
    void *context, const uint8_t *nonce, const uint8_t *associated, size_t associated_length,
    uint8_t *bytes, size_t length, const uint8_t *tag);

// The cipher and its key. `release` is called once, when the file is closed or the offer withdrawn.
typedef struct ferry_cipher {
  void *context;
  ferry_seal_function seal;
  ferry_open_function open;
  void (*release)(void *context);
} ferry_cipher;

// Registers the VFS `name` that keeps its files in the VFS `base` (NULL: the system's own). Again
// is like once. The answer is SQLite's code, here and below.
int ferry_sealed_register(const char *name, const char *base);

// Offers a key for the next database that is opened with `seal=<number>` in its URI. The number is
// the answer; 0 means that there was no memory, and the cipher has been released.
int64_t ferry_sealed_offer(ferry_cipher cipher, const uint8_t *file_id, uint32_t page_bytes);

// Takes an offer back that no file has taken.
void ferry_sealed_withdraw(int64_t offer);

// What was noticed at the recovery of a log or journal of the sealed database `schema` ("main") of
// a connection; "" when it was nothing. `database` is the sqlite3 pointer. The text lives as long
// as the connection.
const char *ferry_sealed_notice(void *database, const char *schema);

// Whether the connection leaves a write-ahead log as it is when it is closed, though it be the last
// one.
void ferry_leave_log(void *database, int leaves);

// Why the last call on this thread failed, once: "" when it was not for a reason of this VFS. The
// text lives until the next failure on this thread.
const char *ferry_sealed_reason(void);

// Reads the first bytes of a file as they are. `file_bytes` is its size, -1 when it does not exist or
// is none, such as a folder.
int ferry_sealed_peek(
    const char *base, const char *path, uint8_t *bytes, int capacity, int64_t *file_bytes);

// Writes the header of a new database, alone and synced, if the file still has `seen_bytes` bytes
// that equal `seen` (at most one header). SQLITE_BUSY: somebody else was there; look again.
int ferry_sealed_begin(
    const char *base, const char *path, const uint8_t *seen, int64_t seen_bytes,
    const uint8_t *header);

// Syncs the file `from` and puts it in the place of `to`, for good when it returns.
int ferry_sealed_replace(const char *base, const char *from, const char *to);

// Removes a file, for good when it returns; one that is not there is no failure.
int ferry_sealed_remove(const char *base, const char *path);

// The file control by which a base VFS of one's own is asked to rename an open file; the argument
// is a `const char *`, the new name. Without an answer rename(2) and fsync of the folder are used.
#define FERRY_FCNTL_RENAME 0x46455231

#endif
