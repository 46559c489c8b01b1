#include "cli/plan/layers_runs.h"

#include "cli/draw/stage_words.h"
#include "model/cost/state.h"
#include "model/stages/reshard.h"
#include "spec/layer_list.h"

static void put_strategy(calc_put *put, const calc_exec *e)
{
    const calc_strategy *s = &e->strategy;
    char again[160];
    calc_stage_words_recomputed(e, again, sizeof again);
    calc_put_count(put, "tensor_par", s->tensor_par);
    calc_put_count(put, "context_par", s->context_par > 1 ? s->context_par : 1);
    calc_put_count(put, "expert_par", s->expert_par > 1 ? s->expert_par : 1);
    calc_put_count(put, "data_par", s->data_par);
    calc_put_count(put, "microbatch_size", e->microbatch_size);
    calc_put_count(put, "zero_stage", calc_zero_stage(s));
    calc_put_text(put, "recompute", again);
}

/* From layers to the next, and with gradients back, of a micro-batch [s]. */
static double rearranging_s(const calc_plan_task *t, const calc_exec *a, const calc_exec *b)
{
    calc_reshard x = calc_reshard_of(&t->app, &t->chip[0].system, a, b);
    return x.fw_s + x.bw_s;
}

void calc_layers_runs_put(calc_put *put, const calc_plan_task *t, const calc_exec *exec)
{
    calc_exec plain = *exec;
    calc_layer_list list = exec->layers;
    if (list.count == 0) {
        list = (calc_layer_list){.count = 1,
                                 .ends = calc_layer_as_exec,
                                 .run = {{(int16_t)t->app.num_blocks, calc_layer_as_exec}}};
    }
    plain.layers = (calc_layer_list){0};
    const calc_layer_strategy end[] = {calc_layer_list_end(&t->app, &list, false),
                                       calc_layer_list_end(&t->app, &list, true)};
    const calc_exec embedding = calc_layer_list_exec(&plain, &end[0]);
    const calc_exec head = calc_layer_list_exec(&plain, &end[1]);
    calc_exec before = embedding;
    calc_put_array(put, "layers", CALC_PUT_LINES);
    for (int32_t i = 0; i < list.count; i++) {
        const calc_exec e = calc_layer_list_exec(&plain, &list.run[i].strategy);
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_count(put, "blocks", list.run[i].blocks);
        put_strategy(put, &e);
        calc_put_number(put, "rearranging_time", rearranging_s(t, &before, &e));
        calc_put_close(put);
        before = e;
    }
    calc_put_close(put);
    calc_put_object(put, "ends", CALC_PUT_LINE);
    put_strategy(put, &head);
    calc_put_number(put, "rearranging_time", rearranging_s(t, &before, &head));
    calc_put_close(put);
}
