/* Tables of columns: cells become members by their type, and what is wrong is said with its place.
 */
#include "io/csv_table.h"

#include "base/error.h"
#include "frame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum animal { CAT, DOG, ANIMALS } animal;

typedef struct row {
    const char *name, *note, *size;
    double weight_kg, age;
    int legs, line;
    bool wild;
    animal kind;
} row;

static const char *const kinds[] = {"cat", "dog", NULL};
static const char *const sizes[] = {"small", "large", "huge", NULL};
static const char *const where[] = {"home", "wild", NULL};

static const calc_csv_column columns[] = {
    {CALC_CSV_MEMBER(row, line)},
    {.name = "name", .also = "called", CALC_CSV_MEMBER(row, name)},
    {.name = "size", CALC_CSV_MEMBER(row, size), .words = sizes},
    {.name = "weight", CALC_CSV_MEMBER(row, weight_kg), .lo = 1, .hi = 1e9},
    {.name = "age", CALC_CSV_MEMBER(row, age), .flags = CALC_CSV_BLANK},
    {.name = "legs", CALC_CSV_MEMBER(row, legs), .lo = -4, .hi = HUGE_VAL},
    {.name = "place", CALC_CSV_MEMBER(row, wild), .words = where},
    {.name = "kind", CALC_CSV_MEMBER(row, kind), .words = kinds},
    {.name = "note", CALC_CSV_MEMBER(row, note), .flags = CALC_CSV_OPTIONAL},
};

static const calc_csv_table table = CALC_CSV_TABLE(columns, row, "a list of animals");

#define HEAD "name,size,weight,age,legs,place,kind\n"
#define GOOD "Tom,small,4.5,3,4,home,cat\n"

static calc_csv_rows rows;
static calc_errors errors;

static calc_status parse(const char *csv)
{
    errors = (calc_errors){0};
    free(rows.item);
    calc_text_free(&rows.text);
    calc_text text = {strdup(csv), strlen(csv)};
    return calc_csv_table_parse(&rows, &table, text, "animals.csv", &errors);
}

static const row *at(size_t index)
{
    ck_assert_uint_lt(index, rows.count);
    return (const row *)rows.item + index;
}

static void leave(void)
{
    free(rows.item);
    calc_text_free(&rows.text);
    rows = (calc_csv_rows){0};
}

const calc_test_frame calc_tests = {.teardown = leave};

/* The only error, as people see it. */
static void says(const char *csv, calc_status status, const char *text)
{
    char shown[512];
    ck_assert_int_eq(parse(csv), status);
    ck_assert_int_eq(errors.count, 1);
    calc_error_print(&errors.item[0], shown, sizeof shown);
    ck_assert_str_eq(shown, text);
}

CALC_TEST(cells_become_members_by_their_type)
{
    ck_assert_int_eq(parse("kind,colour,age,place,legs,weight,size,called\n"
                           "dog,red, ,wild,-4, 1 ,huge,\"Rex, \"\"the\"\" first\"\n\n"
                           "cat,,-2.5,home,4,1e9,small,\n"),
                     CALC_OK);
    ck_assert_uint_eq(rows.count, 2);
    const row *dog = at(0), *cat = at(1);
    ck_assert_str_eq(dog->name, "Rex, \"the\" first");
    ck_assert_str_eq(dog->size, "huge");
    ck_assert(dog->weight_kg == 1 && isnan(dog->age) && dog->legs == -4);
    ck_assert(dog->wild && dog->kind == DOG && dog->line == 2);
    ck_assert(cat->weight_kg == 1e9 && cat->age == -2.5 && cat->legs == 4);
    ck_assert(!cat->wild && cat->kind == CAT && cat->line == 4);
    ck_assert_str_eq(cat->name, "");
    ck_assert_str_eq(cat->note, ""); /* there is no such column */
}

