#include "cli/report.h"

#include <stdio.h>

#include "cli/breakdown.h"
#include "cli/human.h"
#include "cli/report_inference.h"
#include "spec/field.h"

static void write_title(calc_output *out, const calc_report *r, const char *title)
{
    calc_output_text(out, "\n");
    calc_paint_text(out, &r->paint, CALC_PAINT_BOLD, title);
    calc_output_text(out, "\n");
}

static void write_head(calc_output *out, const calc_report *r)
{
    const calc_inputs *in = r->inputs;
    char number[CALC_HUMAN_MAX], title[600], width[CALC_HUMAN_MAX], tokens[CALC_HUMAN_MAX];
    char blocks[CALC_HUMAN_MAX];
    calc_parameters parameters;
    calc_count_parameters(&in->app, &parameters);
    snprintf(title, sizeof title, "%.200s on %s x %.200s", in->input[CALC_KIND_APP].name,
             calc_human_integer((double)in->exec.num_procs, number),
             in->input[CALC_KIND_SYSTEM].name);
    calc_paint_text(out, &r->paint, CALC_PAINT_BOLD, title);
    calc_output_printf(out, ", %s in %s\n", in->exec.training ? "training" : "inference",
                       calc_datatype_names[in->exec.datatype]);
    calc_output_printf(out, "%s parameters in %s of width %s, %s tokens per sequence\n",
                       calc_human_count(parameters.total, number),
                       calc_human_counted((double)in->app.num_blocks, "block", blocks),
                       calc_human_integer((double)in->app.hidden, width),
                       calc_human_integer((double)in->app.seq_size, tokens));
}

static void write_reasons(calc_output *out, const calc_report *r)
{
    for (size_t i = 0; i < r->reason_count; i++) {
        calc_output_text(out, i == 0 ? "\n" : "");
        calc_paint_text(out, &r->paint, CALC_PAINT_RED, "infeasible");
        calc_output_printf(out, ": %s: %s\n", calc_verdict_text(r->reason[i].verdict),
                           r->reason[i].text);
        if (r->reason[i].hint[0]) {
            calc_output_printf(out, "  hint: %s\n", r->reason[i].hint);
        }
    }
}

/* Text of an enumerated field of the execution. */
static const char *choice(const calc_exec *exec, const char *key)
{
    const calc_field *field = calc_table_find(calc_table_of(CALC_KIND_EXEC), key);
    return field->choices[*(const int *)((const char *)exec + field->offset)];
}

/* One dimension of parallelism: how many, over which network, how. */
static void write_dimension(calc_output *out, const calc_report *r, const char *label,
                            int64_t ranks, int64_t network, const char *how)
{
    const calc_network *net = &r->inputs->system.networks[network];
    char text[CALC_HUMAN_MAX] = "-";
    char number[CALC_HUMAN_MAX], size[CALC_HUMAN_MAX];
    calc_output_printf(out, "  %-9s%9s", label, calc_human_integer((double)ranks, number));
    if (ranks > 1) {
        snprintf(text, sizeof text, "network %lld: %.32s procs, %.32s GB/s", (long long)network,
                 calc_human_integer((double)net->size, size),
                 calc_number_text(net->bytes_per_s, 1e9, number));
    }
    calc_output_printf(out, "  %-34s%s\n", text, how);
}

/* What the layout does to need less memory. */
static void write_saving(calc_output *out, const calc_report *r)
{
    const calc_exec *e = &r->inputs->exec;
    calc_output_printf(out, "  %-9s%9s  recompute %s%s", "memory", "",
                       choice(e, "activation_recompute"),
                       e->optimizer_sharding ? ", optimizer sharded" : "");
    const struct {
        bool offloaded;
        const char *what;
    } parts[] = {{e->weight_offload, "weights"},
                 {e->activations_offload, "activations"},
                 {e->optimizer_offload, "optimizer"}};
    const char *glue = "\n  offload             ";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].offloaded) {
            calc_output_printf(out, "%s%s", glue, parts[i].what);
            glue = ", ";
        }
    }
    calc_output_text(out, "\n");
}

