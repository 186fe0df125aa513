/* A kernel as ONNX Runtime's custom operator. */
#ifndef PASSLENS_OPERATORS_H
#define PASSLENS_OPERATORS_H

#include "kernels.h"
#include "runtime.h"

struct operator {
  struct CustomOp op; /* first: the runtime gives back a pointer to it */
  const struct kernel *kernel;
};

extern int best_level; /* of `enum level`, for this processor; -1 for none */

/* The best level that a kernel and this processor have; -1 for none. */
static inline int kernel_level(const struct kernel *kernel) {
  int level = best_level;
  while (level >= BASELINE && !kernel->call[level]) level--;
  return level;
}

static inline const struct kernel *kernel_of(const struct CustomOp *op) {
  return ((const struct operator *)op)->kernel;
}

/* Extents of all inputs of a kernel together. */
static inline int input_extents(const struct kernel *kernel) {
  int count = 0;
  for (int i = 0; i < kernel->inputs; i++) count += kernel->tensors[i].rank;
  return count;
}

OrtStatus *infer_shapes(const struct CustomOp *op, OrtShapeInferContext *context);
OrtStatus *compute(void *kernel, OrtKernelContext *context);

#endif
