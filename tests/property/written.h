/** @file written.h  What an export wrote, read with a reader of its own, and the checks that the
 *  frameworks themselves make of it: conditions after their sources, on the text alone. */
#ifndef CALC_TESTS_WRITTEN_H
#define CALC_TESTS_WRITTEN_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { WRITTEN_MAX = 160, WRITTEN_TEXT = 512 };

/** Keys as a framework writes them, dotted where they are nested, and their values. */
typedef struct written {
    const char *framework, *layout;
    int count;
    char key[WRITTEN_MAX][WRITTEN_TEXT], value[WRITTEN_MAX][WRITTEN_TEXT];
} written;

/** Read a script of options. */
void written_shell(written *w, const char *text);
/** Read nested keys: YAML, or JSON with a key per line. */
void written_nested(written *w, const char *text);
/** Read tables and their keys: TOML. */
void written_tables(written *w, const char *text);

/** The value of a key; NULL if it is not there. */
const char *written_value(const written *w, const char *key);
/** It as a number, or `absent`. */
int64_t written_number(const written *w, const char *key, int64_t absent);
/** Whether it is there, and true if it has a value that is yes or no. */
bool written_yes(const written *w, const char *key);
/** Whether it is there with this value. */
bool written_is(const written *w, const char *key, const char *value);

/** The checks, each named after its source. */
void written_must_megatron(const written *w);
void written_must_core(const written *w);
void written_must_mindspeed(const written *w);
void written_must_torchtitan(const written *w);
void written_must_deepspeed(const written *w, int64_t world);
void written_must_mindformers(const written *w, int64_t world);
void written_must_paddle(const written *w, int64_t world);
void written_must_vllm(const written *w, int64_t world);
void written_must_sglang(const written *w, int64_t world);
void written_must_tensorrt_llm(const written *w, int64_t world);

/** A check of `source`. */
#define MUST(w, source, condition)                                                                 \
    ck_assert_msg(condition, "%s, %s: %s: %s", (w)->framework, (w)->layout, source, #condition)
/** If one thing, then another. */
#define IF_THEN(one, other) (!(one) || (other))
/** An integer that another one divides. */
#define DIVIDES(part, whole) ((whole) % (part) == 0)

/** The stages of a list like "Et*3|(t*4|)*14t*2L", as pipeline_parallel_layer_layout.py of
 *  core_v0.15.0 takes it apart: groups are multiplied, then letters.
 *  @param blocks, predictions  how many there are of both
 *  @return how many stages; 0 if an assertion of validate_layer_layout() fails */
int64_t written_stages(const char *text, int64_t *blocks, int64_t *predictions);

#endif
