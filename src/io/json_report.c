#include "io/json_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t calc_json_report_enter(calc_json_report *report, const char *key)
{
    size_t mark = strlen(report->pointer);
    size_t used = mark;
    size_t room = sizeof report->pointer - 1;
    /* Keys of the tables always fit; an unknown one may be cut, its place is found by its number.
     * Behind a cut one there may be no room for anything. */
    if (used < room) {
        report->pointer[used++] = '/';
    }
    for (; *key && used + 2 <= room; key++) {
        bool escape = *key == '~' || *key == '/';
        if (escape) {
            report->pointer[used++] = '~';
        }
        report->pointer[used++] = *key == '~' ? '0' : *key == '/' ? '1' : *key;
    }
    report->pointer[used] = '\0';
    return mark;
}

size_t calc_json_report_enter_index(calc_json_report *report, size_t index)
{
    char word[24];
    snprintf(word, sizeof word, "%zu", index);
    return calc_json_report_enter(report, word);
}

void calc_json_report_leave(calc_json_report *report, size_t mark)
{
    report->pointer[mark] = '\0';
}

static void place(calc_json_report *report, calc_json_place where)
{
    calc_error *error = &report->found.item[report->found.count - 1];
    calc_error_place(error, report->name, where.line, where.column);
}

calc_status calc_json_report_add(calc_json_report *report, calc_status status, int member,
                                 const char *hint, const char *fmt, ...)
{
    if (report->found.count == CALC_MAX_ERRORS) {
        report->found.dropped++;
        return status;
    }
    char text[sizeof report->found.item->text];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    calc_errors_add(&report->found, status, report->kind, report->pointer, hint, "%s", text);
    calc_json_place where = {0, 0};
    if (report->text) {
        char pointer[sizeof report->pointer];
        memcpy(pointer, report->pointer, sizeof pointer);
        if (member != CALC_JSON_VALUE) {
            *strrchr(pointer, '/') = '\0'; /* the object that has the key */
        }
        calc_json_locate(report->text, report->length, pointer, member, &where);
    }
    place(report, where);
    return status;
}

calc_status calc_json_report_add_at(calc_json_report *report, calc_status status, size_t offset,
                                    const char *hint, const char *fmt, ...)
{
    char text[sizeof report->found.item->text];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    calc_json_place where = {0, 0};
    if (report->text) {
        where = calc_json_scan_place(report->text, report->length, offset);
    }
    calc_errors_add(&report->found, status, report->kind, NULL, hint, "%s", text);
    place(report, where);
    return status;
}

static bool is_before(const calc_error *a, const calc_error *b)
{
    return a->line != b->line ? a->line < b->line : a->column < b->column;
}

calc_status calc_json_report_close(calc_json_report *report, calc_errors *errors)
{
    calc_errors *found = &report->found;
    for (int i = 1; i < found->count; i++) {
        calc_error moved = found->item[i];
        int to = i;
        for (; to > 0 && is_before(&moved, &found->item[to - 1]); to--) {
            found->item[to] = found->item[to - 1];
        }
        found->item[to] = moved;
    }
    for (int i = 0; errors && i < found->count; i++) {
        if (errors->count < CALC_MAX_ERRORS) {
            errors->item[errors->count++] = found->item[i];
        } else {
            errors->dropped++;
        }
    }
    if (errors) {
        errors->dropped += found->dropped;
    }
    return calc_errors_first(found);
}
