/* When tables were published, and what is a month. */
#include "validate/run_dates.h"

#include "frame.h"
#include "run_case.h"

CALC_TEST(a_release_is_of_its_month)
{
    static const struct {
        const char *source, *month;
    } cases[] = {{"NVIDIA DGX Cloud benchmarking v24.11.1 (Grok 1 314b Dev BF16)", "2024-11"},
                 {"NVIDIA NeMo performance summary 24.07-rev2 (2024-09)", "2024-09"},
                 {"NVIDIA NeMo performance summary 24.07", "2024-07"},
                 {"NVIDIA Megatron-Bridge performance summary 26.02.01 (Pre-Training)", "2026-02"},
                 {"Korthikanti et al. 2022, arXiv 2205.05198 Table 5", "2022-05"},
                 {"mine", ""},
                 {"", ""}};
    calc_runs_row row = plain_row();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        row.source = cases[i].source;
        ck_assert_str_eq(calc_run_published(&row), cases[i].month);
    }
}

CALC_TEST(a_month_has_its_shape)
{
    ck_assert(calc_run_is_month("2025-07"));
    static const char *const others[] = {"",        "2025",    "2025-7", "2025-07-01",
                                         "2025_07", "mbridge", "x025-07"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ck_assert_msg(!calc_run_is_month(others[i]), "%s", others[i]);
    }
}

/* Those of the tests of functions are not scored in time. */
CALC_TEST(every_shipped_run_that_is_scored_has_a_month)
{
    static const char *const file[] = {CALC_TEST_DATA "/measured/runs.csv",
                                       CALC_TEST_DATA "/measured/runs_vtrain_single.csv.gz"};
    for (size_t f = 0; f < sizeof file / sizeof *file; f++) {
        calc_errors errors = {0};
        calc_runs runs = {0};
        ck_assert_int_eq(calc_runs_read(&runs, file[f], NULL, NULL, &errors), CALC_OK);
        for (size_t i = 0; i < runs.count; i++) {
            const char *id = runs.row[i].id;
            bool scored = !calc_runs_starts(id, "mcore_ci") && !calc_runs_starts(id, "primus") &&
                          !calc_runs_starts(id, "msllm_llama2-7b_32k");
            ck_assert_msg(!scored || calc_run_is_month(calc_run_published(&runs.row[i])), "%s: %s",
                          id, runs.row[i].source);
        }
        calc_runs_free(&runs);
    }
}
