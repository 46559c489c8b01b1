#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/help.h"
#include "cli/shell/inputs.h"
#include "cli/shell/opt.h"
#include "spec/alias.h"
#include "spec/field.h"
#include "spec/value_text.h"

enum { COLUMN = 14 };

#define OPTIONS(X) CALC_INPUTS_SET(X)

CALC_OPTIONS(OPTIONS);
static const calc_arg rows[] = {
    {.name = "NAME",
     .doc = "a field, a statistic or its label in the summary: tensor_par, tp, latency, mfu, "
            "\"time per step\"; kinds that "
            "share a name are told apart by app., sys., exe., stats., layer., stage."},
    CALC_ARG_DOCUMENT("APP", CALC_KIND_APP, .optional = true,
                      .doc = "with a model, a system and an execution: the numbers too"),
    CALC_ARG_DOCUMENT("SYS", CALC_KIND_SYSTEM, .optional = true, .doc = ""),
    CALC_ARG_DOCUMENT("EXE", CALC_KIND_EXEC, .optional = true, .doc = ""),
    {0}};
static const char *const examples[] = {
    "calc show explain sample_rate gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full",
    "calc show explain networks[0].efficiency", NULL};

/* The run whose numbers are shown. */
typedef struct numbers {
    calc_inputs inputs;
    calc_stats stats;
} numbers;

static const void *object_of(const numbers *n, calc_kind kind)
{
    /* A run has several layers and stages. */
    const void *const object[CALC_KIND_COUNT] = {[CALC_KIND_APP] = &n->inputs.app,
                                                 [CALC_KIND_SYSTEM] = &n->inputs.system,
                                                 [CALC_KIND_EXEC] = &n->inputs.exec,
                                                 [CALC_KIND_STATS] = &n->stats};
    return object[kind];
}

/* The field whose other name a path is in its kind; NULL if it is none. */
static const calc_field *alias_of(calc_kind kind, const char *path)
{
    (void)calc_kind_split(&path, CALC_KIND_STAGE);
    return calc_alias_find(calc_table_of(kind), path);
}

/* The first kind, from `kind` on, in which the name means something; CALC_KIND_NONE if there is
 * none. */
static calc_kind find_from(calc_kind kind, const char *name, calc_field_ref *ref)
{
    calc_kind only = calc_kind_split(&name, CALC_KIND_STAGE);
    for (; kind < CALC_KIND_COUNT; kind++) {
        const calc_field *other = alias_of(kind, name); /* "num_shared_experts" */
        if ((only == CALC_KIND_NONE || only == kind) &&
            calc_field_find(kind, other ? other->key : name, ref) == CALC_OK) {
            return kind;
        }
    }
    return CALC_KIND_NONE;
}

/* Paths of nested fields with a given name, such as "latency". */
enum { MOST_INSIDE = 12, PATH_SIZE = 128 };
typedef struct inside {
    char path[MOST_INSIDE][PATH_SIZE];
    size_t count;
} inside;

/* The first element represents a list, and bfloat16 represents a map. */
static void find_inside(const calc_table *table, const char *prefix, const char *name, inside *out)
{
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        char path[PATH_SIZE];
        const char *behind = field->type == CALC_TYPE_LIST  ? "[0]."
                             : field->type == CALC_TYPE_MAP ? ".bfloat16."
                                                            : ".";
        snprintf(path, sizeof path, "%s%s%s", prefix, field->key, field->table ? behind : "");
        if (field->table) {
            find_inside(field->table, path, name, out);
        } else if (*prefix && strcmp(field->key, name) == 0 && out->count < MOST_INSIDE) {
            memcpy(out->path[out->count++], path, sizeof path);
        }
    }
}

/* Finds the field that has the name as one of its values. */
static bool hint_of_choice(const char *name, char *hint, size_t size)
{
    for (calc_kind kind = CALC_KIND_APP; kind <= CALC_KIND_EXEC; kind++) {
        const calc_table *table = calc_table_of(kind);
        for (size_t i = 0; i < table->count; i++) {
            const calc_field *field = &table->rows[i];
            if (field->choices && calc_choice_index(field->choices, name) >= 0) {
                snprintf(hint, size, "it is a value of %s: calc show explain %s", field->key,
                         field->key);
                return true;
            }
        }
    }
    return false;
}

