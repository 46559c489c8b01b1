#include "cli/as/mindspeed_show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/draw/human.h"
#include "io/json_put.h"

#define GIB 1073741824.0

static size_t rows_of(const calc_mindspeed_shown *s)
{
    return s->ranking->fit < s->top ? s->ranking->fit : s->top;
}

static double capacity_gib(const calc_mindspeed_shown *s)
{
    return s->study->system->chip.mem1.capacity_bytes / GIB;
}

static const char *memory_words(const calc_mindspeed_shown *s)
{
    return s->study->calc_memory         ? "calc's model"
           : s->ranking->peak.regression ? "MindSpeed's regression on five probes"
                                         : "MindSpeed's formulas";
}

/* ---- The planner's line ---------------------------------------------------------------------- */

/* MindSpeed's flags with their values. */
static void put_strategy(calc_put *put, const calc_mindspeed_shown *s,
                         const calc_mindspeed_config *c)
{
    calc_put_object(put, "optimal_parallel_strategy", CALC_PUT_LINE);
    calc_put_count(put, "pipeline-model-parallel-size", c->pp);
    calc_put_count(put, "tensor-model-parallel-size", c->tp);
    calc_put_count(put, "data-parallel-size", c->dp);
    calc_put_count(put, "micro-batch-size", c->mbs);
    if (c->cp * c->up > 1) {
        bool both = c->cp > 1 && c->up > 1;
        calc_put_text(put, "context-parallel-algo",
                      both        ? "hybrid_cp_algo"
                      : c->up > 1 ? "ulysses_cp_algo"
                                  : "megatron_cp_algo");
        calc_put_count(put, "context-parallel-size", (int64_t)c->cp * c->up);
        if (both) {
            calc_put_count(put, "ulysses-degree-in-cp", c->up);
        }
    }
    if (c->vpp > 1) {
        calc_put_count(put, "num-layers-per-virtual-pipeline-stage",
                       s->study->arguments->job.layers / c->pp / c->vpp);
    }
    if (c->ep > 0) {
        calc_put_count(put, "expert-model-parallel-size", c->ep);
    }
    calc_put_close(put);
}

/* ---- For people ------------------------------------------------------------------------------ */

static void show_job(const calc_mindspeed_shown *s, calc_output *out)
{
    char seqs[CALC_HUMAN_MAX], tokens[CALC_HUMAN_MAX];
    const calc_mindspeed_job *job = &s->study->arguments->job;
    calc_output_printf(out, "job          %d layers of width %d, %d heads%s", job->layers,
                       job->hidden, job->heads, job->experts > 0 ? "" : "; ");
    if (job->experts > 0) {
        calc_output_printf(out, ", %d experts; ", job->experts);
    }
    calc_output_printf(out, "%s sequences of %s tokens, %s\n", calc_human_integer(job->batch, seqs),
                       calc_human_integer(job->seq, tokens), job->fp16 ? "fp16" : "bf16");
    calc_output_printf(out, "devices      %d: %d node%s of %d %s\n", calc_mindspeed_devices(job),
                       job->target_nodes, job->target_nodes == 1 ? "" : "s", job->per_node,
                       s->system);
}

static void show_space(const calc_mindspeed_shown *s, calc_output *out)
{
    const calc_mindspeed_ranking *r = s->ranking;
    double prune = calc_mindspeed_peak_prune(s->study);
    double final = calc_mindspeed_peak_final(s->study);
    calc_output_printf(out, "space        generation %d: %zu configurations, ",
                       (int)s->study->generation, r->count);
    if (prune > final) {
        calc_output_printf(out, "%zu within %g times the memory, ", r->timed, prune);
    }
    calc_output_printf(out, "%zu fit", r->fit);
    if (final < 1) {
        calc_output_printf(out, " in %g of it", final);
    }
    calc_output_text(out, "\n");
    calc_output_printf(out, "memory       %s, of %g GiB\n", memory_words(s), capacity_gib(s));
    calc_output_printf(out, "time         %s\n\n", s->times);
}

static void show_row(const calc_mindspeed_shown *s, const calc_mindspeed_candidate *c,
                     calc_output *out)
{
    char time[CALC_HUMAN_MAX], number[32] = "-";
    const calc_mindspeed_config *f = &c->config;
    calc_output_printf(out, "%4d %4d %4d %4d %4d %4d %4d %4d  %10s", f->pp, f->tp, f->dp, f->cp,
                       f->up, f->mbs, f->vpp, f->ep, calc_human_seconds(c->step_s, time));
    if (s->ranking->spread) {
        char share[CALC_HUMAN_MAX];
        calc_output_printf(out, " %10s", calc_human_seconds(c->sd_s, time));
        calc_output_printf(out, " %8s", calc_human_percent(c->best, share));
    }
    if (isfinite(c->calc_bytes)) {
        snprintf(number, sizeof number, "%.1f", c->calc_bytes / GIB);
    }
    calc_output_printf(out, " %9.1f %9s%s\n", c->peak_bytes / GIB, number,
                       c->source == CALC_MINDSPEED_MEASURED ? "  measured" : "");
}

