#include "shipped.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec/absent.h"

enum { NAME_SIZE = 128 };

static void load(calc_kind kind, void *object, const char *folder, const char *name)
{
    char path[512], text[512] = "";
    calc_errors errors = {0};
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/%s/%s.json", folder, name);
    calc_status status = calc_load(kind, object, path, &errors);
    if (errors.count > 0) {
        calc_error_print(&errors.item[0], text, sizeof text);
    }
    ck_assert_msg(status == CALC_OK, "%s", text);
}

static bool is_legal(const calc_random_layout *l)
{
    return calc_check(&l->app, &l->system, &l->exec, NULL) == CALC_OK;
}

void calc_shipped_with(const char *app, const char *system, const char *exec,
                       calc_shipped_visit *each)
{
    calc_random_layout l;
    char name[3 * NAME_SIZE];
    snprintf(name, sizeof name, "%s on %s, %s", app, system, exec);
    load(CALC_KIND_APP, &l.app, "models", app);
    load(CALC_KIND_SYSTEM, &l.system, "systems", system);
    load(CALC_KIND_EXEC, &l.exec, "executions", exec);
    ck_assert_msg(is_legal(&l), "%s", name);
    each(name, &l);
}

/* The executions of the catalogue, with their models and machines. */
static void catalogue(calc_shipped_visit *each)
{
    char line[512], exec[NAME_SIZE], app[NAME_SIZE], system[NAME_SIZE];
    FILE *file = fopen(CALC_TEST_DATA "/golden/catalogue/layouts.csv", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    int count = 0;
    while (fscanf(file, " %127[^,],%127[^,],%127[^\n]", exec, app, system) == 3) {
        calc_shipped_with(app, system, exec, each);
        count++;
    }
    fclose(file);
    ck_assert_int_ge(count, 27);
    calc_shipped_with("gpt3-175B", "a100_80g", "3072_t4_p64_d12_mbs4_full", each);
}

typedef void visit_file(const char *name, calc_shipped_visit *each);

static int is_json(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

/* Every JSON file of a folder, without its ending, in the order of their names. */
static int files_of(const char *folder, visit_file *with_file, calc_shipped_visit *each)
{
    char path[512];
    struct dirent **entry;
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/%s", folder);
    int found = scandir(path, &entry, is_json, alphasort);
    ck_assert_msg(found >= 0, "%s", path);
    for (int i = 0; i < found; i++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "%.*s", (int)strlen(entry[i]->d_name) - 5, entry[i]->d_name);
        with_file(name, each);
        free(entry[i]);
    }
    free(entry);
    return found;
}

/* Calculon's validation: executions are called after their models. */
static void validation_file(const char *folder, const char *name, calc_shipped_visit *each)
{
    char app[NAME_SIZE], exec[2 * NAME_SIZE];
    snprintf(app, sizeof app, "%.*s", (int)(strrchr(name, '_') - name), name);
    snprintf(exec, sizeof exec, "%s/%s", folder, name);
    calc_shipped_with(app, "a100_80g", exec, each);
}

static void figure_1(const char *name, calc_shipped_visit *each)
{
    validation_file("seqsel_fig1", name, each);
}

static void figure_7(const char *name, calc_shipped_visit *each)
{
    validation_file("seqsel_fig7", name, each);
}

static void table_5(const char *name, calc_shipped_visit *each)
{
    validation_file("seqsel_tab5", name, each);
}

/* The largest of some sizes that a model can be split in. */
static int64_t split_of(const calc_app *a, int64_t most)
{
    while (a->hidden % most || a->feedforward % most || a->attn_heads % most ||
           a->shared_feedforward % most) {
        most /= 2;
    }
    return most;
}

static calc_datatype offered(const calc_system *s)
{
    return s->chip.matrix[CALC_DATATYPE_BFLOAT16].flop_per_s > 0 ? CALC_DATATYPE_BFLOAT16
                                                                 : CALC_DATATYPE_FLOAT16;
}

/* Tensor, pipeline and data parallelism as far as the model goes; what else a framework of its time
 * would do, if it is a modern one. */
static void simple(const char *app, const char *system, bool modern, calc_shipped_visit *each)
{
    calc_random_layout l;
    char name[3 * NAME_SIZE];
    snprintf(name, sizeof name, "%s on %s, %s", app, system, modern ? "modern" : "plain");
    load(CALC_KIND_APP, &l.app, "models", app);
    load(CALC_KIND_SYSTEM, &l.system, "systems", system);
    int64_t tensor = split_of(&l.app, 4);
    int64_t stages = l.app.num_blocks % 2 == 0 ? 2 : 1;
    calc_exec *e = &l.exec;
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), e);
    e->strategy.tensor_par = tensor;
    e->pipeline_par = stages;
    e->strategy.data_par = 8;
    e->num_procs = tensor * stages * e->strategy.data_par;
    e->strategy.data_par_net = l.system.networks_count - 1;
    e->batch_size = 64;
    e->microbatch_size = 1;
    e->strategy.datatype = offered(&l.system);
    e->pipeline_interleaving = 1;
    e->strategy.optimizer_sharding = true;
    e->strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    e->strategy.data_par_overlap = true;
    e->training = true;
    if (modern) {
        e->strategy.expert_par = l.app.num_experts % 4 == 0 && l.app.num_experts > 0 ? 4 : 0;
        e->strategy.flash_attention = true;
        e->strategy.memory_model = CALC_MEMORY_MODEL_MEGATRON;
        e->strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
        e->strategy.tensor_par_overlap =
            tensor > 1 ? CALC_TENSOR_PAR_OVERLAP_FUSED : CALC_TENSOR_PAR_OVERLAP_NONE;
        e->strategy.expert_par_overlap = CALC_EXPERT_PAR_OVERLAP_BATCH;
        e->strategy.pipeline_par_overlap = true;
    }
    ck_assert_msg(is_legal(&l), "%s", name);
    each(name, &l);
}