CALC_TEST(a_column_by_its_name_comes_before_one_by_another)
{
    ck_assert_int_eq(parse("called,name,size,weight,age,legs,place,kind,note\n"
                           "one,two,small,4.5,3,4,home,cat,purrs\n"),
                     CALC_OK);
    ck_assert_str_eq(at(0)->name, "two");
    ck_assert_str_eq(at(0)->note, "purrs");
}

CALC_TEST(columns_that_are_missing_or_there_twice_are_named)
{
    says("name,size,weight,age,legs,place\n", CALC_ERR_FIELD,
         "animals.csv:1: column \"kind\" is missing\n  hint: a list of animals");
    says("\nname,size,wieght,age,legs,place,kind\n", CALC_ERR_FIELD,
         "animals.csv:2: column \"weight\" is missing\n  hint: the first row has \"wieght\"");
    /* what another column is called is not what was meant */
    says("note,size,weight,age,legs,place,kind\n", CALC_ERR_FIELD,
         "animals.csv:1: column \"name\" is missing\n  hint: a list of animals");
    says("name,size,weight,age,legs,place,kind,size\n", CALC_ERR_FIELD,
         "animals.csv:1:38: column \"size\" is there twice");
    ck_assert_int_eq(parse("name\n"), CALC_ERR_FIELD);
    ck_assert_int_eq(errors.count, 6);
    ck_assert_str_eq(errors.item[0].hint, "a list of animals"); /* once is enough */
    ck_assert_str_eq(errors.item[1].hint, "");
    ck_assert_int_eq(parse(""), CALC_ERR_FIELD);
    ck_assert_int_eq(errors.count, 7);
    ck_assert_int_eq(parse(HEAD), CALC_OK);
    ck_assert_uint_eq(rows.count, 0);
}

CALC_TEST(cells_that_are_wrong_are_shown_with_what_is_allowed)
{
    says(HEAD "Tom,tiny,4.5,3,4,home,cat\n", CALC_ERR_TYPE,
         "animals.csv:2:5: size: expected small, large or huge, found \"tiny\"");
    says(HEAD "Tom,tiny,4.5,3,4,home,cow\n", CALC_ERR_TYPE, /* the first of two */
         "animals.csv:2:5: size: expected small, large or huge, found \"tiny\"");
    says(HEAD "Tom,small,0.99,3,4,home,cat\n", CALC_ERR_TYPE,
         "animals.csv:2:11: weight: expected a number from 1 to 1e9, found \"0.99\"");
    says(HEAD GOOD "Tom,small,1000000001,3,4,home,cat\n", CALC_ERR_TYPE,
         "animals.csv:3:11: weight: expected a number from 1 to 1e9, found \"1000000001\"");
    says(HEAD "Tom,small,,3,4,home,cat\n", CALC_ERR_TYPE,
         "animals.csv:2:11: weight: expected a number from 1 to 1e9, found \"\"");
    says(HEAD "Tom,small,4.5,3y,4,home,cat\n", CALC_ERR_TYPE,
         "animals.csv:2:15: age: expected a number, found \"3y\"\n"
         "  hint: leave it blank if it is not known");
    says(HEAD "Tom,small,4.5,inf,4,home,cat\n", CALC_ERR_TYPE,
         "animals.csv:2:15: age: expected a number, found \"inf\"\n"
         "  hint: leave it blank if it is not known");
    says(HEAD "Tom,small,4.5,3,3.5,home,cat\n", CALC_ERR_TYPE,
         "animals.csv:2:17: legs: expected a whole number of -4 or more, found \"3.5\"");
    says(HEAD "Tom,small,4.5,3,-5,home,cat\n", CALC_ERR_TYPE,
         "animals.csv:2:17: legs: expected a whole number of -4 or more, found \"-5\"");
    says(HEAD "Tom,small,4.5,3,4,zoo,cat\n", CALC_ERR_TYPE,
         "animals.csv:2:19: place: expected home or wild, found \"zoo\"");
    says(HEAD "Tom,small,4.5,3,4,home,\"a\tcow\"\n", CALC_ERR_TYPE,
         "animals.csv:2:25: kind: expected cat or dog, found \"a\\x09cow\"");
}

