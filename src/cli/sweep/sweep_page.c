#include "cli/sweep/sweep_page.h"

#include "cli/sweep/sweep_order.h"
#include "cli/sweep/sweep_read.h"
#include "io/json_scan.h"
#include "report/page.h"
#include "report/sweep_data.h"

/* What measured runs say of the layouts of a sweep. */
typedef struct known {
    const calc_sweep_study *study;
    const calc_residuals *measured;
    calc_sweep_order order;
} known;

static double sure_of(const void *context, uint64_t design, const calc_exec *exec,
                      const calc_stats *stats)
{
    return calc_sweep_order_sure(&((const known *)context)->order, design, exec, stats);
}

static double fits_of(const void *context, const calc_found *layout)
{
    const known *k = context;
    return calc_sweep_rows_fits(k->measured, k->study, layout).share;
}

calc_status calc_sweep_page_write(calc_output *out, const calc_sweep_study *study,
                                  const calc_sweep_result *result, const calc_args *args,
                                  const calc_sweep_row *start, const calc_residuals *measured,
                                  calc_errors *errors)
{
    const known k = {study, measured,
                     calc_sweep_order_of(study, calc_sweep_found_best_of_all(result))};
    const calc_sweep_data data = {.study = study,
                                  .result = result,
                                  .start = start->layout,
                                  .start_rank = start->number,
                                  .sure = k.order.known ? sure_of : NULL,
                                  .fits = fits_of,
                                  .context = &k};
    calc_put put = calc_page_begin(out, CALC_PAGE_SWEEP);
    calc_put_object(&put, "study", CALC_PUT_LINES);
    calc_sweep_put_study(&put, study);
    calc_put_count(&put, "designs", (int64_t)study->designs.count);
    calc_put_flag(&put, "per_num_procs", study->options.per_num_procs);
    calc_sweep_read_put(&put, study, args);
    calc_put_close(&put);
    calc_status status = calc_sweep_data_put(&put, &data, errors);
    calc_page_end(&put, CALC_PAGE_SWEEP);
    return status;
}

static void put_file(calc_put *put, const char *key, const calc_text *json)
{
    /* What readers of JSON skip, browsers do not. */
    size_t mark = json ? calc_json_scan_mark(json->data, json->length) : 0;
    calc_put_key(put, key);
    calc_output_write(put->out, json ? json->data + mark : "null", json ? json->length - mark : 4);
}

void calc_sweep_page_write_written(calc_output *out, const calc_text *sweep,
                                   const calc_text *summary)
{
    calc_put put = calc_page_begin(out, CALC_PAGE_SWEEP);
    put_file(&put, "written", sweep);
    put_file(&put, "summary", summary);
    calc_sweep_data_put_axes(&put, NULL);
    calc_sweep_data_put_names(&put);
    calc_page_end(&put, CALC_PAGE_SWEEP);
}
