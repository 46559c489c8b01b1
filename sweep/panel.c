#include "panel.h"

#include <assert.h>

void calc_panel_put(calc_panel *p, size_t lane, const calc_stage_terms *t)
{
#define CALC_X(name, member) p->name[lane] = t->member;
    CALC_PANEL_LIST(CALC_X)
    if (t->compat) {
        CALC_PANEL_RULE_LIST(CALC_X)
    }
#undef CALC_X
}

void calc_panel_put_shared(calc_panel *p, size_t lane, int kind, const calc_rule_part *rule)
{
    calc_stage_terms t;
    t.rule[kind] = *rule;
#define CALC_X(name, member) p->name[lane] = t.member;
    if (kind == 0) {
        CALC_PANEL_SHARED_RULE_LIST(CALC_X, dense, 0)
    } else {
        CALC_PANEL_SHARED_RULE_LIST(CALC_X, moe, 1)
    }
#undef CALC_X
}

void calc_panel_add(calc_panel *p, const calc_panel *from, const unsigned char *lane, size_t count,
                    bool rules)
{
    size_t at = p->count;
    assert(at + count <= CALC_PANEL_LANES);
    for (size_t i = 0; i < count; i++) {
        p->row[at + i] = from->row[lane[i]];
        p->choice[at + i] = from->choice[lane[i]];
        p->spread[at + i] = from->spread[lane[i]];
        p->message[at + i] = from->message[lane[i]];
    }
#define CALC_X(name, member)                                                                       \
    for (size_t i = 0; i < count; i++) {                                                           \
        p->name[at + i] = from->name[lane[i]];                                                     \
    }
    CALC_PANEL_LIST(CALC_X)
    if (rules) {
        CALC_PANEL_RULE_LIST(CALC_X)
    }
#undef CALC_X
    p->count += count;
}

void calc_panel_pad(calc_panel *p, bool rules)
{
    for (size_t lane = p->count; lane < calc_panel_whole(p->count); lane++) {
        p->row[lane] = p->row[0];
        p->choice[lane] = p->choice[0];
        p->spread[lane] = p->spread[0];
        p->message[lane] = p->message[0];
#define CALC_X(name, member) p->name[lane] = p->name[0];
        CALC_PANEL_LIST(CALC_X)
        if (rules) {
            CALC_PANEL_RULE_LIST(CALC_X)
        }
#undef CALC_X
    }
}
