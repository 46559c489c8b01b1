#include "cli/run/report_inference.h"

#include <math.h>
#include <stdio.h>

#include "cli/draw/human.h"
#include "cli/run/report.h"
#include "spec/field.h"

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

char *calc_report_inference_title(const calc_exec *exec, const calc_app *app, char *title,
                                  size_t size)
{
    const calc_inference *i = &exec->inference;
    calc_field_ref phase;
    char prompt[CALC_HUMAN_MAX], generated[CALC_HUMAN_MAX];
    int64_t seq = exec->seq_size > 0 ? exec->seq_size : app->seq_size;
    bool known = calc_field_find(CALC_KIND_EXEC, "inference.phase", &phase) == CALC_OK;
    snprintf(title, size, "Serving: %s, prompts of %s tokens, %s generated",
             known ? phase.field->choices[i->phase] : "",
             calc_human_integer((double)(i->prompt_size > 0 ? i->prompt_size : seq), prompt),
             calc_human_integer((double)i->generate_size, generated));
    return title;
}

/* Skip a missing number; a missing left one leaves its column blank. */
static void write_half(calc_output *out, bool right, const char *label, double value, to_text *text)
{
    char buffer[CALC_HUMAN_MAX];
    if (!isnan(value)) {
        calc_report_half(out, right, label, text(value, buffer));
    } else if (!right && !calc_report_is_narrow()) {
        calc_report_half(out, false, "", "");
    }
}

void calc_report_inference_write(calc_output *out, const calc_stats *s)
{
    const row rows[] = {
        {"first token", s->ttft, calc_human_seconds, "output tokens/s", s->output_tokens_per_s,
         calc_human_number},
        {"per output token", s->tpot, calc_human_seconds, "output tokens/s/processor",
         s->output_tokens_per_s_per_proc, calc_human_number},
        {"whole request", s->request_time, calc_human_seconds, "output tokens/s/request",
         s->tokens_per_s_per_user, calc_human_number},
        {"prefill", s->prefill_time, calc_human_seconds, "requests/s", s->requests_per_s,
         calc_human_number},
        {"waiting before", s->queue_time, calc_human_seconds, "first token, 99 % within",
         s->ttft_p99, calc_human_seconds},
        {"decoding step", s->decode_step_time, calc_human_seconds, "requests/s, prefill pool",
         s->prefill_requests_per_s, calc_human_number},
        {"cache transfer", s->kv_transfer_time, calc_human_seconds, "requests/s, decoding pool",
         s->decode_requests_per_s, calc_human_number},
        {"tokens per step", s->tokens_per_step, calc_human_number, "time that prefills",
         s->prefill_share, calc_human_percent},
        {"decoded together", s->decode_sequences, calc_human_number, "sequences that fit",
         s->max_batch, calc_human_number},
        {"cache per token", s->kv_bytes_per_token, calc_human_bytes, "tokens that fit, replica",
         s->kv_capacity_tokens, calc_human_integer},
        {"state per sequence", s->state_bytes_per_sequence > 0 ? s->state_bytes_per_sequence : NAN,
         calc_human_bytes, "", NAN, calc_human_number},
        {"J/token", s->energy_per_token, calc_human_number, "USD/1e6 output tokens",
         s->usd_per_million_output_tokens, calc_human_number},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (isnan(rows[i].left_value) && isnan(rows[i].right_value)) {
            continue;
        }
        write_half(out, false, rows[i].left, rows[i].left_value, rows[i].left_text);
        bool alone = calc_report_is_narrow() && isnan(rows[i].left_value);
        if (!isnan(rows[i].right_value)) {
            write_half(out, !alone, rows[i].right, rows[i].right_value, rows[i].right_text);
        }
        calc_output_text(out, "\n");
    }
}