/* The same model, served. */
static void served(const char *app, const char *system, calc_shipped_visit *each)
{
    calc_random_layout l;
    char name[3 * NAME_SIZE];
    snprintf(name, sizeof name, "%s on %s, served", app, system);
    load(CALC_KIND_APP, &l.app, "models", app);
    load(CALC_KIND_SYSTEM, &l.system, "systems", system);
    calc_exec *e = &l.exec;
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), e);
    e->num_procs = 8;
    e->strategy.tensor_par = split_of(&l.app, 4);
    e->strategy.data_par = 8 / e->strategy.tensor_par;
    e->pipeline_par = 1;
    e->batch_size = 64;
    e->microbatch_size = 1;
    e->strategy.datatype = offered(&l.system);
    e->pipeline_interleaving = 1;
    e->strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    e->strategy.flash_attention = true;
    e->inference.phase = CALC_INFERENCE_PHASE_DISAGGREGATED;
    e->inference.generate_size = 128;
    e->inference.prefill_procs = 8;
    ck_assert_msg(is_legal(&l), "%s", name);
    each(name, &l);
}

static void every_model(const char *name, calc_shipped_visit *each)
{
    simple(name, "a100_80g", false, each);
    simple(name, "h100_sxm", true, each);
    served(name, "h800", each);
}

static void every_machine(const char *name, calc_shipped_visit *each)
{
    simple("gpt3-175B", name, false, each);
    simple("mixtral-8x7B", name, true, each);
    served("deepseek-v3-671B", name, each);
}

void calc_shipped_machines(calc_shipped_visit *each)
{
    ck_assert_int_ge(files_of("systems", every_machine, each), 20);
}

void calc_shipped_all(calc_shipped_visit *each)
{
    catalogue(each);
    ck_assert_int_ge(files_of("executions/seqsel_fig1", figure_1, each), 8);
    ck_assert_int_ge(files_of("executions/seqsel_fig7", figure_7, each), 20);
    ck_assert_int_ge(files_of("executions/seqsel_tab5", table_5, each), 8);
    ck_assert_int_ge(files_of("models", every_model, each), 80);
    calc_shipped_machines(each);
}
