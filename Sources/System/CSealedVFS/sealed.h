// What the files of this VFS share. Public names stand in include/CSealedVFS.h.
#ifndef FERRY_SEALED_H
#define FERRY_SEALED_H

#include <sqlite3.h>
#include <string.h>
#include <sys/types.h>

#include "CSealedVFS.h"

#define HEADER_BYTES FERRY_SEAL_HEADER_BYTES
#define ID_BYTES FERRY_SEAL_ID_BYTES
#define NONCE_BYTES FERRY_SEAL_NONCE_BYTES
#define TAG_BYTES FERRY_SEAL_TAG_BYTES
#define RESERVED_BYTES FERRY_SEAL_RESERVED_BYTES
#define SESSION_BYTES 16

// Logs and journals begin with an area of their own; their units follow it.
#define AREA_BYTES 4096

// What does not open under its key. SQLite's own checksum VFS uses the same code.
#define SEAL_DAMAGED SQLITE_IOERR_DATA

// Where a unit stands. All of it is associated data: a unit moved elsewhere does not open.
typedef enum unit_kind {
  UNIT_PAGE = 1,
  UNIT_LOG_HEADER = 2,
  UNIT_LOG_FRAME = 3,
  UNIT_LOG_PAGE = 4,
  UNIT_LOG_MARK = 5,
  UNIT_JOURNAL_HEADER = 6,
  UNIT_JOURNAL_RECORD = 7,
  UNIT_JOURNAL_MARK = 8,
} unit_kind;

typedef struct place {
  unit_kind kind;
  uint64_t position;
  uint32_t page;
  // The generation of a log, the identity of a journal.
  uint64_t generation;
} place;

// The key of one open database with the nonces it gives out. Its log and its journal share it; all
// are used by the thread that has the connection.
typedef struct sealer {
  ferry_cipher cipher;
  uint8_t file_id[ID_BYTES];
  uint32_t page_bytes;
  uint8_t session[SESSION_BYTES];
  uint64_t counter;
  pid_t owner;
  uint8_t *scratch;
  char notice[160];
} sealer;

// Seals or opens a unit: `plain` bytes, then nonce and tag. A unit that does not open is zeroed.
int sealer_seal(sealer *s, place where, uint8_t *unit, size_t plain);
int sealer_open(sealer *s, place where, uint8_t *unit, size_t plain);
// Random bytes of the system.
int seal_random(uint8_t *bytes, size_t length);
// Notes for this thread what is wrong, and gives back the code.
int seal_fault(int code, const char *what, uint64_t number);
void seal_forget_fault(void);
void sealer_notice(sealer *s, const char *what, uint64_t number);
int is_zero(const uint8_t *bytes, size_t length);

uint32_t get32(const uint8_t *bytes);
uint64_t get64(const uint8_t *bytes);
void put32(uint8_t *bytes, uint32_t value);
void put64(uint8_t *bytes, uint64_t value);

// An open file. `real` is the base's, in the same memory behind this struct.
typedef struct sealed_file {
  sqlite3_file base;
  sqlite3_file *real;
  sealer *sealer;
  int lock;
  union {
    struct {
      // Pages that are certain to be in the file, while nobody else can cut it; 0 is unknown.
      uint64_t known;
    } pages;
    struct {
      // What this handle knows of the log's generation: its number and its salt.
      uint64_t generation;
      uint8_t salt[8];
      int knows_generation;
      // A frame's header that waits for its page, so that both are written at once.
      int64_t waiting;
      uint8_t waiting_header[24];
      // The frame written last, and how many belong to whole transactions; 0 is none.
      uint64_t written;
      uint64_t committed;
      uint64_t marked;
    } log;
    struct {
      uint8_t identity[8];
      int knows_identity;
      uint64_t written;
      uint64_t synced;
      // A record that waits for its rest, and the one opened last; -1 is none.
      int64_t waiting;
      uint32_t waiting_bytes;
      int64_t opened;
      uint8_t *record;
      uint8_t *opened_record;
    } journal;
    struct {
      uint8_t *bytes;
      sqlite3_int64 length;
      sqlite3_int64 capacity;
    } memory;
  } u;
} sealed_file;

static inline sealed_file *sealed(sqlite3_file *file) { return (sealed_file *)(void *)file; }

extern const sqlite3_io_methods page_methods;
extern const sqlite3_io_methods log_methods;
extern const sqlite3_io_methods journal_methods;
extern const sqlite3_io_methods memory_methods;

int journal_prepare(sealed_file *f);

// Shared by the files that have a real one beneath.
int real_read(sealed_file *f, uint8_t *bytes, int length, sqlite3_int64 offset);
int real_close(sqlite3_file *file);
int real_sync(sqlite3_file *file, int flags);
int real_lock(sqlite3_file *file, int level);
int real_unlock(sqlite3_file *file, int level);
int real_check_reserved(sqlite3_file *file, int *held);
int sealed_file_control(sqlite3_file *file, int operation, void *argument);
int sealed_sector_size(sqlite3_file *file);
int sealed_device_characteristics(sqlite3_file *file);

#endif
