/** @file field.h  The tables of fields, and fields found by name. Public part: calc.h. */
#ifndef CALC_SPEC_FIELD_H
#define CALC_SPEC_FIELD_H

#include "calc.h"

/** Texts of the datatypes, in enum order, NULL at the end. */
extern const char *const *const calc_datatype_names;
/** Texts of the kinds of memory and of networks, likewise. */
extern const char *const *const calc_memory_kind_names;
extern const char *const *const calc_network_kind_names;
/** Texts of the pipeline schedules, likewise. */
extern const char *const *const calc_pipeline_schedule_names;

/** Texts of the types of parts, likewise. */
extern const char *const *const calc_part_type_names;

/** The rows of calc_part: its type, and the fields of a model that its parts may change. */
const calc_table *calc_part_table(void);

/** The rows of calc_job and of calc_job_role (job.h). */
const calc_table *calc_job_table(void);
const calc_table *calc_job_role_table(void);

/** The rows of the document of a serving engine: its traits and calc/serving_engine.fields.h. */
const calc_table *calc_serving_engine_table(void);

/** Row whose key is `key`, or another name of it (alias.h); NULL if none. */
const calc_field *calc_table_find(const calc_table *table, const char *key);

/** As calc_field_find() of calc.h, in any table.
 *  @param kind  what *out names as its kind */
calc_status calc_field_find_in(const calc_table *table, calc_kind kind, const char *path,
                               calc_field_ref *out);

/** Index of `text`, or what it is another word for, in `choices` (NULL at the end); -1 if it is not
 *  one. */
int calc_choice_index(const char *const *choices, const char *text);

/** How many there are. */
size_t calc_choices_count(const char *const *choices);

/** Choices as a list: "multihead, multiquery, flash". @return buffer */
char *calc_choices_text(const char *const *choices, char *buffer, size_t size);
#define CALC_CHOICES(choices) calc_choices_text(choices, (char[320]){""}, 320)

/** Whether a number in file units is in the range of an INT or REAL field. */
bool calc_field_in_range(const calc_field *field, double number);

/** Expected values, for a number out of range: "1 to 8", "more than 0 GB/s". Only the broken limit
 *  is named if the other is a guard against typing errors. @return buffer */
char *calc_field_range_text(const calc_field *field, double number, char *buffer, size_t size);

/** Scale from file units to SI units; never 0. */
double calc_field_scale(const calc_field *field);

/** Number of an INT, REAL, BOOL, ENUM or SET member, in file units; NaN for other types. */
double calc_member_number(const calc_field *field, const void *member);

/** Whether such a member holds a value that a file may give it, or that of an absent key; true for
 *  other types. */
bool calc_member_allowed(const calc_field *field, const void *member);

/** Whether a whole number of an object, or of a part of a model's layers, is out of its range: one
 *  that was derived, or that nothing gave.
 *  @param zero  0 stands for what was not given
 *  @param text  filled with "hidden would be 0, expected at least 1" */
bool calc_misfit(calc_kind kind, const void *object, bool zero, char *text, size_t size);

/** Set such a member from a number in file units; others stay as they are. */
void calc_member_set(const calc_field *field, void *member, double number);

/** The kind up to `last` that a name like "exe.tensor_par" begins with, and *path behind it;
 *  CALC_KIND_NONE if there is no such prefix. */
calc_kind calc_kind_split(const char **path, calc_kind last);

/** "networks[0].size" as the JSON pointer "/networks/0/size"; text that does not fit is cut off. */
void calc_path_pointer(const char *path, char *pointer, size_t size);

/** Shortest text of 15 to 17 digits that reads back to exactly `value` (as strtod(text) * scale;
 * pass 1 for none). Integral values below 2^53 have no point or exponent. Infinite and NaN give
 * "null".
 *  @param buffer  filled, at least 32 bytes
 *  @return buffer */
char *calc_number_text(double value, double scale, char *buffer);
#define CALC_NUMBER(value) calc_number_text(value, 1, (char[32]){""})

/* Every field of a table, however deep, with its path. */

/** @param path  as --set takes it from the root of the struct; "networks[N].size" for the elements
 *                of a list, "matrix.DATATYPE.tflops" for those of a map. Valid during the call */
typedef void calc_field_visitor(void *context, const char *path, const calc_field *field);

/** Visit the fields that have no table of their own, in the order of the rows. */
void calc_field_each(const calc_table *table, calc_field_visitor *visit, void *context);

/* Whether two documents have the same content, whatever their file names. */

/** Whether two objects have the same values in all rows of a table. Notes and unused elements of
 *  curves and lists do not count. */
bool calc_same(const calc_table *table, const void *a, const void *b);

/** Whether they have the same value in one row. */
bool calc_same_row(const calc_field *field, const void *a, const void *b);

/** Whether a field is one value: a number, a choice, a set of them, true or false. */
static inline bool calc_field_is_single(const calc_field *field)
{
    return field->type <= CALC_TYPE_SET;
}

#endif
