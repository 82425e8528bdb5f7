// Nonces, associated data, and the seal of one unit.
#if !defined(__APPLE__)
#define _DEFAULT_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/random.h>
#endif

#include "sealed.h"

// One key of AES-GCM seals at most 2^32 units; the session is a part of the key, so a new one is
// drawn in time.
#define UNITS_PER_SESSION (UINT64_C(1) << 32)

uint32_t get32(const uint8_t *b) {
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

uint64_t get64(const uint8_t *b) { return (uint64_t)get32(b) << 32 | get32(b + 4); }

void put32(uint8_t *b, uint32_t value) {
  for (int i = 3; i >= 0; i--, value >>= 8) b[i] = (uint8_t)value;
}

void put64(uint8_t *b, uint64_t value) {
  put32(b, (uint32_t)(value >> 32));
  put32(b + 4, (uint32_t)value);
}

int is_zero(const uint8_t *bytes, size_t length) {
  uint8_t any = 0;
  for (size_t i = 0; i < length; i++) any |= bytes[i];
  return any == 0;
}

int seal_random(uint8_t *bytes, size_t length) {
#if defined(__APPLE__)
  arc4random_buf(bytes, length);
  return SQLITE_OK;
#else
  return getentropy(bytes, length) == 0 ? SQLITE_OK : SQLITE_IOERR;
#endif
}

static _Thread_local char last_reason[200];
static _Thread_local int has_reason;

int seal_fault(int code, const char *what, uint64_t number) {
  snprintf(last_reason, sizeof last_reason, what, (unsigned long long)number);
  has_reason = 1;
  sqlite3_log(code, "%s", last_reason);
  return code;
}

void seal_forget_fault(void) { has_reason = 0; }

const char *ferry_sealed_reason(void) {
  if (!has_reason) return "";
  has_reason = 0;
  return last_reason;
}

void sealer_notice(sealer *s, const char *what, uint64_t number) {
  snprintf(s->notice, sizeof s->notice, what, (unsigned long long)number);
  sqlite3_log(SQLITE_NOTICE, "%s", s->notice);
}

// Session (16 random bytes, drawn by each handle and again after a fork) and counter make the
// nonce. Nothing of it is read back from the file, so an old copy put back cannot make it repeat.
static int next_nonce(sealer *s, uint8_t *nonce) {
  pid_t process = getpid();
  if (s->owner != process || s->counter == UNITS_PER_SESSION) {
    if (seal_random(s->session, SESSION_BYTES) != SQLITE_OK) {
      return seal_fault(SQLITE_IOERR, "the system gives no random bytes", 0);
    }
    s->owner = process;
    s->counter = 0;
  }
  memcpy(nonce, s->session, SESSION_BYTES);
  put64(nonce + SESSION_BYTES, s->counter++);
  return SQLITE_OK;
}

#define ASSOCIATED_BYTES (ID_BYTES + 1 + 8 + 4 + 8)

static void associate(const sealer *s, place where, uint8_t *out) {
  memcpy(out, s->file_id, ID_BYTES);
  out[ID_BYTES] = (uint8_t)where.kind;
  put64(out + ID_BYTES + 1, where.position);
  put32(out + ID_BYTES + 9, where.page);
  put64(out + ID_BYTES + 13, where.generation);
}

int sealer_seal(sealer *s, place where, uint8_t *unit, size_t plain) {
  uint8_t associated[ASSOCIATED_BYTES];
  uint8_t *nonce = unit + plain;
  int code = next_nonce(s, nonce);
  if (code != SQLITE_OK) return code;
  associate(s, where, associated);
  if (s->cipher.seal(
          s->cipher.context, nonce, associated, ASSOCIATED_BYTES, unit, plain,
          nonce + NONCE_BYTES)) {
    return seal_fault(SQLITE_IOERR_WRITE, "the cipher could not seal unit %llu", where.position);
  }
  return SQLITE_OK;
}

int sealer_open(sealer *s, place where, uint8_t *unit, size_t plain) {
  uint8_t associated[ASSOCIATED_BYTES];
  const uint8_t *nonce = unit + plain;
  associate(s, where, associated);
  if (s->cipher.open(
          s->cipher.context, nonce, associated, ASSOCIATED_BYTES, unit, plain,
          nonce + NONCE_BYTES)) {
    memset(unit, 0, plain + RESERVED_BYTES);
    return SEAL_DAMAGED;
  }
  return SQLITE_OK;
}
