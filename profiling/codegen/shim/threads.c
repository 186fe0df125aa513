/* What generated code calls: loops on ONNX Runtime's own threads, and memory. */
#include "threads.h"

#include <stdlib.h>

#define ALIGNMENT 64 /* of a cache line, and of the widest vector */

struct job {
  const struct call *call;
  halide_task_t task;
  uint8_t *closure;
  int min;
  int failed;
};

static _Thread_local int inside;

static void run_one(void *data, size_t index) {
  struct job *job = data;
  const struct kernel *before = running_kernel;
  running_kernel = job->call->kernel;
  inside++;
  const int code = job->task((void *)job->call, job->min + (int)index, job->closure);
  inside--;
  running_kernel = before;
  if (code) __atomic_store_n(&job->failed, code, __ATOMIC_RELAXED);
}

static int run_here(void *user_context, halide_task_t task, int min, int size, uint8_t *closure) {
  for (int index = min; index < min + size; index++) {
    const int code = task(user_context, index, closure);
    if (code) return code;
  }
  return 0;
}

/* A loop inside another one's task stays on that task's thread. */
int halide_do_par_for(void *user_context, halide_task_t task, int min, int size, uint8_t *closure) {
  const struct call *call = user_context;
  if (!call || !call->parallel || size < 2 || inside)
    return run_here(user_context, task, min, size, closure);
  struct job job = {call, task, closure, min, 0};
  OrtStatus *status = ORT(KernelContext_ParallelFor)(call->context, run_one, (size_t)size, 0, &job);
  if (!status) return job.failed;
  ORT(ReleaseStatus)(status);
  return ORT_FAIL;
}

/* Generated code without asserts takes what it gets: without memory there is no going on. */
void *halide_malloc(void *user_context, size_t bytes) {
  (void)user_context;
  return aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT);
}

void halide_free(void *user_context, void *memory) {
  (void)user_context;
  free(memory);
}
