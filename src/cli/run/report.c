#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/draw/breakdown.h"
#include "cli/draw/human.h"
#include "cli/run/run_outcome.h"
#include "io/output.h"
#include "model/run.h"
#include "spec/field.h"

/* The part of the summary about serving: latencies, throughput and the cache. */

typedef char *to_text(double value, char *buffer);

/* Two numbers side by side; NaN is not shown. */
typedef struct row {
    const char *left;
    double left_value;
    to_text *left_text;
    const char *right;
    double right_value;
    to_text *right_text;
} row;

/* Title of the section: "Serving: decode, prompts of 4,500 tokens, 978 generated". @return title */
static char *report_inference_title(const calc_exec *exec, const calc_app *app, char *title,
                                    size_t size)
{
    const calc_inference *i = &exec->inference;
    calc_field_ref phase;
    int64_t seq = exec->seq_size > 0 ? exec->seq_size : app->seq_size;
    bool known = calc_field_find(CALC_KIND_EXEC, "inference.phase", &phase) == CALC_OK;
    snprintf(title, size, "Serving: %s, prompts of %s tokens, %s generated",
             known ? phase.field->choices[i->phase] : "",
             calc_human_integer((double)(i->prompt_size > 0 ? i->prompt_size : seq)),
             calc_human_integer((double)i->generate_size));
    return title;
}

/* Whether two columns do not fit side by side. */
static bool calc_report_is_narrow(void)
{
    enum { PAIR = 78 };
    return calc_paint_columns() < PAIR;
}

/* Write one of two columns of a row, without the end of the line; on a narrow terminal the right
 * column goes below the left one. */
static void calc_report_half(calc_output *out, bool right, const char *label, const char *value)
{
    if (calc_report_is_narrow()) {
        calc_output_printf(out, "%s  %-26s%12s", right ? "\n" : "", label, value);
    } else if (right) {
        calc_output_printf(out, "      %-26s%12s", label, value);
    } else {
        calc_output_printf(out, "  %-20s%14s", label, value);
    }
}

/* Write rows of two numbers, or of one if the right label is NULL; those without a label are not
 * there.
 * @param known  skip numbers that are missing: a left one leaves its column blank */
static void write_rows(calc_output *out, const row *rows, size_t count, bool known)
{
    for (const row *r = rows; r < rows + count; r++) {
        char text[CALC_HUMAN_MAX];
        bool left = r->left && !(known && isnan(r->left_value));
        bool right = r->right && !(known && isnan(r->right_value));
        bool blank = !left && !calc_report_is_narrow();
        if (!r->left || (!left && !right)) {
            continue;
        }
        if (left || blank) {
            calc_report_half(out, false, left ? r->left : "",
                             left ? r->left_text(r->left_value, text) : "");
        }
        if (right) {
            calc_report_half(out, left || blank, r->right, r->right_text(r->right_value, text));
        }
        calc_output_text(out, "\n");
    }
}

/* Write the rows that have at least one known number. */
static void report_inference_write(calc_output *out, const calc_stats *s)
{
    const row rows[] = {
        {"first token", s->ttft, calc_human_seconds_in, "output tokens/s", s->output_tokens_per_s,
         calc_human_number_in},
        {"per output token", s->tpot, calc_human_seconds_in, "output tokens/s/processor",
         s->output_tokens_per_s_per_proc, calc_human_number_in},
        {"whole request", s->request_time, calc_human_seconds_in, "output tokens/s/request",
         s->tokens_per_s_per_user, calc_human_number_in},
        {"prefill", s->prefill_time, calc_human_seconds_in, "requests/s", s->requests_per_s,
         calc_human_number_in},
        {"waiting before", s->queue_time, calc_human_seconds_in, "first token, 99 % within",
         s->ttft_p99, calc_human_seconds_in},
        {"decoding step", s->decode_step_time, calc_human_seconds_in, "requests/s, prefill pool",
         s->prefill_requests_per_s, calc_human_number_in},
        {"cache transfer", s->kv_transfer_time, calc_human_seconds_in, "requests/s, decoding pool",
         s->decode_requests_per_s, calc_human_number_in},
        {"tokens per step", s->tokens_per_step, calc_human_number_in, "time that prefills",
         s->prefill_share, calc_human_percent_in},
        {"decoded together", s->decode_sequences, calc_human_number_in, "sequences that fit",
         s->max_batch, calc_human_number_in},
        {"cache per token", s->kv_bytes_per_token, calc_human_bytes_in, "tokens that fit, replica",
         s->kv_capacity_tokens, calc_human_integer_in},
        {"state per sequence", s->state_bytes_per_sequence > 0 ? s->state_bytes_per_sequence : NAN,
         calc_human_bytes_in, NULL, NAN, NULL},
        {"J/token", s->energy_per_token, calc_human_number_in, "USD/1e6 output tokens",
         s->usd_per_million_output_tokens, calc_human_number_in},
    };
    write_rows(out, rows, sizeof rows / sizeof *rows, true);
}

