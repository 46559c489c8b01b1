#include "cli/calibrate/calibrate_operators.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "calibrate/point_calibration.h"
#include "cli/calibrate/calibrate_write.h"
#include "cli/calibrate/operators_write.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"

/* One machine at work. */
typedef struct job {
    calc_input input;
    calc_system system;
    calc_points points;
    calc_point_calibration calibration;
} job;

static void free_job(job *j)
{
    if (j) {
        calc_text_free(&j->input.text);
        calc_points_free(&j->points);
        calc_point_calibration_free(&j->calibration);
    }
    free(j);
}

static calc_status write_machine(const calc_calibrate_operators_task *t, const job *j,
                                 calc_errors *errors)
{
    char path[CALC_FIND_PATH_MAX];
    calc_output *out;
    calc_calibrate_out_path(t->out, t->machines == 1, j->calibration.machine, path);
    calc_status status = calc_output_open(&out, path, errors);
    if (status != CALC_OK) {
        return status;
    }
    status = calc_point_calibration_write(out, &j->calibration, &j->points, &j->input.text, t->date,
                                          errors);
    if (status != CALC_OK) {
        calc_output_discard(out);
        return status;
    }
    return calc_output_close(out, errors);
}

static calc_status calibrate(const calc_calibrate_operators_task *t, const char *machine, job *j,
                             calc_errors *errors)
{
    calc_status status = calc_input_load(&j->input, CALC_KIND_SYSTEM, &j->system, machine, errors);
    status = status == CALC_OK ? calc_points_read(&j->points, t->operators, errors) : status;
    status =
        status == CALC_OK ? calc_points_select(&j->points, t->rows, &j->system, errors) : status;
    status = status == CALC_OK
                 ? calc_point_calibrate(&j->calibration, &j->points, machine, &j->system, errors)
                 : status;
    return status == CALC_OK && t->out ? write_machine(t, j, errors) : status;
}

static void write_json(calc_output *out, job *const *jobs, size_t count)
{
    calc_put put = calc_put_to(out);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_put_text(&put, "version", CALC_VERSION);
    calc_put_array(&put, "machines", CALC_PUT_LINES);
    for (size_t i = 0; i < count; i++) {
        calc_operators_put(&put, &jobs[i]->calibration, &jobs[i]->points);
    }
    calc_put_close(&put);
    calc_put_end(&put);
}

static void write_tables(calc_output *out, job *const *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        calc_output_text(out, i ? "\n" : "");
        calc_operators_write_table(out, &jobs[i]->calibration, &jobs[i]->points);
    }
}

/* The report goes to `path`. */
static calc_status report(const char *path, job *const *jobs, size_t count, bool json,
                          calc_errors *errors)
{
    calc_output *out;
    calc_status status = calc_output_open(&out, path, errors);
    if (status != CALC_OK) {
        return status;
    }
    (json ? write_json : write_tables)(out, jobs, count);
    return calc_output_close(out, errors);
}

calc_exit calc_calibrate_operators(const calc_calibrate_operators_task *t)
{
    calc_errors errors = {0};
    calc_status status = CALC_OK;
    job **jobs = calloc(t->machines + 1, sizeof(job *));
    size_t count = 0;
    if (!jobs) {
        status = CALC_ERR_NOMEM;
    }
    while (status == CALC_OK && count < t->machines) {
        jobs[count] = calloc(1, sizeof *jobs[count]);
        status =
            jobs[count] ? calibrate(t, t->machine[count], jobs[count], &errors) : CALC_ERR_NOMEM;
        count++;
    }
    if (status == CALC_OK && t->json) {
        status = report(t->json, jobs, count, true, &errors);
    }
    if (status == CALC_OK && !(t->json && strcmp(t->json, "-") == 0)) {
        status = report("-", jobs, count, false, &errors);
    }
    for (size_t i = 0; i < count; i++) {
        free_job(jobs[i]);
    }
    free(jobs);
    if (status == CALC_ERR_NOMEM && errors.count == 0) {
        calc_errors_add(&errors, status, CALC_KIND_NONE, NULL, NULL, "%s",
                        calc_status_text(status));
    }
    return status == CALC_OK ? CALC_EXIT_OK : calc_complain_errors(&errors);
}
