#ifndef FERRY_LIBFUZZER_H
#define FERRY_LIBFUZZER_H

#include <stddef.h>
#include <stdint.h>

/// The driver of LLVM's libFuzzer, declared as its documentation has it.
int LLVMFuzzerRunDriver(
  int *_Nonnull argc, char *_Nullable *_Nullable *_Nonnull argv,
  int (*_Nonnull callback)(const uint8_t *_Nullable data, size_t size));

#endif
