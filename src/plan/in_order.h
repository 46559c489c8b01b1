/** @file in_order.h  Pieces of work that learn from those before them, on several threads in one
 *  region: without a barrier, and the same whatever the threads. */
#ifndef CALC_PLAN_IN_ORDER_H
#define CALC_PLAN_IN_ORDER_H

#include <stdbool.h>
#include <stddef.h>

/** Pieces that may be worked on at once: a piece begins when all but the last seven begun before it
 *  are settled. */
enum { CALC_IN_ORDER = 8 };

/** @param begin   pose the next piece in a place below CALC_IN_ORDER; false: there is no other
 *  @param work    on it; on several threads at once
 *  @param settle  what was found, in the order in which pieces began
 *  @param context of all three; begin and settle have it to themselves
 *  @param threads 0: as many as the machine has */
void calc_in_order(int threads, bool (*begin)(void *context, size_t at),
                   void (*work)(void *context, size_t at), void (*settle)(void *context, size_t at),
                   void *context);

#endif
