#include "mindspeed/compose.h"

#include <math.h>
#include <string.h>

#include "mindspeed/parts.h"
#include "model/run.h"

/* Recomputes the step of a layout after its parts have changed [s]. */
static double step_s(calc_layout *l)
{
    calc_step step;
    calc_stage_terms_of(&l->context, l->exec, &l->parts, &l->lines, &l->terms, &l->links);
    calc_step_of(l, &step);
    return step.total_s;
}

calc_status calc_mindspeed_compose(const calc_mindspeed_layout *layout,
                                   calc_mindspeed_operators *operators, calc_mindspeed_comm *comm,
                                   double *samples_s, size_t count)
{
    calc_layout l;
    calc_mindspeed_parts parts;
    calc_layout_of(layout->app, layout->system, layout->exec, CALC_COMPAT_NONE, NULL, &l);
    if (comm) {
        calc_mindspeed_parts_sent(&l, comm);
    }
    calc_status status = CALC_OK;
    if (operators) {
        status = calc_mindspeed_parts_of(&parts, layout, &l, operators);
    }
    const calc_stage_parts before = l.parts;
    for (size_t i = 0; i < count && status == CALC_OK; i++) {
        if (operators) {
            l.parts = before;
            calc_mindspeed_parts_draw(&parts, i, &l.parts, &operators->clamped);
        }
        samples_s[i] = operators || i == 0 ? step_s(&l) : samples_s[0];
    }
    return status;
}

/* ---- Modules --------------------------------------------------------------------------------- */

static void set_part(calc_stage_part *part, double fw_s, double backward)
{
    part->fw_s = fw_s;
    part->agrad_s = fw_s * backward;
    part->wgrad_s = part->spared_s = 0;
}

double calc_mindspeed_compose_modules_s(const calc_mindspeed_layout *layout,
                                        const calc_mindspeed_module_times *m)
{
    calc_layout l;
    calc_step step;
    calc_layout_of(layout->app, layout->system, layout->exec, CALC_COMPAT_NONE, NULL, &l);
    for (int kind = 0; kind < CALC_STAGE_KINDS; kind++) {
        set_part(&l.terms.block[kind], m->layer_s, m->backward);
    }
    set_part(&l.terms.embedding, m->embedding_s, m->backward);
    set_part(&l.terms.head, m->norm_s + m->head_s + m->loss_s, m->backward);
    calc_step_of(&l, &step);
    return step.total_s;
}
