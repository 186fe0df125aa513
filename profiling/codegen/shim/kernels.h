/* The table of a library's kernels, written for each library by kernel_table.py. */
#ifndef PASSLENS_KERNELS_H
#define PASSLENS_KERNELS_H

#include "abi.h"

#define MAX_TENSORS 128
#define MAX_EXTENTS 1024

/* How an extent of an output is known before sizes are: a constant, 0 or more; else one of these. */
#define COMPUTED (-1)
#define AS_INPUT(place) (-2 - (int64_t)(place))

struct tensor {
  int element; /* ONNX's TensorProto.DataType */
  int rank;
};

enum level { BASELINE, AVX2, AVX512, LEVELS };

struct kernel {
  const char *name;
  const char *workload; /* for people */
  int inputs, outputs;
  const struct tensor *tensors; /* inputs, then outputs */
  /* Extents of all outputs, the outermost first; a place counts the extents of all inputs. */
  const int64_t *known;
  /* From the extents that inputs have: those that inputs and outputs must have. */
  void (*extents)(const int64_t *given, int64_t *wanted);
  /* About how long one thread takes, in ns. */
  double (*work)(const int64_t *given);
  /* By level; 0 where the library has none. */
  int (*call[LEVELS])(void *user_context, halide_buffer_t *const *buffers);
  /* Pairs of an input and the output that may take its memory; 0 where there are none. */
  size_t (*in_place)(int **inputs, int **outputs);
};

extern const char library_domain[];
extern const struct kernel library_kernels[];
extern const size_t library_size;

#endif
