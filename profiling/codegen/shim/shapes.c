/* Shapes of outputs while a model is loaded: numbers and names of sizes as far as they are known. */
#include "operators.h"

struct known {
  int64_t extents[MAX_EXTENTS]; /* of all inputs; -1 where not known */
  const char *names[MAX_EXTENTS];
  int complete;
};

/* Fills in what is known of an input; *found is 0 where it has another rank, or none. */
static OrtStatus *input(const OrtShapeInferContext *context, size_t index, int rank, struct known *known, int place, int *found) {
  OrtShape *shape = 0;
  size_t dims = 0;
  TRY(ORT(ShapeInferContext_GetInputTypeShape)(context, index, &shape));
  TRY(ORT(GetDimensionsCount)(shape, &dims));
  *found = dims == (size_t)rank;
  if (!*found || !rank) return 0;
  TRY(ORT(GetDimensions)(shape, known->extents + place, dims));
  TRY(ORT(GetSymbolicDimensions)(shape, known->names + place, dims));
  for (int i = place; i < place + rank; i++) known->complete &= known->extents[i] >= 0;
  return 0;
}

/* One extent of an output; 0 where neither a number nor a name is known. */
static int output_extent(const struct known *known, int64_t told, int64_t computed, int64_t *extent, const char **name) {
  *name = "";
  *extent = told >= 0 ? told : known->complete ? computed : -1;
  if (*extent >= 0) return 1;
  if (told == COMPUTED) return 0;
  const int64_t place = AS_INPUT(told);
  *extent = known->extents[place];
  if (*extent < 0) *name = known->names[place];
  return *extent >= 0 || (*name && **name);
}

static OrtStatus *tell(const OrtShapeInferContext *context, size_t index, const struct tensor *tensor, const int64_t *extents, const char **names) {
  OrtShape *shape = 0;
  TRY(ORT(CreateShape)(&shape));
  OrtStatus *status = ORT(SetTensorElementType)(shape, tensor->element);
  if (!status) status = ORT(SetDimensions)(shape, extents, (size_t)tensor->rank);
  if (!status) status = ORT(SetSymbolicDimensions)(shape, names, (size_t)tensor->rank);
  if (!status) status = ORT(ShapeInferContext_SetOutputTypeShape)(context, index, shape);
  ORT(ReleaseShape)(shape);
  return status;
}

/* An output of which an extent is not known gets no shape: the runtime has no word for "unknown". */
OrtStatus *infer_shapes(const struct CustomOp *op, OrtShapeInferContext *context) {
  const struct kernel *kernel = kernel_of(op);
  struct known known = {.complete = 1};
  int64_t wanted[MAX_EXTENTS], extents[MAX_EXTENTS];
  const char *names[MAX_EXTENTS];
  int place = 0;
  for (int i = 0; i < kernel->inputs; place += kernel->tensors[i++].rank) {
    int found = 0;
    TRY(input(context, (size_t)i, kernel->tensors[i].rank, &known, place, &found));
    if (!found) return 0;
  }
  if (known.complete) kernel->extents(known.extents, wanted);
  for (int i = 0, told = 0; i < kernel->outputs; i++) {
    const struct tensor *tensor = kernel->tensors + kernel->inputs + i;
    int all = 1;
    for (int axis = 0; axis < tensor->rank; axis++, told++)
      all &= output_extent(&known, kernel->known[told], wanted[place + told], extents + axis, names + axis);
    if (all) TRY(tell(context, (size_t)i, tensor, extents, names));
  }
  return 0;
}
