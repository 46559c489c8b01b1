#include "balance/milp_make.h"

#include <string.h>

/* ---- Columns ----------------------------------------------------------------------------------*/

static int whole(calc_milp_maker *m, calc_milp_what what, int kind, int place, double upper)
{
    int stages = (int)m->problem->shape.stages;
    calc_milp_column column = {.what = what,
                               .kind = kind,
                               .stage = -1,
                               .chunk = -1,
                               .microbatch = -1,
                               .integer = true,
                               .upper = upper};
    if (place >= 0) {
        column.stage = calc_balance_stage_of(&m->problem->shape, place);
        column.chunk = place / stages;
    }
    return calc_milp_column_add(m, &column);
}

static bool chooses(const calc_balance_problem *p)
{
    return p->may_select && p->may_full && !p->may_mix;
}

static void add_columns(calc_milp_maker *m, int place)
{
    const calc_balance_problem *p = m->problem;
    calc_milp_place *at = &m->place[place];
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        int most = calc_milp_most_layers(m, kind);
        bool any = p->layers[kind] > 0;
        at->layers[kind] = any ? whole(m, CALC_MILP_LAYERS, kind, place, most) : -1;
        at->selective[kind] =
            any && p->may_select ? whole(m, CALC_MILP_SELECTIVE, kind, place, most) : -1;
        at->full[kind] = any && p->may_full ? whole(m, CALC_MILP_FULL, kind, place, most) : -1;
    }
    /* Layers of kind 0 always reach the first place. */
    bool both = p->layers[0] > 0 && p->layers[1] > 0 && place > 0;
    at->reaches = both ? whole(m, CALC_MILP_REACHES, -1, place, 1) : -1;
    at->selects = chooses(p) ? whole(m, CALC_MILP_SELECTS, -1, place, 1) : -1;
}

/* ---- Rows of a place --------------------------------------------------------------------------*/

/* Layers of kind 0 only where they reach, those of kind 1 only where they do not reach beyond. */
static void keep_order(calc_milp_maker *m, int place)
{
    const calc_milp_place *at = &m->place[place];
    if (at->reaches >= 0) {
        calc_milp_row_add(m, CALC_MILP_LESS, 0);
        calc_milp_term_add(m, at->layers[0], 1);
        calc_milp_term_add(m, at->reaches, -calc_milp_most_layers(m, 0));
    }
    int beyond = place + 1 < m->places ? m->place[place + 1].reaches : -1;
    if (beyond < 0) {
        return;
    }
    int most = calc_milp_most_layers(m, 1);
    calc_milp_row_add(m, CALC_MILP_LESS, most);
    calc_milp_term_add(m, at->layers[1], 1);
    calc_milp_term_add(m, beyond, most);
    if (at->reaches >= 0) {
        calc_milp_row_add(m, CALC_MILP_LESS, 0);
        calc_milp_term_add(m, beyond, 1);
        calc_milp_term_add(m, at->reaches, -1);
    }
}

static void bound_layers(calc_milp_maker *m, int place)
{
    const calc_balance_problem *p = m->problem;
    const calc_milp_place *at = &m->place[place];
    int most = calc_milp_most_layers(m, 0) + calc_milp_most_layers(m, 1);
    if (p->least_layers > 0) {
        calc_milp_row_add(m, CALC_MILP_MORE, p->least_layers);
        calc_milp_term_add(m, at->layers[0], 1);
        calc_milp_term_add(m, at->layers[1], 1);
    }
    if (p->most_layers > 0 && p->most_layers < most) {
        calc_milp_row_add(m, CALC_MILP_LESS, p->most_layers);
        calc_milp_term_add(m, at->layers[0], 1);
        calc_milp_term_add(m, at->layers[1], 1);
    }
}

