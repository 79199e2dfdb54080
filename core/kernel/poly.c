/* poly.c -- the coefficients, by a minimax fit (reweighted least squares in 50 digits) under p(0)
 * = 1. */
#include "poly.h"

const double ts_poly_coefficients[TS_POLY_DEGREE + 1][TS_POLY_DEGREE + 1] = {
    {0x1p+0},
    {0x1p+0, 0x1.5555324e9cd25p-1},
    {0x1p+0, 0x1.67e7fe4b6ea58p-1, 0x1.eb3dcb3bf2a5fp-3},
    {0x1p+0, 0x1.62f5faf0822e7p-1, 0x1.f00c4d4e216e3p-3, 0x1.c2a20e8537148p-5},
    {0x1p+0, 0x1.62e12c9a68928p-1, 0x1.ec037761ef56ap-3, 0x1.c9fc46431e99bp-5,
     0x1.3a02c95aac2c9p-7},
    {0x1p+0, 0x1.62e4291ff9968p-1, 0x1.ebf9bb84557d4p-3, 0x1.c6b75316d7250p-5, 0x1.3cea890f2492fp-7,
     0x1.5bb9feb7c7afep-10},
    {0x1p+0, 0x1.62e430af28349p-1, 0x1.ebfbdc3c2a007p-3, 0x1.c6aee88d73756p-5, 0x1.3b2d4cf47f795p-7,
     0x1.5f3e536428d34p-10, 0x1.41fbbb0463be6p-13},
    {0x1p+0, 0x1.62e42ff0e19b8p-1, 0x1.ebfbe07788edfp-3, 0x1.c6b08ac05b139p-5, 0x1.3b29f39c050f1p-7,
     0x1.5d8a860e0182ep-10, 0x1.445c84dfd6058p-13, 0x1.fde5edb05a147p-17},
    {0x1p+0, 0x1.62e42fef89d05p-1, 0x1.ebfbdff8edf3dp-3, 0x1.c6b08dced652fp-5, 0x1.3b2ab5ed672ddp-7,
     0x1.5d874d042595dp-10, 0x1.430aa889a4e26p-13, 0x1.00d854d38a7eap-16, 0x1.61c4eea69f9dfp-20},
    {0x1p+0, 0x1.62e42fefa37d1p-1, 0x1.ebfbdff81be05p-3, 0x1.c6b08d70c887ep-5, 0x1.3b2ab72412204p-7,
     0x1.5d87fd937dbacp-10, 0x1.430897f355b82p-13, 0x1.ffce2fd93d711p-17, 0x1.63e696220ee62p-20,
     0x1.b3de1e79510ccp-24},
    {0x1p+0, 0x1.62e42fefa3a12p-1, 0x1.ebfbdff82c431p-3, 0x1.c6b08d703e179p-5, 0x1.3b2ab6fbd6da3p-7,
     0x1.5d87fe9b8f04cp-10, 0x1.4309126be345ep-13, 0x1.ffcb58ca4fec8p-17, 0x1.62c147e7dd5bfp-20,
     0x1.b671b2af9b542p-24, 0x1.e3a89bd9d5541p-28},
    {0x1p+0, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5a4p-3, 0x1.c6b08d7049fe8p-5, 0x1.3b2ab6fba0119p-7,
     0x1.5d87fe78cd5eap-10, 0x1.4309130ed8d9bp-13, 0x1.ffcbfba9bf1aep-17, 0x1.62bfc79d8fb9cp-20,
     0x1.b5267c6a18e97p-24, 0x1.e61b4e9abf6bcp-28, 0x1.e79c58c4bf80ap-32},
    {0x1p+0, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58fp-3, 0x1.c6b08d704a0cfp-5, 0x1.3b2ab6fba4e22p-7,
     0x1.5d87fe78a26cap-10, 0x1.430912f883c47p-13, 0x1.ffcbfc74d578dp-17, 0x1.62c021e29e4a7p-20,
     0x1.b524dd56c9015p-24, 0x1.e4d06bbae3d34p-28, 0x1.ea014c6bb4effp-32, 0x1.c2cfa07f65b71p-36},
    {0x1p+0, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58fp-3, 0x1.c6b08d704a0c0p-5, 0x1.3b2ab6fba4e7dp-7,
     0x1.5d87fe78a66f2p-10, 0x1.430912f86a067p-13, 0x1.ffcbfc58a6290p-17, 0x1.62c0224900555p-20,
     0x1.b5253ce19b4fep-24, 0x1.e4cef8d171d01p-28, 0x1.e8cbc6358e7c6p-32, 0x1.c4c47a840a81ep-36,
     0x1.8095135b66966p-40},
};

/* The fit's relative error, from above; of degree 0, a constant, too. */
static const double fit[TS_POLY_DEGREE + 1] = {
    4.2e-01, 6.0e-02, 2.1e-03, 1.1e-04, 2.9e-06, 9.6e-08, 2.1e-09,
    4.9e-11, 8.5e-13, 1.6e-14, 2.3e-16, 3.6e-18, 4.4e-20, 5.8e-22,
};

double ts_poly_error(ts_dtype dtype, int degree) {
    return fit[degree] + (dtype == TS_F32 ? 0x1p-23 : 0x1p-52);
}
