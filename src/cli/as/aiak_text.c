#include "cli/as/aiak_text.h"

#include <math.h>
#include <string.h>

#include "spec/field.h"

int64_t calc_aiak_throughput(int64_t batch, int64_t sequence, double total_s)
{
    return (int64_t)ceil((double)batch * (double)sequence / total_s);
}

typedef struct writer {
    calc_output *out;
    const calc_aiak_text *text;
    const calc_aiak_strategy *strategy;
    bool json;
    bool begun; /* a member or an element needs a comma before it */
} writer;

static void comma(writer *w)
{
    calc_output_text(w->out, w->begun ? ", " : "");
    w->begun = true;
}

static void put_text(const writer *w, const char *text)
{
    const char *quote = w->json ? "\"" : "'";
    calc_output_printf(w->out, "%s%s%s", quote, text, quote);
}

static void put_key(writer *w, const char *key)
{
    comma(w);
    put_text(w, key);
    calc_output_text(w->out, ": ");
}

/* Adds ".0" if needed: Python prints a float with a point or an exponent. */
static void put_float(const writer *w, double value)
{
    char number[32];
    calc_number_text(value, 1, number);
    calc_output_printf(w->out, "%s%s", number, strpbrk(number, ".e") ? "" : ".0");
}

static void open_with(writer *w, const char *bracket)
{
    calc_output_text(w->out, bracket);
    w->begun = false;
}

static void close_with(writer *w, const char *bracket)
{
    calc_output_text(w->out, bracket);
    w->begun = true;
}

static void put_count(writer *w, const char *key, int64_t value)
{
    put_key(w, key);
    calc_output_printf(w->out, "%lld", (long long)value);
}

/* Writes an empty text for a switch that is on, and nothing for one that is off. */
static void put_switch(writer *w, const char *key, bool on)
{
    if (on) {
        put_key(w, key);
        put_text(w, "");
    }
}

static void put_text_or_none(writer *w, const char *text)
{
    comma(w);
    if (text) {
        put_text(w, text);
    } else {
        calc_output_text(w->out, w->json ? "null" : "None");
    }
}

static void put_stages(writer *w)
{
    const calc_aiak_strategy *s = w->strategy;
    const calc_aiak_chain *chain = &s->chain;
    put_key(w, "pipeline-stage-chips");
    open_with(w, "[");
    for (int i = 0; i < chain->kinds; i++) {
        for (int k = 0; k < (chain->kinds > 1 ? chain->stages[i] : 1); k++) {
            put_text_or_none(w, w->text->chip[chain->chip[i]]);
        }
    }
    close_with(w, "]");
    if (chain->kinds == 1) {
        return;
    }
    put_key(w, "pipeline-stage-layers");
    open_with(w, "[");
    for (int i = 0; i < s->sizes.stages; i++) {
        comma(w);
        calc_output_printf(w->out, "%d", s->layers[i]);
    }
    close_with(w, "]");
}

/* Megatron-LM's terms: "block" recomputes the first layers of a stage, "uniform" recomputes all. */
static void put_recompute(writer *w)
{
    const calc_aiak_strategy *s = w->strategy;
    put_key(w, "recompute-granularity");
    open_with(w, "[");
    for (int i = 0; i < s->chain.kinds; i++) {
        put_text_or_none(w, s->chain.selective[i] ? "selective" : s->again[i] > 0 ? "full" : NULL);
    }
    close_with(w, "]");
    put_key(w, "recompute-method");
    open_with(w, "[");
    for (int i = 0; i < s->chain.kinds; i++) {
        bool full = !s->chain.selective[i] && s->again[i] > 0;
        const char *how = s->all_again[i] ? "uniform" : "block";
        put_text_or_none(w, full ? how : NULL);
    }
    close_with(w, "]");
    put_key(w, "recompute-num-layers");
    open_with(w, "[");
    for (int i = 0; i < s->chain.kinds; i++) {
        if (s->chain.selective[i] || s->again[i] == 0) {
            put_text_or_none(w, NULL);
        } else {
            comma(w);
            calc_output_printf(w->out, "%d", s->all_again[i] ? 1 : s->again[i]);
        }
    }
    close_with(w, "]");
}

static void put_strategy(writer *w)
{
    const calc_aiak_sizes *sizes = &w->strategy->sizes;
    put_key(w, "strategy");
    open_with(w, "{");
    put_count(w, "pipeline-model-parallel-size", sizes->stages);
    put_count(w, "tensor-model-parallel-size", sizes->tensor_par);
    put_count(w, "micro-batch-size", sizes->microbatch);
    put_switch(w, "use-flash-attn", true);
    put_switch(w, "sequence-parallel", sizes->tensor_par > 1);
    put_switch(w, "use-distributed-optimizer", sizes->data_par > 1);
    put_switch(w, "fused-rmsnorm", w->text->rms);
    put_switch(w, "apply-rotary-positional-embedding-kernel", w->text->rope);
    put_stages(w);
    put_recompute(w);
    close_with(w, "}");
}

void calc_aiak_text_put(calc_output *out, const calc_aiak_text *text, const calc_aiak_strategy *s,
                        bool json)
{
    writer w = {out, text, s, json, false};
    const calc_aiak_task *task = text->task;
    open_with(&w, "{");
    put_count(&w, "sim_throughput",
              calc_aiak_throughput(task->batch, task->sequence, s->step.total_s));
    put_key(&w, "sim_total_time_s");
    put_float(&w, s->step.total_s);
    put_key(&w, "max-use-mem-size");
    open_with(&w, "[");
    for (int i = 0; i < s->chain.kinds; i++) {
        comma(&w);
        put_float(&w, s->most_bytes[i] / 0x1p30);
    }
    close_with(&w, "]");
    put_strategy(&w);
    close_with(&w, "}");
}
