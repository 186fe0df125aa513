/* Functions of numbers as optimizer/loops/scalar.py means them, for kernels in plain C.

   FUNCTION_TYPE for every type; integers wrap around, and what C leaves undefined has a value. */
#ifndef PASSLENS_KERNEL_MATH_H
#define PASSLENS_KERNEL_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define PURE static inline __attribute__((unused))

#define COMPARED(T, name) \
  PURE int lt_##name(T a, T b) { return a < b; } \
  PURE int le_##name(T a, T b) { return a <= b; } \
  PURE int gt_##name(T a, T b) { return a > b; } \
  PURE int ge_##name(T a, T b) { return a >= b; } \
  PURE int eq_##name(T a, T b) { return a == b; } \
  PURE int ne_##name(T a, T b) { return a != b; } \
  PURE int and_##name(T a, T b) { return a != 0 && b != 0; } \
  PURE int or_##name(T a, T b) { return a != 0 || b != 0; } \
  PURE int xor_##name(T a, T b) { return (a != 0) != (b != 0); } \
  PURE int not_##name(T a) { return a == 0; } \
  PURE int is_nan_##name(T a) { return a != a; } \
  PURE T select_##name(int chosen, T a, T b) { return chosen ? a : b; }

/* U: unsigned, at least as wide as int, so that nothing overflows. */
#define INTEGER(T, U, name) \
  COMPARED(T, name) \
  PURE T add_##name(T a, T b) { return (T)((U)a + (U)b); } \
  PURE T sub_##name(T a, T b) { return (T)((U)a - (U)b); } \
  PURE T mul_##name(T a, T b) { return (T)((U)a * (U)b); } \
  PURE T neg_##name(T a) { return (T)((U)0 - (U)a); } \
  PURE T min_##name(T a, T b) { return a < b ? a : b; } \
  PURE T max_##name(T a, T b) { return a > b ? a : b; } \
  PURE T pow_##name(T a, T b) { \
    T power = 1; \
    for (; b > 0; b /= 2, a = mul_##name(a, a)) \
      if (b % 2) power = mul_##name(power, a); \
    return power; \
  } \
  PURE T floor_##name(T a) { return a; } \
  PURE T ceil_##name(T a) { return a; } \
  PURE T round_##name(T a) { return a; }

#define UNSIGNED(T, U, name) \
  INTEGER(T, U, name) \
  PURE T div_##name(T a, T b) { return (T)(b ? a / b : 0); } \
  PURE T fmod_##name(T a, T b) { return (T)(b ? a % b : 0); } \
  PURE T floor_div_##name(T a, T b) { return div_##name(a, b); } \
  PURE T floor_mod_##name(T a, T b) { return fmod_##name(a, b); } \
  PURE T abs_##name(T a) { return a; } \
  PURE T sign_##name(T a) { return a != 0; }

#define SIGNED(T, U, name) \
  INTEGER(T, U, name) \
  PURE T div_##name(T a, T b) { return b == 0 ? 0 : b == -1 ? neg_##name(a) : (T)(a / b); } \
  PURE T fmod_##name(T a, T b) { return b == 0 || b == -1 ? 0 : (T)(a % b); } \
  PURE T floor_mod_##name(T a, T b) { \
    const T rest = fmod_##name(a, b); \
    return (T)(rest && (rest < 0) != (b < 0) ? rest + b : rest); \
  } \
  PURE T floor_div_##name(T a, T b) { \
    const T rest = fmod_##name(a, b); \
    return (T)(div_##name(a, b) - (rest && (rest < 0) != (b < 0))); \
  } \
  PURE T abs_##name(T a) { return a < 0 ? neg_##name(a) : a; } \
  PURE T sign_##name(T a) { return (T)((a > 0) - (a < 0)); }

SIGNED(int8_t, uint32_t, int8)
SIGNED(int16_t, uint32_t, int16)
SIGNED(int32_t, uint32_t, int32)
SIGNED(int64_t, uint64_t, int64)
UNSIGNED(uint8_t, uint32_t, uint8)
UNSIGNED(uint16_t, uint32_t, uint16)
UNSIGNED(uint32_t, uint32_t, uint32)
UNSIGNED(uint64_t, uint64_t, uint64)
SIGNED(int, uint32_t, bool)

/* Loop variables and sizes: never near the end of 64 bits, so compilers may reason about them. */
COMPARED(int64_t, index)
PURE int64_t add_index(int64_t a, int64_t b) { return a + b; }
PURE int64_t sub_index(int64_t a, int64_t b) { return a - b; }
PURE int64_t mul_index(int64_t a, int64_t b) { return a * b; }
PURE int64_t neg_index(int64_t a) { return -a; }
PURE int64_t abs_index(int64_t a) { return a < 0 ? -a : a; }
PURE int64_t sign_index(int64_t a) { return (a > 0) - (a < 0); }
PURE int64_t min_index(int64_t a, int64_t b) { return a < b ? a : b; }
PURE int64_t max_index(int64_t a, int64_t b) { return a > b ? a : b; }
PURE int64_t div_index(int64_t a, int64_t b) { return b ? a / b : 0; }
PURE int64_t fmod_index(int64_t a, int64_t b) { return b ? a % b : 0; }
PURE int64_t floor_div_index(int64_t a, int64_t b) { return floor_div_int64(a, b); }
PURE int64_t floor_mod_index(int64_t a, int64_t b) { return floor_mod_int64(a, b); }
PURE int64_t pow_index(int64_t a, int64_t b) { return pow_int64(a, b); }

