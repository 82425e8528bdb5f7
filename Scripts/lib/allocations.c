// Counts what a process takes from the heap. To be loaded before the C library (LD_PRELOAD);
// Tests/Allocations asks for the number.
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static unsigned long count;
static __thread unsigned long own __attribute__((tls_model("initial-exec")));

static void note(void) {
  own++;
  __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
}

// Of the thread that asks.
unsigned long ferry_thread_allocations(void) { return own; }

// Of the whole process.
unsigned long ferry_allocations(void) { return __atomic_load_n(&count, __ATOMIC_RELAXED); }

void *malloc(size_t size) {
  note();
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  note();
  return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
  note();
  return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
  note();
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
    return EINVAL;
  void *found = memalign(alignment, size);
  if (found == NULL)
    return ENOMEM;
  *block = found;
  return 0;
}