CALC_TEST(rows_have_the_cells_that_the_first_row_names)
{
    says(HEAD "Tom,small,4.5\n", CALC_ERR_FIELD,
         "animals.csv:2: the row has 3 cells, \"age\" is the 4. column\n"
         "  hint: a list of animals");
    says(HEAD "Tom, the cat,small,4.5,3,4,home,cat\n", CALC_ERR_FIELD,
         "animals.csv:2:33: the row has 8 cells, the first has 7\n"
         "  hint: a text with a comma stands in quotes");
    says(HEAD "\"Tom\n", CALC_ERR_SYNTAX,
         "animals.csv:2: the quote that starts a cell here has no end");
}

CALC_TEST(all_rows_are_read_and_each_that_is_wrong_is_reported)
{
    enum { ROWS = 1000 };
    static char csv[ROWS * sizeof GOOD + sizeof HEAD];
    strcpy(csv, HEAD);
    for (int i = 0; i < ROWS; i++) {
        strcat(csv, i % 300 == 299 ? "Tom,wrong,4.5,3,no,home,cat\n" : GOOD);
    }
    ck_assert_int_eq(parse(csv), CALC_ERR_TYPE);
    ck_assert_int_eq(errors.count, 3);
    ck_assert_int_eq(errors.item[0].line, 301);
    ck_assert_int_eq(errors.item[2].line, 901);
    ck_assert_uint_eq(rows.count, ROWS - 3);
    ck_assert_int_eq(at(299)->line, 302);
    ck_assert_int_eq(at(ROWS - 4)->line, 1001);
}

CALC_TEST(a_file_that_does_not_exist_is_named)
{
    calc_csv_rows none;
    errors = (calc_errors){0};
    ck_assert_int_eq(calc_csv_table_read(&none, &table, "no/such.csv", &errors),
                     CALC_ERR_NOT_FOUND);
    ck_assert_str_eq(errors.item[0].file, "no/such.csv");
    ck_assert_ptr_null(none.item);
}

/* Refuses cats, and takes the cell of a column that the table does not know. */
static calc_status finish(void *context, void *item, const calc_csv_row *from, calc_errors *found)
{
    row *r = item;
    *(int *)context += from->line;
    ck_assert_int_eq(from->titles, 8);
    ck_assert_str_eq(from->title[7], "owner");
    ck_assert_int_eq(from->cells, r->kind == 0 ? 8 : 7);
    if (r->kind == 0) {
        return calc_errors_at(found, CALC_ERR_RULE, from->reader->name, from->line,
                              calc_csv_read_column(from->reader, from->cell[7]), NULL, "%s has it",
                              from->cell[7]);
    }
    r->age = 99;
    return CALC_OK;
}

CALC_TEST(a_row_is_finished_with_the_cells_of_columns_that_are_not_known)
{
    int lines = 0;
    calc_csv_table more = table;
    more.finish = finish;
    more.context = &lines;
    errors = (calc_errors){0};
    free(rows.item);
    calc_text_free(&rows.text);
    static const char csv[] = "name,size,weight,age,legs,place,kind,owner\n"
                              "Rex,small,4.5,3,4,home,dog\n"
                              "Tom,small,4.5,3,4,home,cat,Eve\n"
                              "Kim,small,4.5,3,4,home,dog\n";
    calc_text text = {strdup(csv), strlen(csv)};
    ck_assert_int_eq(calc_csv_table_parse(&rows, &more, text, "animals.csv", &errors),
                     CALC_ERR_RULE);
    ck_assert_uint_eq(rows.count, 2);
    ck_assert_str_eq(at(1)->name, "Kim");
    ck_assert(at(0)->age == 99 && lines == 2 + 3 + 4);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_int_eq(errors.item[0].line, 3);
    ck_assert_int_eq(errors.item[0].column, 28);
    ck_assert_str_eq(errors.item[0].text, "Eve has it");
}
