#include "taylor/yaml.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance/evaluate.h"
#include "base/buffer.h"
#include "taylor/memory.h"

/* Adds an edit. An edit that does not fit is dropped; a test of the longest lists ensures that
 * this does not happen. */
static void taylor_edit(calc_taylor_edits *edits, const char *key, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    size_t room = sizeof edits->text - edits->used;
    char *at = edits->text + edits->used;
    int length = vsnprintf(at, room, fmt, list);
    va_end(list);
    if (length >= 0 && (size_t)length < room && edits->count < CALC_TAYLOR_EDITS) {
        edits->item[edits->count++] = (calc_yaml_edit){key, at};
        edits->used += (size_t)length + 1;
    }
}

char *calc_taylor_file_name(const calc_taylor_candidate *c, char name[CALC_TAYLOR_NAME_SIZE])
{
    snprintf(name, CALC_TAYLOR_NAME_SIZE, "DP%jd_TP%jd_PP%jd_EP%jd_pretrain.yaml", c->layout.data,
             c->layout.tensor, c->layout.pipeline, c->expert);
    return name;
}

/* Reads a count after letters, from 1 to 10^6. @return the rest; NULL if it is not there */
static const char *take_count(const char *at, const char *letters, int64_t *out)
{
    size_t length = strlen(letters);
    char *end;
    if (strncmp(at, letters, length) != 0 || !isdigit((unsigned char)at[length])) {
        return NULL;
    }
    long long count = strtoll(at + length, &end, 10);
    *out = count;
    return count >= 1 && count <= 1000000 ? end : NULL;
}

bool calc_taylor_file_layout(const char *name, calc_taylor_candidate *out)
{
    for (const char *start = strstr(name, "DP"); start; start = strstr(start + 1, "DP")) {
        *out = (calc_taylor_candidate){.layout.context = 1};
        const char *at = take_count(start, "DP", &out->layout.data);
        at = at ? take_count(at, "_TP", &out->layout.tensor) : NULL;
        at = at ? take_count(at, "_PP", &out->layout.pipeline) : NULL;
        at = at ? take_count(at, "_EP", &out->expert) : NULL;
        if (at) {
            return true;
        }
    }
    return false;
}

/* Writes a list of counts: "[1, 0]". */
static char *list_text(const int *item, int64_t count, char *text, size_t size)
{
    snprintf(text, size, "[");
    for (int64_t i = 0; i < count; i++) {
        calc_append(text, size, "%s%d", i ? ", " : "", item[i]);
    }
    return calc_append(text, size, "]");
}

static void edit_parallel(const calc_taylor_config *config, int64_t data, int64_t tensor,
                          int64_t pipeline, int64_t expert, int64_t microbatches,
                          const char *dataset, calc_taylor_edits *edits)
{
    const struct {
        const char *key;
        int64_t value;
    } sizes[] = {{"parallel_config.data_parallel", data},
                 {"parallel_config.model_parallel", tensor},
                 {"parallel_config.pipeline_stage", pipeline},
                 {"parallel_config.expert_parallel", expert},
                 {"parallel_config.micro_batch_num", microbatches}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        taylor_edit(edits, sizes[i].key, "%jd", sizes[i].value);
    }
    if (config->strategies > 0) {
        char text[4096] = "[";
        for (int64_t i = 0; i < config->strategies; i++) {
            calc_append(text, sizeof text, "%s[%jd, 1]", i ? ", " : "", data);
        }
        calc_append(text, sizeof text, "]");
        taylor_edit(edits, "parallel.dataset_strategy", "%s", text);
    }
    if (dataset) {
        taylor_edit(edits, "train_dataset.data_loader.dataset_dir", "\"%s\"", dataset);
    }
}

void calc_taylor_edits_layout(const calc_taylor_config *config, const calc_taylor_candidate *c,
                              int64_t batch, const char *dataset, calc_taylor_edits *edits)
{
    int offset[CALC_BALANCE_STAGES];
    char text[4096];
    int64_t stages = c->layout.pipeline;
    edit_parallel(config, c->layout.data, c->layout.tensor, stages, c->expert,
                  batch / c->layout.data / config->exec.microbatch_size, dataset, edits);
    calc_taylor_initial_offset(stages, config->layers + config->prediction, offset);
    bool even = (config->layers + config->prediction) % stages == 0;
    taylor_edit(edits, "model.model_config.offset", "%s",
                even ? "0" : list_text(offset, stages, text, sizeof text));
}

/* Shapes for profiles: some stage has layers with and layers without recomputation, and all stages
 * are present. */
