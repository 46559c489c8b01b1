/* The build does not fuse a * b + c: that would round once instead of twice. */
#include <stdio.h>

int main(void)
{
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("fma")) {
        puts("skipped: this processor cannot fuse");
        return 77;
    }
#endif
    volatile double above = 1 + 0x1p-30;
    volatile double below = 1 - 0x1p-30;
    volatile double minus_one = -1;
    double a = above;
    double b = below;
    double c = minus_one;
    double result = a * b + c; /* the product 1 - 2^-60 rounds to 1 */
    printf("%g, fused would be %g\n", result, -0x1p-60);
    return result == 0 ? 0 : 1;
}