static calc_status unknown_name(const char *name, calc_errors *errors)
{
    enum { MOST_NAMES = 1024 };
    const char *names[MOST_NAMES + 1] = {NULL};
    size_t count = 0;
    char hint[160];
    for (calc_kind kind = CALC_KIND_APP; kind < CALC_KIND_COUNT; kind++) {
        const calc_table *table = calc_table_of(kind);
        for (size_t i = 0; i < table->count; i++) {
            const char *const *also = table->rows[i].also;
            for (const char *key = table->rows[i].key; key && count < MOST_NAMES; key = *also++) {
                names[count++] = key;
            }
        }
    }
    const char *nearest = calc_nearest(name, names);
    return calc_errors_add(errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL,
                           hint_of_choice(name, hint, sizeof hint) ? hint
                           : nearest                               ? CALC_DID_YOU_MEAN(nearest)
                                     : "calc show fields lists them all",
                           "no field or statistic \"%.100s\"", name);
}

/* @param text  NULL: there is no such line */
static void write_line(calc_output *out, const char *label, const char *text)
{
    if (text) {
        calc_output_printf(out, "  %-*s", COLUMN - 2, label);
        calc_help_wrapped(out, text, COLUMN);
    }
}

/* Finds the next name of a field or statistic in an equation. @return whether there is one */
static bool next_name(const char **text, char *word, size_t size)
{
    while (**text) {
        while (**text && !isalpha((unsigned char)**text) && **text != '_') {
            /* skips the e of 1e12 */
            *text += isdigit((unsigned char)**text) ? strspn(*text, "0123456789.e") : 1;
        }
        size_t length = strspn(*text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_.");
        snprintf(word, size, "%.*s", (int)length, *text);
        *text += length;
        if (length > 0 && word[length < size ? length - 1 : size - 1] == '.') {
            word[strlen(word) - 1] = '\0';
        }
        if (length > 0) {
            return true;
        }
    }
    return false;
}

/* Resolves a name in an equation: a field by its full path, or a statistic. */
static bool resolve(const char *word, calc_kind near, calc_field_ref *ref)
{
    const char *path = word;
    calc_kind only = calc_kind_split(&path, CALC_KIND_STAGE);
    return only != CALC_KIND_NONE
               ? calc_field_find(only, path, ref) == CALC_OK
               : strchr(word, '_') &&
                     (calc_field_find(CALC_KIND_STATS, word, ref) == CALC_OK ||
                      (near <= CALC_KIND_EXEC && calc_field_find(near, word, ref) == CALC_OK));
}

/* Lists the numbers named in an equation, each once. */
static void write_operands(calc_output *out, const calc_field *field, calc_kind kind,
                           const numbers *n)
{
    enum { MOST = 32 };
    const calc_field *seen[MOST];
    size_t count = 0;
    char word[64];
    const char *text = field->equation;
    while (next_name(&text, word, sizeof word) && count < MOST) {
        calc_field_ref ref;
        if (!resolve(word, kind, &ref) || !object_of(n, ref.kind) || ref.field == field) {
            continue;
        }
        size_t i = 0;
        while (i < count && seen[i] != ref.field) {
            i++;
        }
        if (i == count) {
            char value[CALC_VALUE_TEXT];
            seen[count++] = ref.field;
            calc_value_text(ref.field, (const char *)object_of(n, ref.kind) + ref.offset, value);
            calc_output_printf(out, "  %-*s%s = %s%s%s\n", COLUMN - 2, count == 1 ? "with" : "",
                               word, value, ref.field->unit ? " " : "",
                               ref.field->unit ? ref.field->unit : "");
        }
    }
}

/* Explains the effect of leaving a field out. */
static void write_absent(calc_output *out, const calc_field *field)
{
    const char *text = "it must be there";
    if (field->flags & CALC_OPTIONAL) {
        text = field->type == CALC_TYPE_ENUM   ? field->choices[0]
               : field->type == CALC_TYPE_BOOL ? "false"
               : field->type == CALC_TYPE_INT || field->type == CALC_TYPE_REAL
                   ? CALC_NUMBER(field->absent)
               : field->type == CALC_TYPE_SET ? "none"
                                              : "nothing";
    }
    write_line(out, "if absent", text);
}

/* Lists the statistics whose equation names the field. */
static void write_users(calc_output *out, const calc_field_ref *wanted)
{
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    char list[1024] = "";
    for (size_t i = 0; i < table->count; i++) {
        const char *text = table->rows[i].equation;
        char word[64];
        bool names = false;
        while (text && !names && next_name(&text, word, sizeof word)) {
            calc_field_ref ref;
            names = resolve(word, CALC_KIND_STATS, &ref) && ref.field == wanted->field;
        }
        if (names && wanted->field != &table->rows[i]) {
            calc_append(list, sizeof list, "%s%s", *list ? ", " : "", table->rows[i].key);
        }
    }
    write_line(out, "used by", *list ? list : NULL);
}

/* Explains an alias. */
static void write_alias(calc_output *out, const char *name, const calc_field_ref *ref)
{
    const calc_field *alias = alias_of(ref->kind, name);
    char text[256];
    calc_field_ref served;
    snprintf(text, sizeof text, "inference.%s", ref->field->key);
    if (!alias &&
        (strchr(name, '.') || ref->kind != CALC_KIND_EXEC ||
         calc_field_find(ref->kind, text, &served) != CALC_OK || served.offset != ref->offset)) {
        return;
    }
    if (alias && !alias->times[0]) {
        snprintf(text, sizeof text, "%s", alias->key);
    } else if (alias) {
        snprintf(text, sizeof text, "%s = %s * %s%s%s", alias->key, alias->also[0], alias->times[0],
                 alias->times[1] ? ", or if that is 0, * " : "",
                 alias->times[1] ? alias->times[1] : "");
    }
    write_line(out, "stands for", text);
}

static void write_field(calc_output *out, const char *name, const calc_field_ref *ref,
                        const numbers *n)
{
    static const char *const of[] = {"an application", "a system",           "an execution",
                                     "a run",          "a layer of a block", "a stage"};
    const calc_field *field = ref->field;
    bool answer = ref->kind >= CALC_KIND_STATS;
    char range[512], meaning[CALC_FIELD_TEXT_MEANING];
    calc_output_printf(out, "%s: %s of %s\n", name, answer ? "statistic" : "field", of[ref->kind]);
    calc_output_text(out, "  ");
    calc_help_wrapped(out, calc_field_text_meaning(field, meaning), 2);
    calc_field_text_range(field, range, sizeof range);
    write_alias(out, name, ref);
    if (!answer) {
        write_line(out, "takes", CALC_TEXT(1024, "%s %s", calc_field_text_type(field), range));
        write_absent(out, field);
    }
    write_line(out, "unit", field->unit);
    write_line(out, "equation", field->equation);
    write_line(out, "source", field->source);
    write_line(out, "computed by", field->where);
    write_users(out, ref);
    if (n && object_of(n, ref->kind) && !field->table) {
        char value[CALC_VALUE_TEXT];
        calc_value_text(field, (const char *)object_of(n, ref->kind) + ref->offset, value);
        bool unit = field->unit && strcmp(value, "null") != 0;
        write_line(out, "value",
                   CALC_TEXT(CALC_VALUE_TEXT + 64, "%s%s%s", value, unit ? " " : "",
                             unit ? field->unit : ""));
        if (field->equation) {
            write_operands(out, field, ref->kind, n);
        }
    }
}

static calc_status write_all(const calc_args *args, const numbers *n, calc_errors *errors)
{
    calc_field_ref ref;
    const char *name = args->argument[0];
    calc_kind kind = find_from(CALC_KIND_APP, name, &ref);
    inside parts = {.count = 0};
    for (calc_kind of = CALC_KIND_APP; kind == CALC_KIND_NONE && of <= CALC_KIND_EXEC; of++) {
        find_inside(calc_table_of(of), "", name, &parts);
    }
    if (kind == CALC_KIND_NONE && parts.count == 0) {
        return unknown_name(name, errors);
    }
    calc_output *out = calc_write_to("-");
    for (size_t i = 0; i < parts.count; i++) {
        calc_output_text(out, i == 0 ? "" : "\n");
        (void)find_from(CALC_KIND_APP, parts.path[i], &ref);
        write_field(out, parts.path[i], &ref, n);
    }
    for (bool first = true; kind != CALC_KIND_NONE; first = false) {
        calc_output_text(out, first ? "" : "\n");
        write_field(out, name, &ref, n);
        kind = find_from((calc_kind)(kind + 1), name, &ref);
    }
    return calc_output_close(out, errors);
}

static calc_exit run(const calc_args *args)
{
    calc_errors errors = {0};
    numbers n = {0};
    bool with_numbers = args->argument_count > 1;
    if (with_numbers && args->argument_count != 1 + CALC_INPUTS) {
        return calc_complain_usage(args->command, "give all of APP SYS EXE, or none");
    }
    calc_status status =
        with_numbers ? calc_inputs_load_args(&n.inputs, args, 1, OPT_SET, &errors) : CALC_OK;
    if (with_numbers && status == CALC_OK) {
        calc_run(&n.inputs.app, &n.inputs.system, &n.inputs.exec, CALC_COMPAT_NONE, &n.stats);
    }
    if (status == CALC_OK) {
        (void)!write_all(args, with_numbers ? &n : NULL, &errors);
    }
    calc_inputs_free(&n.inputs);
    return calc_complain_errors(&errors);
}

const calc_command calc_cmd_explain = {
    .name = "show explain",
    .summary = "explain a field or a statistic and how it is computed",
    .detail = "Gives the meaning of a field or a statistic, its unit, range and default, the "
              "equation with its source, and the function that computes it. With the three "
              "documents of a run, also its value and the numbers in its equation.",
    CALC_COMMAND_PARTS};