static void bound_recompute(calc_milp_maker *m, int place)
{
    const calc_milp_place *at = &m->place[place];
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        if (at->selective[kind] < 0 && at->full[kind] < 0) {
            continue;
        }
        calc_milp_row_add(m, CALC_MILP_LESS, 0);
        calc_milp_term_add(m, at->selective[kind], 1);
        calc_milp_term_add(m, at->full[kind], 1);
        calc_milp_term_add(m, at->layers[kind], -1);
        if (at->selects >= 0) {
            int most = calc_milp_most_layers(m, kind);
            calc_milp_row_add(m, CALC_MILP_LESS, 0);
            calc_milp_term_add(m, at->selective[kind], 1);
            calc_milp_term_add(m, at->selects, -most);
            calc_milp_row_add(m, CALC_MILP_LESS, most);
            calc_milp_term_add(m, at->full[kind], 1);
            calc_milp_term_add(m, at->selects, most);
        }
    }
}

/* ---- Alike on a chip --------------------------------------------------------------------------*/

/* Add terms: a factor times the layers of a place that recompute in full, and a factor times all
 * its layers. */
static void place_terms(calc_milp_maker *m, int place, double full, double layers)
{
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        calc_milp_term_add(m, m->place[place].full[kind], full);
        calc_milp_term_add(m, m->place[place].layers[kind], layers);
    }
}

/* r of a place is the smaller of r of the chip and its layers x: r <= both, and one of r >= r of
 * the chip, r >= x. r <= x is already stated by kind. */
static void alike(calc_milp_maker *m, int place, int chip)
{
    double all = m->problem->layers[0] + m->problem->layers[1];
    int partly = whole(m, CALC_MILP_PARTLY, -1, place, 1);
    calc_milp_row_add(m, CALC_MILP_LESS, 0);
    place_terms(m, place, 1, 0);
    calc_milp_term_add(m, chip, -1);
    calc_milp_row_add(m, CALC_MILP_MORE, -all);
    place_terms(m, place, 1, 0);
    calc_milp_term_add(m, chip, -1);
    calc_milp_term_add(m, partly, -all);
    calc_milp_row_add(m, CALC_MILP_MORE, 0);
    place_terms(m, place, 1, -1);
    calc_milp_term_add(m, partly, all);
}

static void make_alike(calc_milp_maker *m)
{
    const calc_balance_problem *p = m->problem;
    int chip[CALC_BALANCE_CHIPS];
    memset(chip, -1, sizeof chip);
    for (int place = 0; place < m->places; place++) {
        int at = p->stage[calc_balance_stage_of(&p->shape, place)].chip;
        if (chip[at] < 0) {
            chip[at] = whole(m, CALC_MILP_CHIP_FULL, at, -1, p->layers[0] + p->layers[1]);
        }
        alike(m, place, chip[at]);
    }
}

/* ---- All --------------------------------------------------------------------------------------*/

int calc_milp_most_layers(const calc_milp_maker *m, int kind)
{
    int all = m->problem->layers[kind];
    int most = m->problem->most_layers;
    return most > 0 && most < all ? most : all;
}

const calc_balance_layer *calc_milp_layers_of(const calc_milp_maker *m, int place)
{
    const calc_balance_problem *p = m->problem;
    return p->layer[p->stage[calc_balance_stage_of(&p->shape, place)].chip];
}

void calc_milp_make_layers(calc_milp_maker *m)
{
    const calc_balance_problem *p = m->problem;
    for (int place = 0; place < m->places; place++) {
        add_columns(m, place);
    }
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        if (p->layers[kind] > 0) {
            calc_milp_row_add(m, CALC_MILP_EQUAL, p->layers[kind]);
            for (int place = 0; place < m->places; place++) {
                calc_milp_term_add(m, m->place[place].layers[kind], 1);
            }
        }
    }
    for (int place = 0; place < m->places; place++) {
        keep_order(m, place);
        bound_layers(m, place);
        bound_recompute(m, place);
    }
    if (p->alike_on_chip && p->may_full) {
        make_alike(m);
    }
}
