/* One run of a generated node: check what came, make the outputs, call the kernel. */
#include <stdio.h>

#include "operators.h"
#include "threads.h"

/* Sharing a loop among threads pays from here on; with threads that spin from 30 us, else 100. */
#define PARALLEL_NS 5e4
#define MAX_MESSAGE 512
#define MAX_SHAPE 128

RUNNING;

/* Where a tensor without elements lies: vector code may read one that it does not take. */
static _Alignas(64) uint8_t nowhere[64];

struct tensors {
  halide_buffer_t buffers[MAX_TENSORS];
  halide_buffer_t *pointers[MAX_TENSORS];
  halide_dimension_t dims[MAX_EXTENTS];
  int64_t given[MAX_EXTENTS], wanted[MAX_EXTENTS];
};

static struct halide_type_t type_of(int element) {
  switch (element) {
    case 1: return (struct halide_type_t){HALIDE_FLOAT, 32, 1};
    case 2: return (struct halide_type_t){HALIDE_UINT, 8, 1};
    case 3: return (struct halide_type_t){HALIDE_INT, 8, 1};
    case 4: return (struct halide_type_t){HALIDE_UINT, 16, 1};
    case 5: return (struct halide_type_t){HALIDE_INT, 16, 1};
    case 6: return (struct halide_type_t){HALIDE_INT, 32, 1};
    case 7: return (struct halide_type_t){HALIDE_INT, 64, 1};
    case 9: return (struct halide_type_t){HALIDE_UINT, 1, 1};
    case 10: return (struct halide_type_t){HALIDE_FLOAT, 16, 1};
    case 11: return (struct halide_type_t){HALIDE_FLOAT, 64, 1};
    case 12: return (struct halide_type_t){HALIDE_UINT, 32, 1};
    case 13: return (struct halide_type_t){HALIDE_UINT, 64, 1};
    default: return (struct halide_type_t){HALIDE_BFLOAT, 16, 1};
  }
}

static OrtStatus *refused(const struct kernel *kernel, const char *what) {
  char message[MAX_MESSAGE];
  snprintf(message, sizeof message, "Kernel %s (%s) was not run: %s.", kernel->name, kernel->workload, what);
  return ORT(CreateStatus)(ORT_INVALID_ARGUMENT, message);
}

static void print_shape(char *text, const int64_t *extents, int rank) {
  size_t at = (size_t)snprintf(text, MAX_SHAPE, "[");
  for (int i = 0; i < rank && at < MAX_SHAPE; i++)
    at += (size_t)snprintf(text + at, MAX_SHAPE - at, i ? ",%lld" : "%lld", (long long)extents[i]);
  if (at < MAX_SHAPE) snprintf(text + at, MAX_SHAPE - at, "]");
}

/* Elements of a tensor; -1 where kernels cannot count them: they do so in 32 bits. */
static int64_t elements(const int64_t *extents, int rank) {
  int64_t count = 1, most = 1;
  for (int i = 0; i < rank; i++) {
    if (extents[i] < 0 || extents[i] > INT32_MAX) return -1;
    count *= extents[i];
    most *= extents[i] ? extents[i] : 1;
    if (most > INT32_MAX) return -1;
  }
  return count;
}

/* Describes dense memory: the innermost dimension first. */
static void describe(halide_buffer_t *buffer, halide_dimension_t *dims, const int64_t *extents, const struct tensor *tensor) {
  int64_t stride = 1;
  for (int i = tensor->rank - 1; i >= 0; stride *= extents[i--])
    dims[tensor->rank - 1 - i] = (halide_dimension_t){0, (int32_t)extents[i], (int32_t)stride, 0};
  *buffer = (halide_buffer_t){.type = type_of(tensor->element), .dimensions = tensor->rank, .dim = dims};
}

