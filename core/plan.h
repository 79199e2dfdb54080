/* plan.h -- what a program comes to on one tile: what is decided, what is computed once a row, once
 * a key, or for each cell, and by which instructions. lanes.h is the door to it. */
#ifndef TS_PLAN_H
#define TS_PLAN_H

#include "interval.h"
#include "lanes.h"

/* Where the value of a node varies on the tile: nowhere, with the query, with the key, with both.
 * COLUMN and CELL nodes have lanes. */
typedef enum { TS_POINT, TS_ROW, TS_COLUMN, TS_CELL } ts_place;

/* How lanes are made. */
typedef enum {
    TS_PLAIN,     /* by the node's operation */
    TS_RANGE,     /* a linear comparison: the keys up to a limit, or from it on */
    TS_REMAINDER, /* a linear form % constant, or ... */
    TS_QUOTIENT,  /* ... // constant: from those of the row and those of the keys */
    TS_MATCH,     /* a REMAINDER == a number of the row: the keys of one remainder */
    TS_RAMP,      /* a linear form as a float: that of the row plus that of the keys */
    TS_LIMIT,     /* an integer against a float of the row: against a whole number */
    TS_BITS,      /* a stretch of a row of dense bits */
    TS_LOOKUP     /* elements of a list, or of a row of a matrix */
} ts_manner;

enum { TS_NONE = -1, TS_MOST_OPERANDS = 5 };

/* The plan of one node. */
typedef struct {
    uint8_t place, manner;
    bool needed, keyed; /* keyed: what the keys alone contribute is needed */
    int32_t alias;      /* the node that it always equals here; mostly itself */
    int32_t last;       /* the last node that uses its lanes */
    int32_t slot;       /* where its lanes lie; TS_NONE: nowhere, or where the caller's scores do */
    int32_t keys[2];    /* where the keys' remainders and quotients lie, or their ramp */
} ts_planned;

/* One number for all lanes, in the type of the lanes. */
typedef union {
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    uint64_t word;
} ts_splat;

typedef struct ts_plan ts_plan;

/* What makes the lanes of one node. */
typedef struct ts_instruction ts_instruction;
struct ts_instruction {
    void (*run)(ts_plan *plan, ts_instruction *in);
    ts_lane_op *loop;
    int32_t node, operands;
    /* The node that a splat, or the scores, are taken from for each row; or TS_NONE. */
    int32_t source[TS_MOST_OPERANDS];
    ts_lane operand[TS_MOST_OPERANDS];
    ts_splat splat[TS_MOST_OPERANDS];
    void *out; /* NULL: the scores of the row */
};

struct ts_plan {
    ts_program program;
    const ts_lane_table *loops;
    bool wide, score; /* wide: lanes of integers are int64_t, not int32_t */
    ts_dtype dtype;   /* of floats */
    ts_cells tile;
    int64_t keys, n; /* lanes of a row: its keys, and those rounded up to a multiple of 64 */
    int64_t row;     /* the query at hand */
    void *scores;    /* its scores; NULL in a mask */
    int32_t s;       /* the node that they are, or TS_NONE */
    /* Of each node: */
    ts_interval *bound;
    ts_value *value; /* of POINT and ROW nodes */
    ts_planned *nodes;
    int32_t *rows; /* the ROW nodes that are needed, in order */
    int64_t row_count;
    /* Those of COLUMN nodes, which have run, then those of CELL nodes. */
    ts_instruction *code;
    int64_t columns, cells;
    int32_t *free; /* slots to use again */
    int64_t free_count, slots;
    char *memory; /* of the slots */
};

size_t ts_plan_scratch(const ts_program *program);

/* Plans the tile, and runs what depends on the key alone. */
void ts_plan_tile(ts_plan *plan, const ts_program *program, ts_dtype dtype, bool score,
                  const ts_cells *tile, void *scratch);
/* Computes what varies with the query, in this row: the values of ROW nodes, the lanes of CELL
 * nodes. */
void ts_plan_row(ts_plan *plan, int64_t row);

static inline const ts_node *ts_plan_node(const ts_plan *plan, int32_t at) {
    return &plan->program.nodes[at];
}
static inline bool ts_has_lanes(const ts_plan *plan, int32_t at) {
    return plan->nodes[at].place >= TS_COLUMN;
}
void *ts_plan_slot(const ts_plan *plan, int32_t slot);

/* ---- what each node comes to ---- */

/* Fills in the place of a node, behind those of its operands, and the value of a POINT node. */
void ts_plan_place(ts_plan *plan, int32_t at);
/* How the lanes of a node that has some are made. */
ts_manner ts_plan_manner(const ts_plan *plan, int32_t at);

/* The linear form of a node where it varies with j and is a key's number here; else NULL. */
const ts_form *ts_linear_in_j(const ts_plan *plan, int32_t at);
/* What the form is for key 0 of this row. */
int64_t ts_form_of_row(const ts_plan *plan, const ts_form *form);
/* Of ieq: which operand (0 or 1) is a linear form's remainder, where the other is a number of the
 * row; else TS_NONE. */
int ts_matched(const ts_plan *plan, const ts_node *node);
/* Of a comparison of an integer with a float: which operand (0 or 1) is the float. */
int ts_float_operand(ts_op op);

/* ---- instructions ---- */

/* One operation on single numbers: for a POINT or ROW node. */
ts_value ts_plan_evaluate(const ts_plan *plan, const ts_node *node, const ts_value *values);
/* What makes the lanes of the node. */
void ts_instruction_make(ts_plan *plan, ts_instruction *in, int32_t node);
/* What the keys alone contribute to the node: fills the slots nodes[at].keys. */
void ts_fill_keys(ts_plan *plan, int32_t at);
/* Writes lane k of lanes of this type; a boolean's bit must be 0. */
void ts_set_lane(const ts_plan *plan, ts_type type, void *lanes, int64_t k, ts_value value);

#endif
