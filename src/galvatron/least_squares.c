#include "galvatron/least_squares.h"

#include <assert.h>
#include <math.h>
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
