/* Which kernel a process died in, told on stderr. Only Passlens' own workers ask for it. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "threads.h"

static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

static void say(const char *text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) return; /* nobody listens any more */
}

/* The instruction runs again after this, and the process dies of the same signal. */
static void tell(int number) {
  signal(number, SIG_DFL);
  if (!running_kernel) return;
  say("\npasslens: in kernel ");
  say(running_kernel->name);
  say(" (");
  say(running_kernel->workload);
  say(")\n");
}

__attribute__((visibility("default"))) void watch_crashes(void) {
  for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) signal(deadly[i], tell);
}
