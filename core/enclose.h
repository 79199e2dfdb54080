/* enclose.h -- what a score program can give on an interval of scores, roundings and all. */
#ifndef TS_ENCLOSE_H
#define TS_ENCLOSE_H

#include "program.h"

/* Bytes of scratch that ts_program_enclose (program.h) needs. */
size_t ts_enclose_scratch(const ts_program *program);

#endif
