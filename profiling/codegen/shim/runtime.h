/* The part of ONNX Runtime's C interface that custom operators need, without its headers.

   The interface is a table of functions to which new ones are only ever appended: a function is its
   place in that table. Source: onnxruntime_c_api.h, version 18 (ONNX Runtime 1.18) and later. */
#ifndef PASSLENS_RUNTIME_H
#define PASSLENS_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#define API_VERSION 18 /* of the table, and of `struct CustomOp` */

typedef struct OrtStatus OrtStatus;
typedef struct OrtValue OrtValue;
typedef struct OrtKernelContext OrtKernelContext;
typedef struct OrtKernelInfo OrtKernelInfo;
typedef struct OrtShapeInferContext OrtShapeInferContext;
typedef struct OrtShape OrtShape; /* OrtTensorTypeAndShapeInfo */
typedef struct OrtCustomOpDomain OrtCustomOpDomain;
typedef struct OrtSessionOptions OrtSessionOptions;

typedef void (*const *OrtApi)(void);
typedef struct {
  OrtApi (*GetApi)(uint32_t version);
  const char *(*GetVersionString)(void);
} OrtApiBase;

enum { ORT_FAIL = 1, ORT_INVALID_ARGUMENT = 2 };

struct CustomOp {
  uint32_t version;
  void *(*CreateKernel)(const struct CustomOp *, OrtApi, const OrtKernelInfo *);
  const char *(*GetName)(const struct CustomOp *);
  const char *(*GetExecutionProviderType)(const struct CustomOp *);
  int (*GetInputType)(const struct CustomOp *, size_t);
  size_t (*GetInputTypeCount)(const struct CustomOp *);
  int (*GetOutputType)(const struct CustomOp *, size_t);
  size_t (*GetOutputTypeCount)(const struct CustomOp *);
  void (*KernelCompute)(void *, OrtKernelContext *);
  void (*KernelDestroy)(void *);
  int (*GetInputCharacteristic)(const struct CustomOp *, size_t);
  int (*GetOutputCharacteristic)(const struct CustomOp *, size_t);
  int (*GetInputMemoryType)(const struct CustomOp *, size_t);
  int (*GetVariadicInputMinArity)(const struct CustomOp *);
  int (*GetVariadicInputHomogeneity)(const struct CustomOp *);
  int (*GetVariadicOutputMinArity)(const struct CustomOp *);
  int (*GetVariadicOutputHomogeneity)(const struct CustomOp *);
  OrtStatus *(*CreateKernelV2)(const struct CustomOp *, OrtApi, const OrtKernelInfo *, void **);
  OrtStatus *(*KernelComputeV2)(void *, OrtKernelContext *);
  OrtStatus *(*InferOutputShapeFn)(const struct CustomOp *, OrtShapeInferContext *);
  int (*GetStartVersion)(const struct CustomOp *);
  int (*GetEndVersion)(const struct CustomOp *);
  size_t (*GetMayInplace)(int **inputs, int **outputs);
  void (*ReleaseMayInplace)(int *inputs, int *outputs);
  size_t (*GetAliasMap)(int **inputs, int **outputs);
  void (*ReleaseAliasMap)(int *inputs, int *outputs);
};

/* NAME(place, result, parameters…): the function at that place of the table. */
#define ORT_FUNCTIONS(X) \
  X(CreateStatus, 0, OrtStatus *, int code, const char *message) \
  X(CreateCustomOpDomain, 26, OrtStatus *, const char *name, OrtCustomOpDomain **made) \
  X(CustomOpDomain_Add, 27, OrtStatus *, OrtCustomOpDomain *to, const struct CustomOp *op) \
  X(AddCustomOpDomain, 28, OrtStatus *, OrtSessionOptions *to, OrtCustomOpDomain *domain) \
  X(GetTensorMutableData, 51, OrtStatus *, OrtValue *of, void **found) \
  X(CreateShape, 57, OrtStatus *, OrtShape **made) \
  X(SetTensorElementType, 58, OrtStatus *, OrtShape *of, int element) \
  X(SetDimensions, 59, OrtStatus *, OrtShape *of, const int64_t *extents, size_t rank) \
  X(GetDimensionsCount, 61, OrtStatus *, const OrtShape *of, size_t *found) \
  X(GetDimensions, 62, OrtStatus *, const OrtShape *of, int64_t *extents, size_t rank) \
  X(GetSymbolicDimensions, 63, OrtStatus *, const OrtShape *of, const char **names, size_t rank) \
  X(GetTensorTypeAndShape, 65, OrtStatus *, const OrtValue *of, OrtShape **made) \
  X(KernelContext_GetInput, 90, OrtStatus *, const OrtKernelContext *of, size_t index, const OrtValue **found) \
  X(KernelContext_GetOutput, 91, OrtStatus *, OrtKernelContext *of, size_t index, const int64_t *extents, size_t rank, OrtValue **made) \
  X(ReleaseStatus, 93, void, OrtStatus *status) \
  X(ReleaseShape, 99, void, OrtShape *shape) \
  X(ShapeInferContext_GetInputTypeShape, 268, OrtStatus *, const OrtShapeInferContext *of, size_t index, OrtShape **found) \
  X(ShapeInferContext_SetOutputTypeShape, 270, OrtStatus *, const OrtShapeInferContext *of, size_t index, const OrtShape *shape) \
  X(SetSymbolicDimensions, 271, OrtStatus *, OrtShape *of, const char **names, size_t rank) \
  X(KernelContext_ParallelFor, 274, OrtStatus *, const OrtKernelContext *of, void (*task)(void *, size_t), size_t count, size_t batches, void *data)

extern OrtApi ort_api;
#define ORT_FUNCTION(name, place, result, ...) \
  typedef result (*name##_fn)(__VA_ARGS__); \
  enum { name##_place = place };
ORT_FUNCTIONS(ORT_FUNCTION)
#define ORT(name) ((name##_fn)ort_api[name##_place])

/* Leave the function with the status of a call that went wrong. */
#define TRY(call) \
  do { \
    OrtStatus *status_ = (call); \
    if (status_) return status_; \
  } while (0)

#endif
