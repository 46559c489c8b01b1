/* Assembling a page: src/report/page.c. */
#include "scratch.h"

#include "frame.h"
#include "report/page.h"

static char folder[256];
static char text[2 << 20];

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
}

static void leave(void)
{
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

/* A page with this name in its data, in `text`. */
static void write_page(calc_page page, const char *name)
{
    calc_output *out;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_output_open(&out, "page", &errors), CALC_OK);
    calc_put put = calc_page_begin(out, page);
    calc_put_text(&put, "name", name);
    calc_page_end(&put, page);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    FILE *file = fopen("page", "rb");
    ck_assert_ptr_nonnull(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
}

static int count_of(const char *what)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, what)); at++) {
        count++;
    }
    return count;
}

CALC_TEST(nothing_in_the_data_ends_its_element)
{
    write_page(CALC_PAGE_RUN, "</script><!--<b>");
    ck_assert_ptr_nonnull(
        strstr(text, "id=\"calc-data\">\n{\n\"schema\": \"calc-report/1\",\n\"kind\": \"run\",\n"
                     "\"program\": \"calc " CALC_VERSION ", source "));
    ck_assert_ptr_nonnull(
        strstr(text, "\"name\": \"\\u003c/script>\\u003c!--\\u003cb>\"\n}\n</script>"));
}

/* Data, charts, common, figures, and the parts of the page: as many elements as there are ends of
 * them. */
CALC_TEST(elements_are_closed_and_nothing_comes_from_elsewhere)
{
    static const int scripts[] = {[CALC_PAGE_RUN] = 4 + 6,
                                  [CALC_PAGE_PLAN] = 4 + 6 + 2,
                                  [CALC_PAGE_SWEEP] = 4 + 6,
                                  [CALC_PAGE_VALIDATE] = 4 + 1,
                                  [CALC_PAGE_TUNE] = 4 + 1};
    /* Module, catalogue, and the two scripts that use them. */
    const int live = calc_embedded_find(calc_page_list, "module")->length > 0 ? 4 : 0;
    for (int page = CALC_PAGE_RUN; page <= CALC_PAGE_TUNE; page++) {
        bool computes = page <= CALC_PAGE_SWEEP; /* runs, plans and sweeps */
        int count = scripts[page] + (computes ? live : 0);
        write_page((calc_page)page, "");
        ck_assert_ptr_eq(strstr(text, "<!doctype html>"), text);
        ck_assert_int_eq(count_of("</script>"), count);
        ck_assert_int_eq(count_of("<script"), count);
        ck_assert_int_eq(count_of("</style>"), 1);
        ck_assert_int_eq(count_of(" src="), 0);
        ck_assert_int_eq(count_of("default-src 'none'"), 1);
        ck_assert_str_eq(text + strlen(text) - 8, "</html>\n");
    }
}

CALC_TEST(each_page_has_its_own_script)
{
    static const char *const first[] = {[CALC_PAGE_RUN] = "const { run } = data;",
                                        [CALC_PAGE_PLAN] = "const { plan } = data;",
                                        [CALC_PAGE_SWEEP] = "\nfunction sayDesigns() {",
                                        [CALC_PAGE_VALIDATE] = "= data.validate;",
                                        [CALC_PAGE_TUNE] = "const { tune } = data;"};
    for (int page = CALC_PAGE_RUN; page <= CALC_PAGE_TUNE; page++) {
        write_page((calc_page)page, "");
        for (int other = CALC_PAGE_RUN; other <= CALC_PAGE_TUNE; other++) {
            bool own = other == page || (page == CALC_PAGE_PLAN && other == CALC_PAGE_RUN);
            ck_assert_int_eq(count_of(first[other]), own);
        }
    }
}

CALC_TEST(without_charts_it_says_how_to_get_them)
{
    calc_errors errors = {0};
    calc_status status = calc_page_check(&errors);
    if (calc_embedded_find(calc_page_list, "charts")->length > 0) {
        ck_assert_int_eq(status, CALC_OK);
        ck_assert_int_eq(errors.count, 0);
    } else {
        ck_assert_int_eq(status, CALC_ERR_UNSUPPORTED);
        ck_assert_str_eq(errors.item[0].text,
                         "--html: this calc was built without the library of charts, D3");
        ck_assert_ptr_nonnull(strstr(errors.item[0].hint, "node-d3"));
    }
}