static void write_layout(calc_output *out, const calc_report *r)
{
    const calc_exec *e = &r->inputs->exec;
    const calc_stats *s = r->stats;
    char how[CALC_HUMAN_MAX], number[CALC_HUMAN_MAX], chunks[CALC_HUMAN_MAX], title[300];
    snprintf(title, sizeof title, "Layout: %.250s", r->inputs->input[CALC_KIND_EXEC].name);
    write_title(out, r, title);
    snprintf(how, sizeof how, "%s, overlap %s", choice(e, "tensor_par_comm_type"),
             choice(e, "tensor_par_overlap"));
    write_dimension(out, r, "tensor", e->tensor_par, e->tensor_par_net, how);
    snprintf(how, sizeof how, "%.60s in %.60s",
             calc_human_counted(s->blocks_per_proc, "block", number),
             calc_human_counted((double)e->pipeline_interleaving, "chunk", chunks));
    write_dimension(out, r, "pipeline", e->pipeline_par, e->pipeline_par_net, how);
    write_dimension(out, r, "data", e->data_par, e->data_par_net,
                    e->data_par_overlap ? "overlapped" : "overlap none");
    calc_output_printf(
        out, "  %-9s%9s", "batch",
        calc_human_integer((double)(e->inference.batch > 0 ? e->inference.batch : e->batch_size),
                           number));
    if (e->inference.phase != CALC_INFERENCE_PHASE_NONE) {
        int64_t batch = e->inference.batch > 0 ? e->inference.batch : e->batch_size;
        calc_output_printf(
            out, "  %s per replica\n",
            calc_human_counted((double)batch / (double)e->data_par, "request", number));
    } else {
        calc_output_printf(out, "  %s micro-batch%s of %lld per replica\n",
                           calc_human_integer(s->num_microbatches, number),
                           s->num_microbatches == 1 ? "" : "es", (long long)e->microbatch_size);
    }
    write_saving(out, r);
}

static void write_serving(calc_output *out, const calc_report *r)
{
    char title[128];
    if (r->inputs->exec.inference.phase != CALC_INFERENCE_PHASE_NONE) {
        write_title(
            out, r,
            calc_report_inference_title(&r->inputs->exec, &r->inputs->app, title, sizeof title));
        calc_report_inference_write(out, r->stats);
    }
}

static void write_rates(calc_output *out, const calc_report *r)
{
    const calc_stats *s = r->stats;
    double processors = (double)r->inputs->exec.num_procs;
    double peak_flop_per_s = r->inputs->system.matrix[r->inputs->exec.datatype].flop_per_s;
    const struct {
        const char *left;
        double left_value;
        char *(*left_text)(double, char *);
        const char *right;
        double right_value;
        char *(*right_text)(double, char *);
    } rows[] = {
        {"time per step", s->total_time, calc_human_seconds, "model FLOPs utilisation",
         s->model_flops_utilization, calc_human_percent},
        {"samples/s", s->sample_rate, calc_human_number, "compute efficiency",
         s->compute_efficiency, calc_human_percent},
        {"tokens/s", s->tokens_per_s, calc_human_number, "system efficiency", s->system_efficiency,
         calc_human_percent},
        {"tokens/s/processor", s->tokens_per_s_per_proc, calc_human_number, "total efficiency",
         s->total_efficiency, calc_human_percent},
        {"TFLOP/s/processor", s->model_flops / s->total_time / processors / 1e12, calc_human_number,
         "peak TFLOP/s/processor", peak_flop_per_s / 1e12, calc_human_number},
    };
    write_title(out, r, "Speed");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[CALC_HUMAN_MAX];
        calc_output_printf(out, "  %-20s%14s", rows[i].left,
                           rows[i].left_text(rows[i].left_value, text));
        calc_output_printf(out, "      %-26s%12s\n", rows[i].right,
                           rows[i].right_text(rows[i].right_value, text));
    }
}

