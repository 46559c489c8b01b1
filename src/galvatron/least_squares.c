#include "galvatron/least_squares.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { TERMS = 3 };

/* Solves by elimination with row pivoting. */
static void solve(double a[TERMS][TERMS + 1], int terms)
{
    for (int c = 0; c < terms; c++) {
        int pivot = c;
        for (int r = c + 1; r < terms; r++) {
            pivot = fabs(a[r][c]) > fabs(a[pivot][c]) ? r : pivot;
        }
        for (int k = 0; k <= TERMS; k++) {
            double kept = a[c][k];
            a[c][k] = a[pivot][k];
            a[pivot][k] = kept;
        }
        for (int r = 0; r < terms && a[c][c] != 0; r++) {
            double factor = r == c ? 0 : a[r][c] / a[c][c];
            for (int k = c; k <= TERMS; k++) {
                a[r][k] -= factor * a[c][k];
            }
        }
    }
}

/* x is shifted and scaled to about one, so that its powers keep all digits. */
void calc_galvatron_polynomial(const double *x, const double *y, size_t count, int degree,
                               double *out)
{
    double a[TERMS][TERMS + 1] = {{0}};
    double centre = 0, width = 0, scaled[TERMS] = {0};
    assert(degree == 1 || degree == 2);
    for (size_t i = 0; i < count; i++) {
        centre += x[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        width = fmax(width, fabs(x[i] - centre));
    }
    width = width > 0 ? width : 1;
    for (size_t i = 0; i < count; i++) {
        double power[TERMS] = {1, (x[i] - centre) / width, 0};
        power[2] = power[1] * power[1];
        for (int r = 0; r <= degree; r++) {
            for (int c = 0; c <= degree; c++) {
                a[r][c] += power[r] * power[c];
            }
            a[r][TERMS] += power[r] * y[i];
        }
    }
    solve(a, degree + 1);
    for (int r = 0; r <= degree; r++) {
        scaled[r] = a[r][r] != 0 ? a[r][TERMS] / a[r][r] : 0;
    }
    double slope = scaled[1] / width, bend = scaled[2] / width / width;
    double terms[TERMS] = {scaled[0] - slope * centre + bend * centre * centre,
                           slope - 2 * bend * centre, bend};
    memcpy(out, terms, sizeof terms[0] * (size_t)(degree + 1));
}

enum { MARQUARDT_TERMS = 3, POINTS = 256, MOST_ROUNDS = 200 };

/* MINPACK's rounding of a double, SciPy's tolerances, and the first trust radius relative to the
 * start. */
static const double ROUNDING = 2.22044604926e-16, TOLERANCE = 1.49012e-8, RADIUS = 100;

typedef struct fitter {
    const double *x, *y;
    size_t count;
    int terms;
    double p[MARQUARDT_TERMS]; /* the highest power first */
    double f[POINTS], norm;
    double a[MARQUARDT_TERMS]
            [POINTS];                 /* columns: derivatives, then reflections, and above them R */
    int column[MARQUARDT_TERMS];      /* of the unknown, by that of R */
    double diagonal[MARQUARDT_TERMS]; /* of R */
    double length[MARQUARDT_TERMS];   /* of the columns as they were */
    double scale[MARQUARDT_TERMS];
    double q[MARQUARDT_TERMS]; /* residuals, turned */
    double radius;
} fitter;

static double length_of(const double *v, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += v[i] * v[i];
    }
    return sqrt(sum);
}

static double scaled_length(const fitter *s, const double *v)
{
    double scaled[MARQUARDT_TERMS];
    for (int j = 0; j < s->terms; j++) {
        scaled[j] = s->scale[j] * v[j];
    }
    return length_of(scaled, (size_t)s->terms);
}

static void residuals(const fitter *s, const double *p, double *out)
{
    for (size_t i = 0; i < s->count; i++) {
        double x = s->x[i];
        double value = s->terms == 2 ? p[0] * x + p[1] : p[0] * x * x + p[1] * x + p[2];
        out[i] = value - s->y[i];
    }
}

