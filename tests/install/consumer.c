/* A program as a user of the installed library writes it. usage: consumer SHARE */
#include <calc.h>

#include <stdio.h>

static int load(calc_kind kind, void *object, const char *share, const char *name)
{
    char path[1024];
    calc_errors errors = {0};
    snprintf(path, sizeof path, "%s/%s.json", share, name);
    if (calc_load(kind, object, path, &errors) != CALC_OK) {
        char text[1024];
        calc_error_print(&errors.item[0], text, sizeof text);
        fprintf(stderr, "%s\n", text);
        return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    calc_app app;
    calc_system system;
    calc_exec exec;
    calc_stats stats;
    calc_errors errors = {0};
    if (argc != 2 || !load(CALC_KIND_APP, &app, argv[1], "models/gpt3-175B") ||
        !load(CALC_KIND_SYSTEM, &system, argv[1], "systems/a100_80g") ||
        !load(CALC_KIND_EXEC, &exec, argv[1], "executions/3072_t4_p64_d12_mbs4_full") ||
        calc_check(&app, &system, &exec, &errors) != CALC_OK ||
        calc_run(&app, &system, &exec, CALC_COMPAT_NONE, &stats) != CALC_VERDICT_OK) {
        return 1;
    }
    printf("calc %s: %.9g\n", CALC_VERSION, stats.total_time);
    return 0;
}
