#include "io/remark.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"

static bool says(const calc_text *text, const char *words)
{
    return text->data && strstr(text->data, words);
}

calc_remark_facts calc_remark_read(const calc_text *text)
{
    bool ours = says(text, "\"hidden\"");
    /* The words by which files of machines state their origin; calc calibrate writes the third. */
    calc_remark_facts facts = {
        .origin = says(text, "No run was fitted")             ? CALC_REMARK_ASSUMED
                  : says(text, "No runs of this machine")     ? CALC_REMARK_FAMILY
                  : says(text, "Calibrated on ")              ? CALC_REMARK_CALIBRATED
                  : says(text, "efficiencies as in Calculon") ? CALC_REMARK_CALCULON
                                                              : CALC_REMARK_ASSUMED,
        .no_structure = ours && !says(text, "\"structure_type\""),
        .no_attention = ours && !says(text, "\"causal\"")};
    const char *at = text->data ? strstr(text->data, "Calibrated on ") : NULL;
    at = at ? strstr(at, ") on ") : NULL;
    if (at) {
        at += strlen(") on ");
        snprintf(facts.calibrated, sizeof facts.calibrated, "%.*s", (int)strcspn(at, ",.\""), at);
    }
    return facts;
}

const char *calc_remark_origin_text(calc_remark_origin origin)
{
    static const char *const texts[] = {
        [CALC_REMARK_CALIBRATED] = "calibrated",
        [CALC_REMARK_FAMILY] = "constants of its calibrated family",
        [CALC_REMARK_CALCULON] = "not calibrated, efficiencies of Calculon",
        [CALC_REMARK_ASSUMED] = "not calibrated, efficiencies assumed"};
    return texts[origin];
}

char *calc_remark_system(const char *name, calc_remark_facts facts, const char *alike, char *text)
{
    text[0] = '\0';
    if (facts.origin == CALC_REMARK_FAMILY) {
        calc_append(text, CALC_REMARK_SIZE,
                    "no run of %.200s was fitted: its constants are those of its family", name);
    } else if (facts.origin != CALC_REMARK_CALIBRATED) {
        calc_append(text, CALC_REMARK_SIZE,
                    "%.200s is not calibrated: its efficiencies are %s%s%s%s", name,
                    facts.origin == CALC_REMARK_CALCULON ? "Calculon's" : "assumed",
                    *alike ? "; " : "", alike, *alike ? " is" : "");
    }
    return text;
}

char *calc_remark_app(calc_remark_facts facts, const calc_app *app, char *text)
{
    bool structure = facts.no_structure && app->structure_type == CALC_STRUCTURE_TYPE_GPT &&
                     app->ffn_type == CALC_FFN_TYPE_AUTO && app->norm_type == CALC_NORM_TYPE_AUTO;
    bool square = facts.no_attention && !app->causal;
    text[0] = '\0';
    if (structure || square) {
        calc_append(text, CALC_REMARK_SIZE, "no %s%s%s: %s%s%s, as in Calculon",
                    structure ? "structure_type" : "", structure && square ? ", no " : "",
                    square ? "causal" : "", structure ? "GPT's block" : "",
                    structure && square ? " and " : "",
                    square ? "attention over the full square" : "");
    }
    return text;
}

char *calc_remark_inference(const calc_inference *inference, bool eager, char *text)
{
    bool served = inference->phase != CALC_INFERENCE_PHASE_NONE;
    const char *remark =
        !served ? ""
        : eager ? "eager is of kernels that nothing fuses; a server whose steps no "
                  "graph replays has inference.traits.eager"
        : !*inference->engine.name ? "no inference.engine is named: its time beside the model is "
                                     "not counted"
                                   : "";
    return strcpy(text, remark);
}

char *calc_remark_exec(const calc_app *app, const calc_exec *exec, char *text)
{
    calc_remark_inference(&exec->inference, exec->strategy.eager, text);
    int64_t most = (app->num_blocks + exec->pipeline_par - 1) / exec->pipeline_par;
    bool even = exec->stages.count == 0 && exec->first_stage_blocks + exec->last_stage_blocks == 0;
    if (!*text && even &&
        exec->recompute_blocks > most + 1 /* that an end of the model left it */) {
        calc_append(text, CALC_REMARK_SIZE,
                    "recompute_blocks is %lld, and a stage has %lld blocks: all of them recompute",
                    (long long)exec->recompute_blocks, (long long)most);
    }
    return text;
}