#define FLOATING(T, name, f) \
  COMPARED(T, name) \
  PURE T add_##name(T a, T b) { return a + b; } \
  PURE T sub_##name(T a, T b) { return a - b; } \
  PURE T mul_##name(T a, T b) { return a * b; } \
  PURE T div_##name(T a, T b) { return a / b; } \
  PURE T neg_##name(T a) { return -a; } \
  PURE T min_##name(T a, T b) { return a < b || a != a ? a : b; } \
  PURE T max_##name(T a, T b) { return a > b || a != a ? a : b; } \
  PURE T abs_##name(T a) { return fabs##f(a); } \
  PURE T sign_##name(T a) { return a != a ? a : (T)((a > 0) - (a < 0)); } \
  PURE T fmod_##name(T a, T b) { return fmod##f(a, b); } \
  PURE T floor_mod_##name(T a, T b) { \
    const T rest = fmod##f(a, b); \
    if (rest == 0) return copysign##f(0, b); \
    return (rest < 0) != (b < 0) ? rest + b : rest; \
  } \
  PURE T floor_div_##name(T a, T b) { return floor##f(a / b); } \
  PURE T pow_##name(T a, T b) { return pow##f(a, b); } \
  PURE T sqrt_##name(T a) { return sqrt##f(a); } \
  PURE T exp_##name(T a) { return exp##f(a); } \
  PURE T log_##name(T a) { return log##f(a); } \
  PURE T erf_##name(T a) { return erf##f(a); } \
  PURE T tanh_##name(T a) { return tanh##f(a); } \
  PURE T sin_##name(T a) { return sin##f(a); } \
  PURE T cos_##name(T a) { return cos##f(a); } \
  PURE T floor_##name(T a) { return floor##f(a); } \
  PURE T ceil_##name(T a) { return ceil##f(a); } \
  PURE T round_##name(T a) { return rint##f(a); }

FLOATING(float, float, f)
FLOATING(double, double, )

/* Integers of floats: what x86-64's conversions give; outside their range, the lowest number. */
PURE int32_t int32_of(double a) { return a > -2147483649.0 && a < 2147483648.0 ? (int32_t)a : INT32_MIN; }
PURE int64_t int64_of(double a) { return a >= -0x1p63 && a < 0x1p63 ? (int64_t)a : INT64_MIN; }
PURE int8_t int8_of(double a) { return (int8_t)(uint8_t)int32_of(a); }
PURE int16_t int16_of(double a) { return (int16_t)(uint16_t)int32_of(a); }
PURE uint8_t uint8_of(double a) { return (uint8_t)int32_of(a); }
PURE uint16_t uint16_of(double a) { return (uint16_t)int32_of(a); }
PURE uint32_t uint32_of(double a) { return (uint32_t)int64_of(a); }
PURE uint64_t uint64_of(double a) {
  return a < 0x1p63 ? (uint64_t)int64_of(a) : (uint64_t)int64_of(a - 0x1p63) ^ UINT64_C(1) << 63;
}

PURE uint32_t bits_of(float a) {
  uint32_t bits;
  memcpy(&bits, &a, sizeof bits);
  return bits;
}
PURE float float_of_bits(uint32_t bits) {
  float a;
  memcpy(&a, &bits, sizeof a);
  return a;
}

/* IEEE binary16 and bfloat16, rounded to nearest, ties to even. */
PURE float float_of_half(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7fffu;
  if (rest >= 0x7c00) return float_of_bits(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  return float_of_bits(sign | bits_of(float_of_bits(rest << 13) * 0x1p112f));
}
PURE uint16_t half_of_float(float a) {
  const uint32_t sign = bits_of(a) >> 16 & 0x8000u, rest = bits_of(a) & 0x7fffffffu;
  if (rest > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);
  if (rest >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);
  if (rest < 0x38800000u) /* 2^-24, the smallest number of binary16, is an ulp of 0.5 */
    return (uint16_t)(sign | (bits_of(float_of_bits(rest) + 0.5f) - 0x3f000000u));
  return (uint16_t)(sign | (rest + 0xfffu + (rest >> 13 & 1u) - 0x38000000u) >> 13);
}
PURE float float_of_bfloat(uint16_t bfloat) { return float_of_bits((uint32_t)bfloat << 16); }
PURE uint16_t bfloat_of_float(float a) {
  const uint32_t bits = bits_of(a);
  if (a != a) return (uint16_t)(bits >> 16 | 0x40u);
  return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
PURE float rounded_half(float a) { return float_of_half(half_of_float(a)); }
PURE float rounded_bfloat(float a) { return float_of_bfloat(bfloat_of_float(a)); }

#endif