void calc_report_title(calc_output *out, const calc_paint *paint, const char *title)
{
    calc_output_text(out, "\n");
    calc_paint_text(out, paint, CALC_PAINT_BOLD, title);
    calc_output_text(out, "\n");
}

static void write_head(calc_output *out, const calc_run_outcome *r)
{
    const calc_inputs *in = &r->inputs;
    char title[600];
    int64_t seq = in->exec.seq_size > 0 ? in->exec.seq_size : in->app.seq_size;
    calc_parameters parameters;
    calc_count_parameters(&in->app, &parameters);
    snprintf(title, sizeof title, "%.200s on %s x %.200s", in->input[CALC_KIND_APP].name,
             calc_human_integer((double)in->exec.num_procs), in->input[CALC_KIND_SYSTEM].name);
    if (in->exec.stages.count > 0) {
        char machine[CALC_STAGE_WORDS_SIZE];
        snprintf(title, sizeof title, "%.200s on %.300s", in->input[CALC_KIND_APP].name,
                 calc_stage_words_machine(&in->exec, in->input[CALC_KIND_SYSTEM].name, machine));
    }
    calc_paint_text(out, &r->paint, CALC_PAINT_BOLD, title);
    calc_output_printf(out, ", %s in %s\n", in->exec.training ? "training" : "inference",
                       calc_datatype_names[in->exec.strategy.datatype]);
    calc_output_printf(out, "%s parameters in %s of width %s, %s tokens per sequence\n",
                       calc_human_count(parameters.total),
                       calc_human_counted((double)in->app.num_blocks, "block"),
                       calc_human_integer((double)in->app.hidden), calc_human_integer((double)seq));
    if (in->app.num_experts > 0) {
        calc_output_printf(out, "%s experts, %jd per token%s: %s parameters active\n",
                           calc_human_integer((double)in->app.num_experts),
                           in->app.experts_per_token,
                           in->app.shared_feedforward > 0 ? " beside the shared" : "",
                           calc_human_count(parameters.active));
    }
    if (in->app.vocab_size == 0) {
        calc_paint_text(out, &r->paint, CALC_PAINT_RED, "no vocab_size");
        calc_output_text(out, ": embedding, head and loss take no time and no memory here\n");
    }
    calc_inputs_write_remarks(out, in);
}

static void write_reasons(calc_output *out, const calc_run_outcome *r)
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

static char *no_price(double value, char *buffer)
{
    (void)value;
    return strcpy(buffer, "no price");
}

/* Time and cost of a long run, and utilisation by other conventions. */
static void write_costs(calc_output *out, const calc_run_outcome *r)
{
    const calc_stats *s = &r->stats;
    const calc_chip *chip = &r->inputs.system.chip;
    double trillions = r->tokens / 1e12;
    bool priced = chip->usd_per_hour > 0;
    char days[64], usd[64];
    snprintf(days, sizeof days, "days/%.30s", r->tokens > 0 ? r->tokens_text : "");
    snprintf(usd, sizeof usd, "USD/%.30s", r->tokens > 0 ? r->tokens_text : "");
    const row rows[] = {
        {"days/1e12 tokens", s->days_per_trillion_tokens, calc_human_number_in, "MFU, full square",
         s->model_flops_utilization_square, calc_human_percent_in},
        {"proc.-h/1e12 tokens", s->proc_hours_per_trillion_tokens, calc_human_number_in,
         "hardware FLOPs utilis.", s->hardware_flops_utilization, calc_human_percent_in},
        {priced ? "USD/1e12 tokens" : NULL, s->usd_per_trillion_tokens, calc_human_number_in, NULL,
         0, NULL},
        {r->tokens > 0 ? days : NULL, s->days_per_trillion_tokens * trillions, calc_human_number_in,
         usd, s->usd_per_trillion_tokens * trillions, priced ? calc_human_number_in : no_price},
        {chip->watts > 0 ? "J/token" : NULL, s->energy_per_token, calc_human_number_in, NULL, 0,
         NULL},
    };
    write_rows(out, rows, sizeof rows / sizeof *rows, false);
}

