/* Engines that calc ships. */
#ifndef CALC_TESTS_ENGINES_H
#define CALC_TESTS_ENGINES_H

#include "io/space_load.h"
#include "io/text.h"
#include "spec/serving_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const shipped_engine_names[] = {"none",
                                                   "atom-0.1",
                                                   "gpt-fast-2023",
                                                   "sglang-0.5",
                                                   "sglang_rocm-0.5",
                                                   "sglang_rocm-0.5.5",
                                                   "tensorrt_llm-0.5",
                                                   "tensorrt_llm-0.9",
                                                   "tensorrt_llm-1.0",
                                                   "tensorrt_llm-1.1",
                                                   "tensorrt_llm-1.2",
                                                   "vllm-0.11",
                                                   "vllm-0.2",
                                                   "vllm-0.5",
                                                   "vllm-0.6",
                                                   "vllm-0.8",
                                                   "vllm_rocm-0.6"};
enum { SHIPPED_ENGINES = sizeof shipped_engine_names / sizeof *shipped_engine_names };

/* The engine of a document; "none": no engine. */
static inline calc_serving_engine shipped_engine(const char *name)
{
    calc_serving_engine engine = {0};
    calc_text text = {0};
    calc_errors errors = {0};
    char path[256];
    if (strcmp(name, "none") == 0) {
        return engine;
    }
    snprintf(engine.name, sizeof engine.name, "%s", name);
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/executions/engines/%.64s.json", name);
    if (calc_text_read(&text, path, &errors) != CALC_OK ||
        calc_engine_parse(&engine, text.data, text.length, path, &errors) != CALC_OK) {
        fprintf(stderr, "%s: %s\n", path, errors.item[0].text); /* fuzzers have no Check */
        abort();
    }
    calc_text_free(&text);
    return engine;
}

/* All of them. */
static inline const calc_serving_engines *shipped_engines(void)
{
    static calc_serving_engine item[SHIPPED_ENGINES];
    static calc_serving_engines engines = {.item = item};
    for (int i = 1; engines.count < SHIPPED_ENGINES - 1; i++) {
        item[engines.count++] = shipped_engine(shipped_engine_names[i]);
    }
    calc_serving_engines_sort(&engines);
    return &engines;
}

#endif
