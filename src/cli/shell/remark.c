#include "cli/shell/remark.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/shell/find.h"

/* The words by which files of machines state their origin; calc calibrate writes the first. */
calc_remark_origin calc_remark_origin_of(const calc_text *text)
{
    if (!text->data || strstr(text->data, "No run was fitted")) {
        return CALC_REMARK_ASSUMED;
    }
    if (strstr(text->data, "No runs of this machine")) {
        return CALC_REMARK_FAMILY;
    }
    if (strstr(text->data, "Calibrated on ")) {
        return CALC_REMARK_CALIBRATED;
    }
    return strstr(text->data, "efficiencies as in Calculon") ? CALC_REMARK_CALCULON
                                                             : CALC_REMARK_ASSUMED;
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

static bool is_calibrated(const char *path)
{
    calc_text text = {0};
    calc_errors ignored = {0};
    bool is = calc_text_read(&text, path, &ignored) == CALC_OK &&
              calc_remark_origin_of(&text) == CALC_REMARK_CALIBRATED;
    calc_text_free(&text);
    return is;
}

/* The calibrated machine whose name is most like `name`: a100_80g and a100_sxm_80g begin alike. A
 * short name is a plain machine. */
static void find_alike(const char *name, char *found, size_t size)
{
    calc_find_list list = {0};
    calc_errors ignored = {0};
    size_t family = strcspn(name, "_");
    const char *best = NULL;
    bool listed = calc_find_names(CALC_KIND_SYSTEM, &list, &ignored) == CALC_OK;
    for (size_t i = 0; listed && i < list.count; i++) {
        const char *other = list.entry[i].name;
        bool alike = strncmp(other, name, family) == 0 && strcspn(other, "_") == family;
        if (!alike || strcmp(other, name) == 0 || !is_calibrated(list.entry[i].path)) {
            continue;
        }
        size_t length = strlen(other);
        if (!best || length < strlen(best) ||
            (length == strlen(best) &&
             calc_edit_distance(other, name) < calc_edit_distance(best, name))) {
            best = other;
        }
    }
    snprintf(found, size, "%s", best ? best : "");
    calc_find_free(&list);
}

char *calc_remark_system(const calc_input *input, char *text)
{
    char alike[128];
    calc_remark_origin origin = calc_remark_origin_of(&input->text);
    text[0] = '\0';
    if (origin == CALC_REMARK_CALIBRATED || origin == CALC_REMARK_FAMILY) {
        return text;
    }
    find_alike(input->name, alike, sizeof alike);
    calc_append(text, CALC_REMARK_SIZE, "%s is not calibrated: its efficiencies are %s",
                input->name, origin == CALC_REMARK_CALCULON ? "Calculon's" : "assumed");
    if (alike[0]) {
        calc_append(text, CALC_REMARK_SIZE, "; %s is", alike);
    }
    return text;
}

static bool has_key(const calc_text *text, const char *key)
{
    return text->data && strstr(text->data, key);
}

char *calc_remark_app(const calc_input *input, const calc_app *app, char *text)
{
    bool ours = has_key(&input->text, "\"hidden\"");
    bool structure = ours && !has_key(&input->text, "\"structure_type\"") &&
                     app->structure_type == CALC_STRUCTURE_TYPE_GPT &&
                     app->ffn_type == CALC_FFN_TYPE_AUTO && app->norm_type == CALC_NORM_TYPE_AUTO;
    bool square = ours && !has_key(&input->text, "\"causal\"") && !app->causal;
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

void calc_remark_tell(calc_status loaded, calc_kind kind, const calc_input *input,
                      const void *object)
{
    char text[CALC_REMARK_SIZE];
    if (loaded != CALC_OK || !isatty(STDERR_FILENO)) {
        return;
    }
    kind == CALC_KIND_APP ? calc_remark_app(input, object, text) : calc_remark_system(input, text);
    if (text[0]) {
        fprintf(stderr, "%s\n", text);
    }
}
