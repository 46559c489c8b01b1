#include "validate/run_dates.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The first text that the column `source` contains counts. Releases that are called by year and
 * month are of that month, papers of that of their number at arXiv. */
static const struct {
    const char *contains, *month;
} dates[] = {{"Megatron-LM README 2020", "2020-12"}, /* of that year */
             {"arXiv 2104.04473", "2021-04"},
             {"arXiv 2201.11990", "2022-01"},
             {"arXiv 2205.05198", "2022-05"},
             {"MLPerf Training v3.1", "2023-11"},
             {"llm-foundry", "2024-01"}, /* its README, over 2023; H100 at last */
             {"long-sequence performance 24.03", "2024-03"},
             {"Nemotron-4", "2024-06"},
             {"MLPerf Training v4.0", "2024-06"},
             {"arXiv 2407.21783", "2024-07"},
             {"24.07-rev2", "2024-09"},
             {"performance summary 24.07", "2024-07"},
             {"ModelLink) 1.0.RC3", "2024-10"},
             {"vTrain", "2024-11"},
             {"MLPerf Training v4.1", "2024-11"},
             {"benchmarking v24.11", "2024-11"},
             {"torchtitan benchmarks Dec 2024", "2024-12"},
             {"arXiv 2412.19437", "2024-12"},
             {"benchmarking v25.02", "2025-02"},
             {"benchmarking v25.04", "2025-04"},
             {"performance 25.04", "2025-04"},
             {"benchmarking v25.05", "2025-05"},
             {"MLPerf Training v5.0", "2025-06"},
             {"performance summary 25.09", "2025-09"},
             {"performance summary 25.11", "2025-11"},
             {"SimuMax v1.2", "2026-01"}, /* with PyTorch 2.10, of that month */
             {"performance summary 26.02", "2026-02"},
             {"performance summary 26.04.01", "2026-05"},
             {"performance summary 26.04", "2026-04"},
             {"performance summary 26.06.01", "2026-07"},
             {"performance summary 26.06", "2026-06"},
             {"performance summary 26.08", "2026-08"},
             {"AutoModel", "2026-04"}}; /* its newest rows */

const char *calc_run_published(const calc_runs_row *row)
{
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        if (calc_runs_has(row->source, dates[i].contains)) {
            return dates[i].month;
        }
    }
    return "";
}

bool calc_run_is_month(const char *text)
{
    static const char shape[] = "dddd-dd";
    size_t i = 0;
    while (shape[i] && (shape[i] == '-' ? text[i] == '-' : isdigit((unsigned char)text[i]))) {
        i++;
    }
    return !shape[i] && !text[i];
}

int calc_run_month_number(const char *text)
{
    enum { MONTHS = 12, YEAR_LENGTH = 5 };
    return (int)strtol(text, NULL, 10) * MONTHS + (int)strtol(text + YEAR_LENGTH, NULL, 10);
}
