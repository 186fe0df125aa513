/* One call of a kernel: what generated code is given as its user_context. */
#ifndef PASSLENS_THREADS_H
#define PASSLENS_THREADS_H

#include "kernels.h"
#include "runtime.h"

struct call {
  OrtKernelContext *context;
  const struct kernel *kernel;
  int parallel; /* whether it is long enough to be shared among threads */
};

/* What this thread is computing; 0 outside kernels. */
#define RUNNING _Thread_local const struct kernel *running_kernel __attribute__((tls_model("initial-exec")))
extern RUNNING; /* read by a signal's handler: never to be allocated there */

#endif
