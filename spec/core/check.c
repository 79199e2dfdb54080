/* check.c -- the checks themselves: what they must let pass. That they fail is for
 * spec/core_spec.lua to see. */
#include "check.h"

int main(int argc, char **argv) {
    double zero = 0, nan = NAN, inf = INFINITY;
    CHECK(1 + 1 == 2);
    CHECK_INT(INT64_MIN, INT64_MIN);
    CHECK_NUMBER(-zero, zero);
    CHECK_BITS(nan, nan);
    CHECK_NEAR(inf, inf, 0);
    CHECK_NEAR(1.5, 1, 0.5);
    CHECK_NUMBER(check_ulps(1, nextafter(1, 2)), 1);
    CHECK_NUMBER(check_ulps(-5e-324, 5e-324), 2);
    CHECK_NUMBER(check_ulps(nan, nan), inf);
    CHECK_NUMBER(check_ulps32(1, nextafterf(1, 0)), 1);
    CHECK_NUMBER(check_ulps32(-1e-45f, 1e-45f), 2);
    if (argc > 1 && strcmp(argv[1], "fail") == 0) { /* each of these fails */
        CHECK(zero > 0);
        CHECK_INT(1, 2);
        CHECK_NUMBER(nan, nan);
        CHECK_NUMBER(nan, 1);
        CHECK_BITS(-zero, zero);
        CHECK_NEAR(1.5, 1, 0.25);
        CHECK_NEAR(nan, 1, 1);
        CHECK_NEAR(1, nan, 1);
        CHECK_NEAR(1, 2, nan);
        CHECK_NEAR(1, 2, inf);
        CHECK_NEAR(inf, -inf, 1);
        CHECK_NEAR(inf, 1, 1);
    }
    return check_done();
}
