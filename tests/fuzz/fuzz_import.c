/* The first byte chooses the framework, or Hugging Face; the rest is its file. */
#include "fuzz_answer.h"

#include "formats/hf.h"
#include "formats/import.h"

static void ignore(void *context, const char *key)
{
    (void)context;
    MUST(key);
}

static void hear(void *context, const char *key, calc_unread what, const char *assumed)
{
    (void)context;
    MUST((key || assumed) && what <= CALC_UNREAD_COMPUTED);
}

/* What is read can be written and read again. */
static void check_saved(calc_kind kind, const void *object)
{
    static char text[1 << 16];
    static union {
        calc_app app;
        calc_exec exec;
    } again;
    size_t length = fuzz_save(kind, object, text, sizeof text);
    MUST(sizeof again >= calc_table_of(kind)->size);
    MUST(calc_parse(kind, &again, text, length, "saved", NULL) == CALC_OK);
}

static void check_hf(const char *text, size_t length)
{
    const calc_hf hf = {.name = "input", .tell = ignore};
    calc_errors errors = {0};
    calc_app app;
    calc_status status = calc_hf_read_text(&hf, text, length, &app, &errors);
    if (status != CALC_OK) {
        fuzz_check_errors(&errors, status, false);
    } else {
        check_saved(CALC_KIND_APP, &app);
        fuzz_answer(&app, NULL, NULL);
    }
}

/* The digit of a framework in the list; for other letters its keys say which it is. */
static const calc_framework *framework_of(char letter)
{
    const calc_framework *const *list = calc_framework_all;
    for (int i = 0; list[i]; i++) {
        if (letter == '0' + i) {
            return list[i];
        }
    }
    return NULL;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const char *text = (const char *)data + 1;
    if (data[0] == 'h') {
        check_hf(text, size - 1);
        return 0;
    }
    calc_settings settings = {0};
    calc_errors errors = {0};
    calc_app app;
    calc_exec exec;
    calc_import import = {.framework = framework_of((char)data[0]),
                          .settings = &settings,
                          .name = "input",
                          .unread = hear};
    calc_status status =
        calc_detect(&import.framework, text, size - 1, import.name, &settings, &errors);
    status = status == CALC_OK ? calc_import_run(&import, &app, &exec, &errors) : status;
    if (status != CALC_OK) {
        fuzz_check_errors(&errors, status, false);
    } else {
        check_saved(CALC_KIND_EXEC, &exec);
        if (calc_import_complete(&import, &app, &errors) == CALC_OK) {
            check_saved(CALC_KIND_APP, &app);
            fuzz_answer(&app, NULL, &exec);
        }
    }
    calc_settings_free(&settings);
    return 0;
}
