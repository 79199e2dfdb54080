/* select.c -- which of the instruction sets this machine can run, and which one is used. */
#include "kernel.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>

extern const ts_kernel ts_kernel_sse2, ts_kernel_avx2, ts_kernel_avx512;
static const ts_kernel *const sets[] = {&ts_kernel_avx512, &ts_kernel_avx2, &ts_kernel_sse2};

/* The CPU may have registers that the operating system does not save: XCR0 says which it does. */
static bool saves(uint32_t state) {
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return false;
    __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return (a & state) == state;
}

static bool has(const ts_kernel *kernel) {
    const uint32_t ymm = 0x06, zmm = 0xe6;
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && saves(ymm);
    if (kernel == &ts_kernel_avx2) return avx2;
    if (kernel == &ts_kernel_avx512)
        return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               saves(zmm);
    return true;
}
#else
extern const ts_kernel ts_kernel_neon;
static const ts_kernel *const sets[] = {&ts_kernel_neon};
static bool has(const ts_kernel *kernel) { return kernel != NULL; }
#endif

enum { SETS = sizeof sets / sizeof sets[0] };
static const ts_kernel *selected;

ts_status ts_kernel_select(const char *name) {
    for (int s = 0; s < SETS; s++) {
        bool asked = name == NULL || name[0] == 0 || strcmp(name, sets[s]->name) == 0;
        if (asked && has(sets[s])) {
            selected = sets[s];
            return TS_OK;
        }
    }
    return TS_NO_ISA;
}

const ts_kernel *ts_kernel_get(void) {
    if (!selected) ts_kernel_select(NULL);
    return selected;
}

const char *ts_kernel_name(const ts_kernel *kernel) { return kernel->name; }

const char *ts_kernel_available(void) {
    static char names[64];
    size_t length = 0;
    for (int s = 0; s < SETS; s++)
        if (has(sets[s]))
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                       length > 0 ? ", " : "", sets[s]->name);
    return names;
}
