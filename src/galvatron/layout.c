#include "galvatron/layout.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "galvatron/files.h"

static int degree(const calc_galvatron_strategy *s)
{
    return s->tp > s->sp ? s->tp : s->sp;
}

char *calc_galvatron_strategy_text(const calc_galvatron_strategy *strategy,
                                   char text[CALC_GALVATRON_STRATEGY_SIZE])
{
    const calc_galvatron_strategy *s = strategy;
    char cp[16] = "";
    if (s->cp > 1) {
        snprintf(cp, sizeof cp, "x%d", s->cp);
    }
    snprintf(text, CALC_GALVATRON_STRATEGY_SIZE, "%d-%d%s%s-%d%s%s%s", s->pp, degree(s),
             degree(s) > 1 ? "*" : "", cp, s->dp, s->type == CALC_GALVATRON_ZERO3 ? "f" : "",
             s->checkpoint ? "-c" : "", s->sp > 1 ? "-sp" : "");
    return text;
}

bool calc_galvatron_strategy_same(const calc_galvatron_strategy *a,
                                  const calc_galvatron_strategy *b)
{
    return a->pp == b->pp && a->tp == b->tp && a->sp == b->sp && a->cp == b->cp && a->dp == b->dp &&
           a->type == b->type && a->checkpoint == b->checkpoint;
}

int calc_galvatron_layout_run(const calc_galvatron_layout *s, int first, int end)
{
    int last = first + 1;
    while (last < end && calc_galvatron_strategy_same(&s->layer[last], &s->layer[first])) {
        last++;
    }
    return last - first;
}

void calc_galvatron_layout_divide(calc_galvatron_layout *s)
{
    int each = s->layers / s->pp;
    for (int i = 0; i < s->pp; i++) {
        s->division[i] = i < s->pp - 1 ? each : s->layers - each * (s->pp - 1);
    }
}

char *calc_galvatron_layout_name(const calc_galvatron_request *request,
                                 char name[CALC_GALVATRON_NAME_SIZE])
{
    const calc_galvatron_request *r = request;
    const struct {
        bool off;
        const char *name;
    } spaces[] = {{r->disable_dp, "dp"},
                  {r->disable_tp, "tp"},
                  {r->disable_pp, "pp"},
                  {r->disable_fsdp, "fsdp"},
                  {r->disable_ckpt, "ckpt"}};
    char off[64] = "";
    name[0] = '\0';
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        if (spaces[i].off) {
            calc_append(off, sizeof off, "%s%s_", *off ? "" : "_[", spaces[i].name);
        }
    }
    calc_append(name, CALC_GALVATRON_NAME_SIZE,
                "galvatron_config_%s_%lldnodes_%lldgpus_per_node_%gGB_%s", r->model,
                (long long)r->num_nodes, (long long)r->num_gpus_per_node, r->memory_constraint,
                calc_galvatron_precision_name(r->mixed_precision));
    if (r->settle_bsz > 0) {
        calc_append(name, CALC_GALVATRON_NAME_SIZE, "_bsz%lld", (long long)r->settle_bsz);
    }
    return calc_append(name, CALC_GALVATRON_NAME_SIZE, "%s%s.json", off, *off ? "off]" : "");
}

int64_t calc_galvatron_layout_multiple(const calc_galvatron_layout *s)
{
    int tp = degree(&s->ends);
    int cp = s->ends.cp;
    for (int i = 0; i < s->layers; i++) {
        tp = degree(&s->layer[i]) < tp ? degree(&s->layer[i]) : tp;
        cp = s->layer[i].cp < cp ? s->layer[i].cp : cp;
    }
    int64_t ranks = (int64_t)s->world / s->pp / tp / cp;
    return ranks > 1 ? ranks : 1;
}

void calc_galvatron_layout_answer(const calc_galvatron_request *request,
                                  const calc_galvatron_answer *answer, calc_galvatron_layout *out)
{
    const calc_galvatron_task *task = &answer->task;
    *out = (calc_galvatron_layout){
        .world = (int)calc_galvatron_world(request),
        .pp = task->pp,
        .gbsz = task->gbsz,
        .chunks = task->chunks,
        .pipeline_type = request->pipeline_type,
        .default_dp_type = request->default_dp_type,
        .layers = (int)calc_galvatron_layer_count(request),
        .ends = answer->ends,
    };
    memcpy(out->layer, answer->layer, (size_t)out->layers * sizeof *out->layer);
    memcpy(out->division, answer->division, (size_t)out->pp * sizeof *out->division);
}

/* ---- Writing --------------------------------------------------------------------------------- */

typedef int number_of(const calc_galvatron_strategy *s);

static int context(const calc_galvatron_strategy *s)
{
    return s->cp;
}
static int consecutive(const calc_galvatron_strategy *s)
{
    (void)s;
    return 1;
}
static int zero3(const calc_galvatron_strategy *s)
{
    return s->type == CALC_GALVATRON_ZERO3;
}
static int ulysses(const calc_galvatron_strategy *s)
{
    return s->sp > 1;
}
static int checkpointed(const calc_galvatron_strategy *s)
{
    return s->checkpoint;
}

static void put_list(const calc_galvatron_layout *s, const char *key, number_of *number,
                     calc_output *out)
{
    calc_output_printf(out, "    \"%s\": \"", key);
    for (int i = 0; i < s->layers; i++) {
        calc_output_printf(out, "%s%d", i ? "," : "", number(&s->layer[i]));
    }
    calc_output_text(out, "\",\n");
}

static void put_division(const calc_galvatron_layout *s, calc_output *out)
{
    calc_output_text(out, "    \"pp_division\": \"");
    for (int i = 0; i < s->pp; i++) {
        calc_output_printf(out, "%s%d", i ? "," : "", s->division[i]);
    }
    calc_output_text(out, "\",\n");
}

static void put_count(const char *key, int64_t value, calc_output *out)
{
    calc_output_printf(out, "    \"%s\": %lld,\n", key, (long long)value);
}

void calc_galvatron_layout_write(const calc_galvatron_layout *s, calc_output *out)
{
    static const char *const types[] = {"ddp", "zero2", "zero3"};
    bool split = s->ends.cp > 1;
    for (int i = 0; i < s->layers; i++) {
        split = split || s->layer[i].cp > 1;
    }
    calc_output_text(out, "{\n");
    put_count("pp_deg", s->pp, out);
    put_list(s, "tp_sizes_enc", degree, out);
    put_list(s, "tp_consecutive_flags", consecutive, out);
    put_list(s, "dp_types_enc", zero3, out);
    put_list(s, "use_sp", ulysses, out);
    put_list(s, "checkpoint", checkpointed, out);
    put_count("world_size", s->world, out);
    put_count("global_bsz", s->gbsz, out);
    put_count("chunks", s->chunks, out);
    put_division(s, out);
    calc_output_printf(out, "    \"pipeline_type\": \"%s\",\n    \"default_dp_type\": \"%s\",\n",
                       s->pipeline_type == CALC_GALVATRON_GPIPE ? "gpipe" : "pipedream_flush",
                       types[s->default_dp_type]);
    put_count("vtp", degree(&s->ends), out);
    put_count("vsp", s->ends.sp > 1, out);
    put_count("embed_sdp", zero3(&s->ends), out);
    if (split) {
        put_list(s, "cp_sizes_enc", context, out);
        put_count("vcp", s->ends.cp, out);
    }
    calc_output_printf(out, "    \"vocab_sdp\": %d\n}", zero3(&s->ends));
}
