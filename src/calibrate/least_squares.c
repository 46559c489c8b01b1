#include "calibrate/least_squares.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_version.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"

/* A problem being solved, with room for the residuals of a neighbour. */
typedef struct solver {
    const calc_least_squares *problem;
    double *at, *here, *there;
} solver;

static int residuals(const gsl_vector *x, void *params, gsl_vector *f)
{
    solver *s = params;
    const calc_least_squares *p = s->problem;
    for (size_t i = 0; i < p->parameters; i++) {
        s->at[i] = gsl_vector_get(x, i);
    }
    p->residuals(p->context, s->at, s->here);
    for (size_t i = 0; i < p->count; i++) {
        if (!isfinite(s->here[i])) {
            return GSL_EBADFUNC;
        }
        gsl_vector_set(f, i, s->here[i]);
    }
    return GSL_SUCCESS;
}

/* Steps of a fixed size: those of the library are relative to x, which may be near 0. */
static int derivatives(const gsl_vector *x, void *params, gsl_matrix *jacobian)
{
    solver *s = params;
    const calc_least_squares *p = s->problem;
    for (size_t i = 0; i < p->parameters; i++) {
        s->at[i] = gsl_vector_get(x, i);
    }
    p->residuals(p->context, s->at, s->here);
    for (size_t k = 0; k < p->parameters; k++) {
        double before = s->at[k];
        s->at[k] = before + p->step;
        p->residuals(p->context, s->at, s->there);
        s->at[k] = before;
        for (size_t i = 0; i < p->count; i++) {
            gsl_matrix_set(jacobian, i, k, (s->there[i] - s->here[i]) / p->step);
        }
    }
    return GSL_SUCCESS;
}

static int solve(solver *s, gsl_multifit_nlinear_workspace *work, double *x, double *error)
{
    const calc_least_squares *p = s->problem;
    gsl_multifit_nlinear_fdf fdf = {
        .f = residuals, .df = derivatives, .n = p->count, .p = p->parameters, .params = s};
    gsl_vector_view start = gsl_vector_view_array(x, p->parameters);
    gsl_matrix *covariance = gsl_matrix_alloc(p->parameters, p->parameters);
    int info;
    int status = covariance ? gsl_multifit_nlinear_init(&start.vector, &fdf, work) : GSL_ENOMEM;
    if (status == GSL_SUCCESS) {
        /* Stopping early, or at a kink without progress, leaves the best point so far. */
        gsl_multifit_nlinear_driver(p->most, 1e-4, 1e-8, 1e-9, NULL, NULL, &info, work);
        status = gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(work), 0, covariance);
    }
    for (size_t i = 0; status == GSL_SUCCESS && i < p->parameters; i++) {
        x[i] = gsl_vector_get(gsl_multifit_nlinear_position(work), i);
        error[i] = sqrt(gsl_matrix_get(covariance, i, i));
    }
    gsl_matrix_free(covariance);
    return status;
}

calc_status calc_least_squares_solve(const calc_least_squares *problem, double *x, double *error,
                                     calc_errors *errors)
{
    if (problem->parameters == 0) {
        return CALC_OK;
    }
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_workspace *work = gsl_multifit_nlinear_alloc(
        gsl_multifit_nlinear_trust, &how, problem->count, problem->parameters);
    double *room = calloc(problem->parameters + 2 * problem->count, sizeof *room);
    int status = GSL_ENOMEM;
    if (work && room) {
        solver s = {problem, room, room + problem->parameters,
                    room + problem->parameters + problem->count};
        status = solve(&s, work, x, error);
    }
    free(room);
    if (work) {
        gsl_multifit_nlinear_free(work);
    }
    gsl_set_error_handler(handler);
    if (status == GSL_SUCCESS) {
        return CALC_OK;
    }
    return status == GSL_ENOMEM ? calc_errors_no_memory(errors)
                                : calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
                                                  "least squares: %s", gsl_strerror(status));
}

double calc_least_squares_soft(double r)
{
    double root = sqrt(2 * (sqrt(1 + r * r) - 1));
    return r < 0 ? -root : root;
}

const char *calc_least_squares_library(void)
{
    return gsl_version;
}