static void write_rates(calc_output *out, const calc_run_outcome *r)
{
    const calc_stats *s = &r->stats;
    double processors = (double)r->inputs.exec.num_procs;
    double peak_flop_per_s = calc_run_chips_of(&r->inputs.system, &r->inputs.exec).flop_per_s;
    const row rows[] = {
        {"time per step", s->total_time, calc_human_seconds_in, "model FLOPs utilisation",
         s->model_flops_utilization, calc_human_percent_in},
        {"samples/s", s->sample_rate, calc_human_number_in, "compute efficiency",
         s->compute_efficiency, calc_human_percent_in},
        {"tokens/s", s->tokens_per_s, calc_human_number_in, "system efficiency",
         s->system_efficiency, calc_human_percent_in},
        {"tokens/s/processor", s->tokens_per_s_per_proc, calc_human_number_in, "total efficiency",
         s->total_efficiency, calc_human_percent_in},
        {"TFLOP/s/processor", s->model_flops / s->total_time / processors / 1e12,
         calc_human_number_in, "peak TFLOP/s/processor", peak_flop_per_s / 1e12,
         calc_human_number_in},
    };
    calc_report_title(out, &r->paint, "Speed");
    write_rows(out, rows, sizeof rows / sizeof *rows, false);
    if (r->compat == CALC_COMPAT_NONE &&
        r->inputs.exec.inference.phase == CALC_INFERENCE_PHASE_NONE) {
        write_costs(out, r);
    }
}

/* Whether stage times differ, so that one stage is the slowest. */
static bool stages_differ(const calc_run_outcome *r)
{
    for (size_t i = 1; i < r->stage_count; i++) {
        const calc_stage_stats *a = &r->stage[0];
        const calc_stage_stats *b = &r->stage[i];
        if (a->fw_time != b->fw_time || a->bw_time != b->bw_time) {
            return true;
        }
    }
    return false;
}

/* The deviation of the closed form from the simulated pipeline; the times shown are the simulated
 * ones. */
static void write_exact(calc_output *out, const calc_stats *s)
{
    double percent = 100 * s->pipeline_closed_form_error;
    if (isnan(percent)) {
        return;
    }
    calc_output_printf(out,
                       fabs(percent) < 0.005
                           ? "  the pipeline is simulated; its closed form agrees\n"
                           : "  the pipeline is simulated; its closed form is off by %+.2f %%\n",
                       percent);
}

static void write_memory(calc_output *out, const calc_run_outcome *r, int tier,
                         double capacity_bytes)
{
    const calc_chip *chip = &r->inputs.system.chip;
    calc_memory_kind kind = tier == 1 ? chip->mem1.kind : chip->mem2.kind;
    bool named = kind != CALC_MEMORY_KIND_UNNAMED && r->inputs.exec.stages.chips == 0;
    bool staged = r->compat == CALC_COMPAT_NONE && r->inputs.exec.pipeline_par > 1;
    calc_report_title(
        out, &r->paint,
        CALC_TEXT(160, "Memory of one processor%s, %s: %.6g GiB",
                  staged ? CALC_TEXT(64, " on stage %.0f, the fullest", r->stats.peak_stage) : "",
                  named ? calc_memory_kind_names[kind] : CALC_TEXT(32, "tier %d", tier),
                  capacity_bytes / 0x1p30));
    calc_breakdown_write_memory(out, &r->paint, &r->inputs.exec, &r->stats, tier,
                                r->compat == CALC_COMPAT_NONE);
}