static void differentiate(fitter *s)
{
    double eps = sqrt(ROUNDING);
    for (int j = 0; j < s->terms; j++) {
        double kept = s->p[j];
        double h = eps * fabs(kept);
        h = h == 0 ? eps : h;
        s->p[j] = kept + h;
        residuals(s, s->p, s->a[j]);
        s->p[j] = kept;
        for (size_t i = 0; i < s->count; i++) {
            s->a[j][i] = (s->a[j][i] - s->f[i]) / h;
        }
    }
}

static void swap_columns(fitter *s, int j, int k)
{
    double kept[POINTS];
    memcpy(kept, s->a[j], sizeof kept);
    memcpy(s->a[j], s->a[k], sizeof kept);
    memcpy(s->a[k], kept, sizeof kept);
    int column = s->column[j];
    s->column[j] = s->column[k];
    s->column[k] = column;
}

/* Applies a reflection to the columns after it. */
static void reflect(fitter *s, int j, int k, double *left, double *length)
{
    double sum = 0;
    for (size_t i = (size_t)j; i < s->count; i++) {
        sum += s->a[j][i] * s->a[k][i];
    }
    double share = sum / s->a[j][j];
    for (size_t i = (size_t)j; i < s->count; i++) {
        s->a[k][i] -= share * s->a[j][i];
    }
    if (left[k] == 0) {
        return;
    }
    share = s->a[k][j] / left[k];
    left[k] *= sqrt(fmax(0, 1 - share * share));
    double ratio = left[k] / length[k];
    if (0.05 * (ratio * ratio) <= ROUNDING) {
        left[k] = length_of(&s->a[k][j + 1], s->count - (size_t)j - 1);
        length[k] = left[k];
    }
}

/* Householder reflections; the longest remaining column comes first. */
static void factor(fitter *s)
{
    double left[MARQUARDT_TERMS], length[MARQUARDT_TERMS];
    for (int j = 0; j < s->terms; j++) {
        s->column[j] = j;
        left[j] = length[j] = s->length[j] = length_of(s->a[j], s->count);
    }
    for (int j = 0; j < s->terms; j++) {
        int longest = j;
        for (int k = j; k < s->terms; k++) {
            longest = left[k] > left[longest] ? k : longest;
        }
        if (longest != j) {
            swap_columns(s, j, longest);
            left[longest] = left[j];
            length[longest] = length[j];
        }
        double norm = length_of(&s->a[j][j], s->count - (size_t)j);
        norm = s->a[j][j] < 0 ? -norm : norm;
        for (size_t i = (size_t)j; i < s->count && norm != 0; i++) {
            s->a[j][i] /= norm;
        }
        if (norm != 0) {
            s->a[j][j] += 1;
            for (int k = j + 1; k < s->terms; k++) {
                reflect(s, j, k, left, length);
            }
        }
        s->diagonal[j] = -norm;
    }
}

/* Applies the same reflections to the residuals; R is then in place. */
static void turn(fitter *s)
{
    double f[POINTS] = {0};
    memcpy(f, s->f, s->count * sizeof *f);
    for (int j = 0; j < s->terms; j++) {
        double sum = 0;
        for (size_t i = (size_t)j; i < s->count && s->a[j][j] != 0; i++) {
            sum += s->a[j][i] * f[i];
        }
        double share = s->a[j][j] != 0 ? -sum / s->a[j][j] : 0;
        for (size_t i = (size_t)j; i < s->count && s->a[j][j] != 0; i++) {
            f[i] += s->a[j][i] * share;
        }
        s->a[j][j] = s->diagonal[j];
        s->q[j] = f[j];
    }
}

