/** @file hf_case.h  Configurations of Hugging Face in tests: texts read, with what is said of them.
 */
#ifndef CALC_TESTS_HF_CASE_H
#define CALC_TESTS_HF_CASE_H

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "formats/hf.h"

/* Remarks, a line each. */
typedef struct remarks {
    char text[2048];
} remarks;

static inline void remember(void *context, const char *text)
{
    remarks *all = context;
    size_t used = strlen(all->text);
    snprintf(all->text + used, sizeof all->text - used, "%s\n", text);
}

static inline calc_status read_text(const char *text, calc_app *app, remarks *all,
                                    calc_errors *errors)
{
    const calc_hf hf = {.name = "config.json", .tell = remember, .context = all};
    *all = (remarks){0};
    return calc_hf_read_text(&hf, text, strlen(text), app, errors);
}

#define SMALL                                                                                      \
    "\"hidden_size\": 64, \"num_hidden_layers\": 12, \"num_attention_heads\": 4, "                 \
    "\"intermediate_size\": 128, \"vocab_size\": 100"

/* Read a small model of a type with more keys; remarks but for those on the sequence. */
static inline calc_app small(const char *type, const char *more, const char *remark)
{
    char text[2048];
    calc_app app;
    remarks all;
    calc_errors errors = {0};
    snprintf(text, sizeof text,
             "{\"model_type\": \"%s\", \"max_position_embeddings\": 512, " SMALL "%s}", type, more);
    ck_assert_msg(read_text(text, &app, &all, &errors) == CALC_OK, "%s", errors.item[0].text);
    const char *rest = strchr(all.text, '\n');
    ck_assert_ptr_nonnull(rest);
    ck_assert_msg(strstr(all.text, remark) && (remark[0] || !rest[1]), "%s", all.text);
    return app;
}

static inline calc_app silent(const char *more)
{
    return small("llama", more, "");
}

#endif
