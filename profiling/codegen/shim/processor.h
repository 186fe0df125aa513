/* What this processor can do. */
#ifndef PASSLENS_PROCESSOR_H
#define PASSLENS_PROCESSOR_H

/* The best of `enum level` that processor and system support; -1 without SSE4.1. */
int processor_level(void);

#endif