static const struct {
    int64_t stages;
    int layers; /* including prediction layers */
    int offset[8], again[8];
} shapes[] = {{2, 11, {1, 0}, {6, 0}},
              {4, 11, {1, 1, 1, 0}, {3, 3, 0, 0}},
              {8, 13, {2, 0, 0, 0, 0, 1, 1, 1}, {3, 1, 1, 1, 1, 2, 0, 2}}};

bool calc_taylor_edits_profile(const calc_taylor_config *config, const calc_taylor_candidate *c,
                               int64_t batch, int64_t ranks, const char *dataset,
                               const char *small_dataset, calc_taylor_edits *edits)
{
    enum { MOST_STAGES = 8, SMALL_DATA = 4 };
    int64_t stages = c->layout.pipeline, data = c->layout.data, expert = c->expert;
    while (stages > 2 && stages % 2 == 0 &&
           (stages > MOST_STAGES || data * c->layout.tensor * stages > ranks)) {
        stages /= 2;
    }
    while (data > 1 && data % 2 == 0 && data * c->layout.tensor * stages > ranks) {
        data /= 2;
    }
    while (data * c->layout.tensor % expert != 0) {
        expert /= 2;
    }
    size_t shape = 0;
    while (shape < sizeof shapes / sizeof *shapes && shapes[shape].stages != stages) {
        shape++;
    }
    if (shape == sizeof shapes / sizeof *shapes || data * c->layout.tensor * stages > ranks) {
        return false;
    }
    char text[256];
    edit_parallel(config, data, c->layout.tensor, stages, expert,
                  batch / c->layout.data / config->exec.microbatch_size,
                  c->layout.data <= SMALL_DATA && small_dataset ? small_dataset : dataset, edits);
    taylor_edit(edits, config->layers_key, "%jd", (shapes[shape].layers - config->prediction));
    taylor_edit(edits, "model.model_config.offset", "%s",
                list_text(shapes[shape].offset, stages, text, sizeof text));
    taylor_edit(edits, "recompute_config.recompute", "%s",
                list_text(shapes[shape].again, stages, text, sizeof text));
    const struct {
        const char *key, *value;
    } profile[] = {
        {"profile", "True"},    {"profile_start_step", "4"},       {"profile_stop_step", "6"},
        {"profile_level", "1"}, {"profile_communication", "True"}, {"profile_memory", "True"},
        {"op_time", "True"}};
    for (size_t i = 0; i < sizeof profile / sizeof *profile; i++) {
        taylor_edit(edits, profile[i].key, "%s", profile[i].value);
    }
    return true;
}

/* Operators that recompute in parts, by the names that the framework matches; each has the
 * matrix. */
static void edit_operators(calc_taylor_edits *edits, const char *key, const char *operators,
                           const char *matrix)
{
    char text[16384] = "{";
    for (size_t length; (length = calc_next_word(&operators, " ")) > 0;) {
        calc_append(text, sizeof text, "%s'%.*s': %s", text[1] ? ", " : "", (int)length,
                    operators - length, matrix);
    }
    calc_append(text, sizeof text, "}");
    taylor_edit(edits, key, "%s", text);
}

void calc_taylor_edits_balance(const calc_taylor_config *config, const calc_taylor_ask *ask,
                               const calc_balance_share *share, calc_taylor_edits *edits)
{
    static const char computed[] =
        "feed_forward\\.null feed_forward\\.w1\\.activation\\.silu feed_forward\\.w1\\.reshape "
        "feed_forward\\.w2\\.reshape add cast_up";
    static const char sent[] =
        ".*\\.norm attention\\.wq\\.reshape attention\\.wk\\.reshape feed_forward\\.w1\\.reshape "
        "feed_forward\\.w3\\.reshape";
    char text[4096];
    taylor_edit(edits, "model.model_config.offset", "%s",
                calc_taylor_matrix_text(ask, share, CALC_TAYLOR_OFFSET, text, sizeof text));
    taylor_edit(edits, "recompute_config.recompute", "%s",
                calc_taylor_matrix_text(ask, share, CALC_TAYLOR_FULL, text, sizeof text));
    if (ask->may_select) {
        calc_taylor_matrix_text(ask, share, CALC_TAYLOR_SELECTIVE, text, sizeof text);
        edit_operators(edits, "recompute_config.select_recompute", computed, text);
        edit_operators(edits, "recompute_config.select_comm_recompute", sent, text);
    } else if (config->selects) {
        taylor_edit(edits, "recompute_config.select_recompute", "False");
        taylor_edit(edits, "recompute_config.select_comm_recompute", "False");
    }
    taylor_edit(edits, "recompute_config.parallel_optimizer_comm_recompute", "False");
    taylor_edit(edits, "recompute_config.mp_comm_recompute", "True");
    taylor_edit(edits, "recompute_config.recompute_slice_activation", "True");
}