/* The Gauss-Newton step. @return false if R has no inverse */
static bool step_of(const fitter *s, double *step)
{
    double w[MARQUARDT_TERMS];
    memcpy(w, s->q, sizeof w);
    for (int j = s->terms - 1; j >= 0; j--) {
        if (s->a[j][j] == 0) {
            return false;
        }
        w[j] /= s->a[j][j];
        for (int i = 0; i < j; i++) {
            w[i] -= s->a[j][i] * w[j];
        }
    }
    for (int j = 0; j < s->terms; j++) {
        step[s->column[j]] = -w[j];
    }
    return true;
}

/* Predicted decrease of the squared residuals by the linear model, as a share. */
static double promised(const fitter *s, const double *step)
{
    double w[MARQUARDT_TERMS] = {0};
    for (int j = 0; j < s->terms; j++) {
        for (int i = 0; i <= j; i++) {
            w[i] += s->a[j][i] * step[s->column[j]];
        }
    }
    double share = length_of(w, (size_t)s->terms) / s->norm;
    return share * share;
}

static void set_radius(fitter *s, double actual, double expected, double length, double norm)
{
    double ratio = expected != 0 ? actual / expected : 0;
    if (ratio > 0.25) {
        s->radius = length / 0.5;
        return;
    }
    double share = actual >= 0 ? 0.5 : 0.5 * -expected / (-expected + 0.5 * actual);
    share = 0.1 * norm >= s->norm || share < 0.1 ? 0.1 : share;
    s->radius = share * fmin(s->radius, length / 0.1);
}

typedef enum outcome { BETTER, WORSE, DONE, BOUND /* limited by the trust region */ } outcome;

/* One step. */
static outcome improve(fitter *s, bool first)
{
    double step[MARQUARDT_TERMS] = {0}, next[MARQUARDT_TERMS] = {0}, f[POINTS];
    if (!step_of(s, step)) {
        return BOUND;
    }
    double length = scaled_length(s, step);
    if (length - s->radius > 0.1 * s->radius) {
        return BOUND;
    }
    s->radius = first ? fmin(s->radius, length) : s->radius;
    for (int j = 0; j < s->terms; j++) {
        next[j] = s->p[j] + step[j];
    }
    residuals(s, next, f);
    double norm = length_of(f, s->count);
    double share = norm / s->norm;
    double actual = 0.1 * norm < s->norm ? 1 - share * share : -1;
    double expected = promised(s, step);
    double ratio = expected != 0 ? actual / expected : 0;
    set_radius(s, actual, expected, length, norm);
    double at = scaled_length(s, s->p);
    bool better = ratio >= 1e-4;
    if (better) {
        memcpy(s->p, next, sizeof next);
        memcpy(s->f, f, s->count * sizeof *f);
        s->norm = norm;
        at = scaled_length(s, next);
    }
    bool converged = fabs(actual) <= TOLERANCE && expected <= TOLERANCE && 0.5 * ratio <= 1;
    if (converged || s->radius <= TOLERANCE * at) {
        return DONE;
    }
    return better ? BETTER : WORSE;
}

/* @return false if the closed form must be used */
static bool run(fitter *s)
{
    residuals(s, s->p, s->f);
    s->norm = length_of(s->f, s->count);
    for (int round = 0; round < MOST_ROUNDS && s->norm > 0; round++) {
        differentiate(s);
        factor(s);
        for (int j = 0; j < s->terms; j++) {
            s->scale[j] = fmax(s->scale[j], s->length[j]);
        }
        if (round == 0) {
            s->radius = RADIUS * scaled_length(s, s->p);
        }
        turn(s);
        outcome found = improve(s, round == 0);
        while (found == WORSE) {
            found = improve(s, round == 0);
        }
        if (found != BETTER) {
            return found == DONE;
        }
    }
    return true;
}

void calc_galvatron_fit(const double *x, const double *y, size_t count, int degree, double *out)
{
    fitter s = {.x = x, .y = y, .count = count, .terms = degree + 1, .p = {1, 1, 1}};
    if (count > POINTS || count <= (size_t)degree || !run(&s)) {
        calc_galvatron_polynomial(x, y, count, degree, out);
        return;
    }
    for (int power = 0; power <= degree; power++) {
        out[power] = s.p[degree - power];
    }
}