/* Explains why there is nothing to measure. */
static const char *stop_words(calc_mindspeed_stop stop)
{
    switch (stop) {
    case CALC_MINDSPEED_CONCENTRATED:
        return "concentrated";
    case CALC_MINDSPEED_EXHAUSTED:
        return "exhausted";
    case CALC_MINDSPEED_TRIALS:
        return "trials";
    default:
        return "goes_on";
    }
}

static void show_next(const calc_mindspeed_shown *s, calc_output *out)
{
    char name[CALC_MINDSPEED_NAME], share[CALC_HUMAN_MAX];
    const calc_mindspeed_next *n = s->next;
    calc_output_printf(out, "\nmeasured     %zu; %s of the pool is not\n", n->trials,
                       calc_human_percent(n->unmeasured, share));
    if (n->stop == CALC_MINDSPEED_GOES_ON) {
        calc_output_printf(out, "next         %s\n",
                           calc_mindspeed_config_name(&n->config, s->study->generation, name));
    } else {
        calc_output_printf(out, "next         none: %s\n",
                           n->stop == CALC_MINDSPEED_CONCENTRATED
                               ? "hardly any that may be among the fastest is left"
                           : n->stop == CALC_MINDSPEED_TRIALS ? "as many as --max-trials"
                                                              : "all are measured, or failed");
    }
}

