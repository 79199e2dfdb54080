/* tessera.h -- all of the public C API in one include. */
#ifndef TESSERA_H
#define TESSERA_H

#include "attention.h"
#include "bound.h"
#include "codec.h"
#include "elementwise.h"
#include "keyset.h"
#include "mask.h"
#include "matrix.h"
#include "oracle.h"
#include "problem.h"
#include "product.h"
#include "program.h"
#include "random.h"
#include "reduce.h"
#include "run.h"
#include "schedule.h"
#include "softmax.h"
#include "status.h"
#include "summary.h"
#include "tiling.h"

#endif