static void write_times(calc_output *out, const calc_report *r)
{
    write_title(out, r, "Time of one step");
    calc_breakdown_write_time(out, &r->paint, r->stats);
}

static void write_memory(calc_output *out, const calc_report *r, int tier, double capacity_bytes)
{
    char title[128], number[32];
    snprintf(title, sizeof title, "Memory of one processor, tier %d: %s GiB", tier,
             calc_number_text(capacity_bytes, 0x1p30, number));
    write_title(out, r, title);
    calc_breakdown_write_memory(out, &r->paint, &r->inputs->exec, r->stats, tier);
}

static void write_communication(calc_output *out, const calc_report *r)
{
    const calc_stats *s = r->stats;
    const struct {
        const char *label;
        double link_s, exposed_s;
    } rows[] = {
        {"tensor parallel", s->tp_comm_link_time, s->tp_comm_exposed_time},
        {"tensor parallel, repeated", s->recomm_link_time, s->recomm_exposed_time},
        {"pipeline parallel", s->pp_comm_link_time, s->pp_comm_exposed_time},
        {"data parallel", s->dp_comm_link_time, s->dp_comm_exposed_time},
    };
    if (!(rows[0].link_s + rows[1].link_s + rows[2].link_s + rows[3].link_s > 0)) {
        return;
    }
    write_title(out, r, "Communication of one step");
    calc_output_printf(out, "  %-*s%16s%16s%20s\n", CALC_BREAKDOWN_LABEL - 2, "", "on the link",
                       "exposed", "exposed/link");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char link[CALC_HUMAN_MAX], exposed[CALC_HUMAN_MAX], share[CALC_HUMAN_MAX];
        if (rows[i].link_s > 0) {
            calc_output_printf(out, "  %-*s%16s%16s%20s\n", CALC_BREAKDOWN_LABEL - 2, rows[i].label,
                               calc_human_seconds(rows[i].link_s, link),
                               calc_human_seconds(rows[i].exposed_s, exposed),
                               calc_human_percent(rows[i].exposed_s / rows[i].link_s, share));
        }
    }
}

static void write_offload(calc_output *out, const calc_report *r)
{
    char need[CALC_HUMAN_MAX], have[32];
    calc_output_printf(out,
                       "  hiding the offload needs %s GB/s of tier 2, which peaks at %s GB/s\n",
                       calc_human_number(r->stats->offload_mem_bw_req / 1e9, need),
                       calc_number_text(r->inputs->system.mem2.bytes_per_s, 1e9, have));
}

static void write_layers(calc_output *out, const calc_report *r)
{
    write_title(out, r, "Layers of one block, for one micro-batch");
    calc_output_printf(out, "  %-30s%12s%12s%12s%12s\n", "", "forward", "backward", "weights",
                       "activations");
    for (size_t i = 0; i < r->layer_count; i++) {
        const calc_layer_stats *layer = &r->layer[i];
        double bw_s = layer->agrad_processing_time + layer->wgrad_processing_time;
        char text[4][CALC_HUMAN_MAX];
        calc_output_printf(out, "  %-30s%12s%12s%12s%12s\n", layer->name,
                           calc_human_seconds(layer->fw_processing_time, text[0]),
                           calc_human_seconds(bw_s, text[1]),
                           calc_human_bytes(layer->weight, text[2]),
                           calc_human_bytes(layer->activation, text[3]));
    }
}

void calc_report_write(calc_output *out, const calc_report *r)
{
    const calc_stats *s = r->stats;
    write_head(out, r);
    write_reasons(out, r);
    write_layout(out, r);
    write_serving(out, r);
    write_rates(out, r);
    write_times(out, r);
    write_memory(out, r, 1, s->mem_tier1_capacity);
    if (s->proc_mem_tier2_cap_req > 0) {
        write_memory(out, r, 2, s->mem_tier2_capacity);
        write_offload(out, r);
    }
    write_communication(out, r);
    if (r->layer_count > 0) {
        write_layers(out, r);
    }
}