/* Reads an input's extents, and where it lies. */
static OrtStatus *take(const struct kernel *kernel, OrtKernelContext *context, int index, int64_t *given, void **host) {
  const OrtValue *value = 0;
  OrtShape *shape = 0;
  size_t rank = 0;
  char what[MAX_SHAPE];
  TRY(ORT(KernelContext_GetInput)(context, (size_t)index, &value));
  if (!value) return refused(kernel, "an input is missing");
  TRY(ORT(GetTensorTypeAndShape)(value, &shape));
  OrtStatus *status = ORT(GetDimensionsCount)(shape, &rank);
  const int wanted = kernel->tensors[index].rank;
  if (!status && rank != (size_t)wanted) {
    snprintf(what, sizeof what, "input %d has %zu dimensions, it takes %d", index + 1, rank, wanted);
    status = refused(kernel, what);
  }
  if (!status && rank) status = ORT(GetDimensions)(shape, given, rank);
  ORT(ReleaseShape)(shape);
  TRY(status);
  return ORT(GetTensorMutableData)((OrtValue *)value, host);
}

static OrtStatus *wrong_shape(const struct kernel *kernel, int index, const int64_t *given, const int64_t *wanted) {
  char what[2 * MAX_SHAPE + 64], is[MAX_SHAPE], takes[MAX_SHAPE];
  print_shape(is, given, kernel->tensors[index].rank);
  print_shape(takes, wanted, kernel->tensors[index].rank);
  snprintf(what, sizeof what, "input %d has the shape %s, with the others' it takes %s", index + 1, is, takes);
  return refused(kernel, what);
}

/* Sizes of the same name must be equal, and constants as they were when the kernel was made. */
static OrtStatus *check(const struct kernel *kernel, int index, const int64_t *given, const int64_t *wanted) {
  const int rank = kernel->tensors[index].rank;
  for (int i = 0; i < rank; i++)
    if (given[i] != wanted[i]) return wrong_shape(kernel, index, given, wanted);
  if (elements(given, rank) < 0) return refused(kernel, "an input has more than 2^31 - 1 elements");
  return 0;
}

static OrtStatus *take_all(const struct kernel *kernel, OrtKernelContext *context, struct tensors *t) {
  void *hosts[MAX_TENSORS];
  for (int i = 0, place = 0; i < kernel->inputs; place += kernel->tensors[i++].rank)
    TRY(take(kernel, context, i, t->given + place, hosts + i));
  kernel->extents(t->given, t->wanted);
  for (int i = 0, place = 0; i < kernel->inputs; place += kernel->tensors[i++].rank) {
    TRY(check(kernel, i, t->given + place, t->wanted + place));
    describe(t->buffers + i, t->dims + place, t->given + place, kernel->tensors + i);
    t->buffers[i].host = hosts[i] ? hosts[i] : nowhere;
  }
  return 0;
}

/* Makes the outputs; *work becomes 1 where one has elements. */
static OrtStatus *make_all(const struct kernel *kernel, OrtKernelContext *context, struct tensors *t, int *work) {
  int place = input_extents(kernel);
  for (int i = 0; i < kernel->outputs; i++) {
    const struct tensor *tensor = kernel->tensors + kernel->inputs + i;
    const int64_t *extents = t->wanted + place, count = elements(extents, tensor->rank);
    OrtValue *value = 0;
    void *host = 0;
    if (count < 0) return refused(kernel, "an output would have more than 2^31 - 1 elements");
    TRY(ORT(KernelContext_GetOutput)(context, (size_t)i, extents, (size_t)tensor->rank, &value));
    if (!value) return refused(kernel, "an output is not wanted, but it makes all");
    TRY(ORT(GetTensorMutableData)(value, &host));
    describe(t->buffers + kernel->inputs + i, t->dims + place, extents, tensor);
    t->buffers[kernel->inputs + i].host = host ? host : nowhere;
    *work |= count > 0;
    place += tensor->rank;
  }
  return 0;
}

OrtStatus *compute(void *opaque, OrtKernelContext *context) {
  const struct kernel *kernel = opaque;
  struct tensors t;
  int work = 0;
  TRY(take_all(kernel, context, &t));
  TRY(make_all(kernel, context, &t, &work));
  if (!work) return 0;
  for (int i = 0; i < kernel->inputs + kernel->outputs; i++) t.pointers[i] = t.buffers + i;
  struct call call = {context, kernel, kernel->work(t.given) > PARALLEL_NS};
  const struct kernel *before = running_kernel;
  running_kernel = kernel;
  const int code = kernel->call[kernel_level(kernel)](&call, t.pointers);
  running_kernel = before;
  return code ? refused(kernel, "there was not enough memory for what it keeps between loops") : 0;
}