static void write_communication(calc_output *out, const calc_run_outcome *r)
{
    const calc_stats *s = &r->stats;
    const struct {
        const char *label;
        double link_s, exposed_s;
    } rows[] = {
        {"tensor parallel", s->tp_comm_link_time, s->tp_comm_exposed_time},
        {"context parallel", s->cp_comm_link_time, s->cp_comm_exposed_time},
        {"expert parallel", s->ep_comm_link_time, s->ep_comm_exposed_time},
        {r->compat == CALC_COMPAT_NONE ? "repeated in recomputation" : "tensor parallel, repeated",
         s->recomm_link_time, s->recomm_exposed_time},
        {"pipeline parallel", s->pp_comm_link_time, s->pp_comm_exposed_time},
        {"data parallel", s->dp_comm_link_time, s->dp_comm_exposed_time},
    };
    double all_s = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        all_s += rows[i].link_s;
    }
    if (!(all_s > 0)) {
        return;
    }
    calc_report_title(out, &r->paint, "Communication of one step");
    bool narrow = calc_report_is_narrow();
    calc_output_printf(out, "  %-*s%16s%16s%*s\n", CALC_BREAKDOWN_LABEL - 2, "", "on the link",
                       "exposed", narrow ? 0 : 20, narrow ? "" : "exposed/link");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].link_s > 0) {
            calc_output_printf(out, "  %-*s%16s%16s%*s\n", CALC_BREAKDOWN_LABEL - 2, rows[i].label,
                               calc_human_seconds(rows[i].link_s),
                               calc_human_seconds(rows[i].exposed_s), narrow ? 0 : 20,
                               narrow ? ""
                                      : calc_human_percent(rows[i].exposed_s / rows[i].link_s));
        }
    }
}

static void write_offload(calc_output *out, const calc_run_outcome *r)
{
    const calc_system *system = &r->inputs.system;
    char have[32];
    double procs = fmin((double)system->networks[0].size, (double)r->inputs.exec.num_procs);
    if (procs > 1) {
        calc_output_printf(
            out, "  %.0f processors of a node take %s of its %s GiB\n", procs,
            calc_human_integer(procs * r->stats.proc_mem_tier2_cap_req / 0x1p30),
            calc_human_integer_in(procs * r->stats.mem_tier2_capacity / 0x1p30, have));
    }
    calc_output_printf(out,
                       "  hiding the offload needs %s GB/s of tier 2, which peaks at %s GB/s\n",
                       calc_human_number(r->stats.offload_mem_bw_req / 1e9),
                       calc_number_text(r->inputs.system.chip.mem2.bytes_per_s, 1e9, have));
}

/* Consecutive equal stages in one line, with the memory of the first: it holds the most
 * micro-batches. */
static void write_stages(calc_output *out, const calc_run_outcome *r)
{
    calc_report_title(out, &r->paint, "Stages, for one micro-batch");
    calc_output_printf(out, "  %-12s%8s%8s%12s%12s%10s%14s\n", "", "blocks", "MoE", "forward",
                       "backward", "in flight", "memory");
    for (size_t i = 0, end; i < r->stage_count; i = end) {
        const calc_stage_stats *s = &r->stage[i];
        end = i + 1;
        while (end < r->stage_count && r->stage[end].fw_time == s->fw_time &&
               r->stage[end].bw_time == s->bw_time && r->stage[end].blocks == s->blocks) {
            end++;
        }
        calc_output_printf(out, "  %-12s%8.4g%8s%12s%12s%10.4g%14s\n",
                           CALC_TEXT(64, end - i > 1 ? "%zu to %zu" : "%zu", i, end - 1), s->blocks,
                           s->moe_blocks > 0 ? CALC_TEXT(32, "%.4g", s->moe_blocks) : "-",
                           calc_human_seconds(s->fw_time), calc_human_seconds(s->bw_time),
                           s->in_flight, calc_human_bytes(s->mem_tier1));
    }
}

