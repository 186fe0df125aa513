/* The library's entry: registers every kernel of the table as a custom operator. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "operators.h"
#include "processor.h"
#include "threads.h"

#define VISIBLE __attribute__((visibility("default")))

OrtApi ort_api;
int best_level;

static void *create(const struct CustomOp *op, OrtApi api, const OrtKernelInfo *info) {
  (void)api, (void)info;
  return (void *)kernel_of(op);
}
static OrtStatus *create_2(const struct CustomOp *op, OrtApi api, const OrtKernelInfo *info, void **made) {
  *made = create(op, api, info);
  return 0;
}
static void compute_1(void *kernel, OrtKernelContext *context) {
  OrtStatus *status = compute(kernel, context);
  if (status) ORT(ReleaseStatus)(status);
}
static void destroy(void *kernel) { (void)kernel; }
static const char *name(const struct CustomOp *op) { return kernel_of(op)->name; }
static const char *provider(const struct CustomOp *op) { return (void)op, "CPUExecutionProvider"; }
static int input_type(const struct CustomOp *op, size_t i) { return kernel_of(op)->tensors[i].element; }
static size_t input_count(const struct CustomOp *op) { return (size_t)kernel_of(op)->inputs; }
static int output_type(const struct CustomOp *op, size_t i) { return input_type(op, input_count(op) + i); }
static size_t output_count(const struct CustomOp *op) { return (size_t)kernel_of(op)->outputs; }
static int nothing_of(const struct CustomOp *op, size_t i) { return (void)op, (void)i, 0; }
static int nothing(const struct CustomOp *op) { return (void)op, 0; }
static int first_version(const struct CustomOp *op) { return (void)op, 1; }
static void kept(int *inputs, int *outputs) { (void)inputs, (void)outputs; }
static int last_version(const struct CustomOp *op) { return (void)op, INT_MAX; }

static const struct CustomOp functions = {
    API_VERSION, create, name, provider, input_type, input_count, output_type, output_count,
    compute_1, destroy, nothing_of, nothing_of, nothing_of, nothing, nothing, nothing, nothing,
    create_2, compute, infer_shapes, first_version, last_version, 0, kept, 0, 0};

/* A library that was built for one machine may be loaded on another. */
static OrtStatus *check_level(const struct kernel *kernel) {
  static const char *const needs[] = {"SSE4.1", "AVX2 and FMA", "AVX-512"};
  char message[256];
  if (kernel_level(kernel) >= BASELINE) return 0;
  int level = BASELINE;
  while (level < AVX512 && !kernel->call[level]) level++;
  snprintf(message, sizeof message, "Kernel %s was built for processors with %s; this one has none.", kernel->name, needs[level]);
  return ORT(CreateStatus)(ORT_FAIL, message);
}

static OrtStatus *register_all(OrtSessionOptions *options, struct operator *operators) {
  OrtCustomOpDomain *domain = 0;
  TRY(ORT(CreateCustomOpDomain)(library_domain, &domain));
  for (size_t i = 0; i < library_size; i++) {
    TRY(check_level(library_kernels + i));
    operators[i] = (struct operator){functions, library_kernels + i};
    operators[i].op.GetMayInplace = library_kernels[i].in_place;
    TRY(ORT(CustomOpDomain_Add)(domain, &operators[i].op));
  }
  return ORT(AddCustomOpDomain)(options, domain);
}

/* What ONNX Runtime calls for `register_custom_ops_library`; operators live as long as the process. */
VISIBLE OrtStatus *RegisterCustomOps(OrtSessionOptions *options, const OrtApiBase *base) {
  ort_api = base->GetApi(API_VERSION);
  if (!ort_api) return 0; /* the runtime has said so itself */
  best_level = processor_level();
  struct operator *operators = calloc(library_size ? library_size : 1, sizeof *operators);
  if (!operators) return ORT(CreateStatus)(ORT_FAIL, "There is no memory left for the kernels.");
  return register_all(options, operators);
}