void calc_mindspeed_show(const calc_mindspeed_shown *shown, calc_output *out)
{
    show_job(shown, out);
    show_space(shown, out);
    if (rows_of(shown) == 0) {
        return;
    }
    calc_output_printf(
        out, "  pp   tp   dp   cp   up  mbs  vpp   ep        step%s  peak GiB    calc's\n",
        shown->ranking->spread ? "         sd  fastest" : "");
    for (size_t i = 0; i < rows_of(shown); i++) {
        show_row(shown, &shown->ranking->item[i], out);
    }
    if (shown->next) {
        show_next(shown, out);
    }
    calc_output_text(out, "\n");
    calc_put put = {.out = out, .flat = true};
    calc_put_object(&put, NULL, CALC_PUT_LINE);
    put_strategy(&put, shown, &shown->ranking->item[0].config);
    calc_put_end(&put);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_gib(calc_put *put, const char *key, double bytes)
{
    calc_put_number(put, key, bytes / GIB);
}

static void put_candidate(calc_put *put, const calc_mindspeed_candidate *c)
{
    static const char *const sources[] = {"none", "model", "measured"};
    const calc_mindspeed_config *f = &c->config;
    calc_put_object(put, NULL, CALC_PUT_LINE);
    calc_put_count(put, "pp", f->pp);
    calc_put_count(put, "tp", f->tp);
    calc_put_count(put, "dp", f->dp);
    calc_put_count(put, "ring_attention", f->cp);
    calc_put_count(put, "ulysses", f->up);
    calc_put_count(put, "mbs", f->mbs);
    calc_put_count(put, "vpp", f->vpp);
    calc_put_count(put, "ep", f->ep);
    calc_put_number(put, "step_s", c->step_s);
    calc_put_number(put, "sd_s", c->source == CALC_MINDSPEED_UNTIMED ? NAN : c->sd_s);
    calc_put_number(put, "p_best", c->fits ? c->best : 0);
    put_gib(put, "peak_gib", c->peak_bytes);
    put_gib(put, "calc_peak_gib", c->calc_bytes);
    calc_put_flag(put, "fits", c->fits);
    calc_put_text(put, "time", sources[c->source]);
    calc_put_close(put);
}

static void put_next(calc_put *put, const calc_mindspeed_shown *s)
{
    char name[CALC_MINDSPEED_NAME];
    const calc_mindspeed_next *n = s->next;
    calc_put_object(put, "next", CALC_PUT_LINE);
    calc_put_text(put, "stop", stop_words(n->stop));
    if (n->stop == CALC_MINDSPEED_GOES_ON) {
        calc_put_text(put, "measure",
                      calc_mindspeed_config_name(&n->config, s->study->generation, name));
        calc_put_number(put, "share", n->chance);
    }
    calc_put_number(put, "unmeasured", n->unmeasured);
    calc_put_count(put, "trials", (int64_t)n->trials);
    calc_put_close(put);
}

static void put_notes(calc_put *put, const calc_notes *notes)
{
    calc_put_array(put, "notes", CALC_PUT_LINES);
    for (int i = 0; i < notes->count; i++) {
        calc_put_text(put, NULL, notes->text[i]);
    }
    calc_put_close(put);
}

void calc_mindspeed_show_json(const calc_mindspeed_shown *shown, calc_output *out)
{
    const calc_mindspeed_ranking *r = shown->ranking;
    size_t rows = shown->all ? r->count : rows_of(shown);
    calc_put put = calc_put_to(out);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_put_text(&put, "system", shown->system);
    calc_put_count(&put, "devices", calc_mindspeed_devices(&shown->study->arguments->job));
    calc_put_count(&put, "generation", shown->study->generation);
    calc_put_count(&put, "configurations", (int64_t)r->count);
    calc_put_count(&put, "timed", (int64_t)r->timed);
    calc_put_count(&put, "fit", (int64_t)r->fit);
    calc_put_count(&put, "measured", (int64_t)r->measured);
    calc_put_text(&put, "memory_model", memory_words(shown));
    calc_put_number(&put, "capacity_gib", capacity_gib(shown));
    calc_put_text(&put, "times", shown->times);
    if (r->fit > 0) {
        put_strategy(&put, shown, &r->item[0].config);
    } else {
        calc_put_raw(&put, "optimal_parallel_strategy", "null");
    }
    calc_put_array(&put, shown->all ? "space" : "top", CALC_PUT_LINES);
    for (size_t i = 0; i < rows; i++) {
        put_candidate(&put, &r->item[i]);
    }
    calc_put_close(&put);
    if (shown->next) {
        put_next(&put, shown);
    }
    put_notes(&put, &r->notes);
    calc_put_end(&put);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void csv_number(double value, double unit, calc_output *out)
{
    if (isfinite(value)) {
        calc_output_printf(out, ",%.6g", value / unit);
    } else {
        calc_output_text(out, ",");
    }
}

void calc_mindspeed_show_csv(const calc_mindspeed_shown *shown, calc_output *out)
{
    calc_output_text(out, "pp,tp,dp,ring_attention,ulysses,mbs,vpp,ep,peak_memory,e2e_time,"
                          "calc_peak_memory,fits\n");
    for (size_t i = 0; i < shown->ranking->count; i++) {
        const calc_mindspeed_candidate *c = &shown->ranking->item[i];
        const calc_mindspeed_config *f = &c->config;
        calc_output_printf(out, "%d,%d,%d,%d,%d,%d,%d,%d", f->pp, f->tp, f->dp, f->cp, f->up,
                           f->mbs, f->vpp, f->ep);
        csv_number(c->peak_bytes, GIB, out);
        csv_number(c->step_s, 1e-3, out);
        csv_number(c->calc_bytes, GIB, out);
        calc_output_printf(out, ",%s\n", c->fits ? "yes" : "no");
    }
}

/* ---- Notes ----------------------------------------------------------------------------------- */

static void tell_calc(const calc_mindspeed_shown *s)
{
    size_t rows = rows_of(s), full = 0;
    for (size_t i = 0; i < rows; i++) {
        double bytes = s->ranking->item[i].calc_bytes;
        full += bytes > s->study->system->chip.mem1.capacity_bytes;
    }
    if (full > 0 && !s->study->calc_memory) {
        fprintf(stderr,
                "calc as mindspeed: by calc's model %zu of the %zu shown need more memory than "
                "there is: --memory-model calc leaves such out\n",
                full, rows);
    }
}

static void tell_none(const calc_mindspeed_shown *s)
{
    double least = INFINITY;
    for (size_t i = 0; i < s->ranking->count; i++) {
        least = fmin(least, s->ranking->item[i].peak_bytes);
    }
    if (s->ranking->timed > 0 || !isfinite(least) ||
        least > calc_mindspeed_peak_final(s->study) * s->study->system->chip.mem1.capacity_bytes) {
        fprintf(stderr,
                "calc as mindspeed: no configuration fits: the least that one needs are %.1f GiB "
                "of %g\n",
                least / GIB, capacity_gib(s));
    } else {
        fprintf(stderr, "calc as mindspeed: no configuration has a time\n");
    }
}

void calc_mindspeed_show_notes(const calc_mindspeed_shown *shown)
{
    const calc_notes *notes = &shown->ranking->notes;
    for (int i = 0; i < notes->count; i++) {
        fprintf(stderr, "calc as mindspeed: %s\n", notes->text[i]);
    }
    if (notes->dropped > 0) {
        fprintf(stderr, "calc as mindspeed: and %d more\n", notes->dropped);
    }
    tell_calc(shown);
    if (shown->ranking->fit == 0) {
        tell_none(shown);
    }
}