static void write_layers(calc_output *out, const calc_run_outcome *r)
{
    calc_report_title(out, &r->paint, "Layers of one block, for one micro-batch");
    calc_output_printf(out, "  %-30s%12s%12s%12s%12s\n", "", "forward", "backward", "weights",
                       "activations");
    for (size_t i = 0; i < r->layer_count; i++) {
        const calc_layer_stats *layer = &r->layer[i];
        double bw_s = layer->agrad_processing_time + layer->wgrad_processing_time;
        calc_output_printf(out, "  %-30s%12s%12s%12s%12s\n", layer->name,
                           calc_human_seconds(layer->fw_processing_time), calc_human_seconds(bw_s),
                           calc_human_bytes(layer->weight), calc_human_bytes(layer->activation));
    }
}

/* "-" for zero. */
static const char *unless_zero(double value, char *(*text)(double, char *), char *buffer)
{
    return value == 0 ? "-" : text(value, buffer);
}

/* Title of the list of operators, see calc_layers(). */
static const char *operators_title(const calc_exec *e)
{
    switch (e->inference.phase) {
    case CALC_INFERENCE_PHASE_NONE:
        return "Operators of the blocks and the ends, for one micro-batch";
    case CALC_INFERENCE_PHASE_PREFILL:
        return e->inference.chunk_size > 0
                   ? "Operators of the blocks and the ends, for a chunk of the prompts"
                   : "Operators of the blocks and the ends, for a pass over prompts";
    case CALC_INFERENCE_PHASE_SERVE:
        return "Operators of the blocks and the ends, for a decoding step without prompts";
    default:
        return "Operators of the blocks and the ends, for a decoding step";
    }
}

/* Kernels have a time of their own; collectives have a time on the link, hidden or not. */
static void write_operators(calc_output *out, const calc_run_outcome *r)
{
    calc_report_title(out, &r->paint, operators_title(&r->inputs.exec));
    calc_output_printf(out, "  %-26s%10s%10s%10s%10s%12s\n", "", "forward", "backward", "on link",
                       "weights", "activations");
    for (size_t i = 0; i < r->layer_count; i++) {
        const calc_layer_stats *l = &r->layer[i];
        double bw_s = l->agrad_processing_time + l->wgrad_processing_time;
        double link_s =
            l->baseblock_fw_tp_comm_time + l->baseblock_bw_tp_comm_time + l->baseblock_recomm_time;
        char text[5][CALC_HUMAN_MAX];
        calc_output_printf(out, "  %-26s%10s%10s%10s%10s%12s\n", l->name,
                           unless_zero(l->fw_processing_time, calc_human_seconds_in, text[0]),
                           unless_zero(bw_s, calc_human_seconds_in, text[1]),
                           unless_zero(link_s, calc_human_seconds_in, text[2]),
                           unless_zero(l->weight, calc_human_bytes_in, text[3]),
                           unless_zero(l->activation, calc_human_bytes_in, text[4]));
    }
}

void calc_report_write(calc_output *out, const calc_run_outcome *r)
{
    const calc_stats *s = &r->stats;
    write_head(out, r);
    write_reasons(out, r);
    calc_report_layout_write(out, r);
    char title[128];
    if (r->inputs.exec.inference.phase != CALC_INFERENCE_PHASE_NONE) {
        calc_report_title(
            out, &r->paint,
            report_inference_title(&r->inputs.exec, &r->inputs.app, title, sizeof title));
        report_inference_write(out, &r->stats);
    }
    write_rates(out, r);
    if (r->has_band) {
        calc_run_band_write(out, r);
    }
    bool differ = r->compat == CALC_COMPAT_NONE && stages_differ(r);
    calc_report_title(
        out, &r->paint,
        differ ? CALC_TEXT(128, "Time of one step on stage %.0f, the slowest", s->slowest_stage)
               : "Time of one step");
    calc_breakdown_write_time(out, &r->paint, s);
    write_exact(out, s);
    write_memory(out, r, 1, s->mem_tier1_capacity);
    if (s->proc_mem_tier2_cap_req > 0) {
        write_memory(out, r, 2, s->mem_tier2_capacity);
        write_offload(out, r);
    }
    write_communication(out, r);
    if (differ) {
        write_stages(out, r);
    }
    if (r->layer_count > 0 && r->compat == CALC_COMPAT_NONE) {
        write_operators(out, r);
    } else if (r->layer_count > 0) {
        write_layers(out, r);
    }
}
