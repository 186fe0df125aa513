/* What kernels, Halide's generated code and the shim agree on.

   A kernel is `int NAME(void *user_context, halide_buffer_t *input…, halide_buffer_t *output…)`, which
   returns 0 when all went well. Buffers are dense; dimension 0 is the innermost, the last of ONNX.
   Source: Halide 21, HalideRuntime.h, whose layouts these are. */
#ifndef PASSLENS_ABI_H
#define PASSLENS_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { HALIDE_INT = 0, HALIDE_UINT = 1, HALIDE_FLOAT = 2, HALIDE_BFLOAT = 3 };

struct halide_type_t {
  uint8_t code, bits;
  uint16_t lanes;
};

typedef struct {
  int32_t min, extent, stride;
  uint32_t flags;
} halide_dimension_t;

typedef struct halide_buffer_t {
  uint64_t device;
  const void *device_interface;
  uint8_t *host;
  uint64_t flags;
  struct halide_type_t type;
  int32_t dimensions;
  halide_dimension_t *dim;
  void *padding;
} halide_buffer_t;

typedef int (*halide_task_t)(void *user_context, int index, uint8_t *closure);

/* What generated code calls; the shim has them, hidden from everybody else. */
int halide_do_par_for(void *user_context, halide_task_t task, int min, int size, uint8_t *closure);
void *halide_malloc(void *user_context, size_t bytes);
void halide_free(void *user_context, void *memory);

/* The rows of a tensor, shared among tasks; what kernels in plain C hand to `halide_do_par_for`. */
struct rows {
  halide_buffer_t *const *buffers;
  int64_t count, tasks;
};

/* Floor of a quotient of sizes, as in their expressions; of a divisor that is no size, 0. */
static inline int64_t size_quotient(int64_t numerator, int64_t divisor) {
  if (divisor <= 0) return 0;
  return numerator / divisor - (numerator % divisor < 0);
}

#endif
