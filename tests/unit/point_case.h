/** @file point_case.h  Files of measured operators, made by the test. */
#ifndef CALC_TESTS_POINT_CASE_H
#define CALC_TESTS_POINT_CASE_H

#include "calibrate/points.h"

#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINT_CSV_SIZE = 1 << 17 };

static char point_csv[POINT_CSV_SIZE];
static calc_points points;
static calc_errors errors;

/* The columns, then rows added with put(). */
static inline void start_csv(void)
{
    snprintf(point_csv, sizeof point_csv, "system,op,dtype,shape,metric,value,unit\n");
}

static inline void put(const char *fmt, ...) CALC_PRINTF(1, 2);
static inline void put(const char *fmt, ...)
{
    size_t used = strlen(point_csv);
    va_list list;
    va_start(list, fmt);
    vsnprintf(point_csv + used, sizeof point_csv - used, fmt, list);
    va_end(list);
    ck_assert_uint_lt(strlen(point_csv) + 1, sizeof point_csv);
}

static inline calc_status parse(const char *csv)
{
    errors = (calc_errors){0};
    calc_points_free(&points);
    calc_text text = {.data = strdup(csv), .length = strlen(csv)};
    return calc_points_parse(&points, text, "o.csv", &errors);
}

/* The only row of a file of one. */
static inline const calc_point *only(const char *row)
{
    start_csv();
    put("%s\n", row);
    ck_assert_int_eq(parse(point_csv), CALC_OK);
    ck_assert_uint_eq(points.count, 1);
    return &points.item[0];
}

static inline void leave_points(void)
{
    calc_points_free(&points);
}

static inline calc_system load_system(const char *name)
{
    static calc_system system;
    char path[512];
    calc_errors why = {0};
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/systems/%s.json", name);
    ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &system, path, &why), CALC_OK);
    return system;
}

#endif
