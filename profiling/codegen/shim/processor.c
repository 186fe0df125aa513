/* cpuid and xgetbv, read here: __builtin_cpu_supports answers wrongly where Zig builds it.
   Source: Intel SDM vol. 2A, CPUID; vol. 1, 13.3, XCR0. */
#include "processor.h"

#include "kernels.h"

#define BIT(word, number) ((word) >> (number) & 1u)
#define VECTORS_256 0x06u /* XCR0: the system keeps SSE and AVX registers */
#define VECTORS_512 0xe6u /* and masks, and all of AVX-512's */

struct words {
  uint32_t a, b, c, d;
};

static struct words cpuid(uint32_t leaf) {
  struct words found;
  __asm__ volatile("cpuid"
                   : "=a"(found.a), "=b"(found.b), "=c"(found.c), "=d"(found.d)
                   : "a"(leaf), "c"(0));
  return found;
}

static uint32_t kept_by_system(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

int processor_level(void) {
  const uint32_t last = cpuid(0).a;
  const struct words one = cpuid(1);
  if (!BIT(one.c, 19)) return -1; /* SSE4.1 */
  /* OSXSAVE, AVX, FMA, F16C */
  const int avx = BIT(one.c, 27) && BIT(one.c, 28) && BIT(one.c, 12) && BIT(one.c, 29);
  if (!avx || last < 7) return BASELINE;
  const uint32_t kept = kept_by_system(), seven = cpuid(7).b;
  /* AVX2, BMI1, BMI2 */
  if ((kept & VECTORS_256) != VECTORS_256 || !BIT(seven, 5) || !BIT(seven, 3) || !BIT(seven, 8))
    return BASELINE;
  /* F, DQ, CD, BW, VL */
  const int wide = BIT(seven, 16) && BIT(seven, 17) && BIT(seven, 28) && BIT(seven, 30) && BIT(seven, 31);
  return wide && (kept & VECTORS_512) == VECTORS_512 ? AVX512 : AVX2;
}
