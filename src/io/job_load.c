#include "io/job_load.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/json_load.h"
#include "io/utf8.h"
#include "spec/field.h"

typedef struct text_member {
    const char *key, *of;
    size_t offset, size;
} text_member;

#define TEXT(S, key, of)                                                                           \
    {                                                                                              \
#key, of, offsetof(S, key), sizeof((S *)NULL)->key                                         \
    }
static const text_member role_texts[] = {
    TEXT(calc_job_role, like, "role"), TEXT(calc_job_role, model, "model"),
    TEXT(calc_job_role, pool, "pool"), TEXT(calc_job_role, execution, "execution")};
static const text_member pool_texts[] = {TEXT(calc_job_pool, name, "pool"),
                                         TEXT(calc_job_pool, system, "system")};
enum { ROLE_TEXTS = 4, POOL_TEXTS = 2 };

static void bind_texts(calc_json_report *report, const text_member *member, size_t count,
                       const json_t *object, void *to)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_object_get(object, member[i].key);
        CALC_JSON_INSIDE (report, calc_json_report_enter(report, member[i].key)) {
            if (json_is_string(value)) { /* others were reported */
                calc_json_value_name(report, value, member[i].of, (char *)to + member[i].offset,
                                     member[i].size);
            }
        }
    }
}

/* The roles with an empty one for each that is null, and a word for each execution that is an
 * object: the place of every member stays as it is in the text. NULL: no memory. */
static json_t *plain_roles(json_t *roles)
{
    json_t *plain = json_copy(roles);
    const char *key;
    json_t *role;
    bool fine = plain != NULL;
    json_object_foreach (roles, key, role) {
        json_t *own = json_is_null(role) ? json_object() : json_copy(role);
        if (own && json_is_object(json_object_get(own, "execution"))) {
            fine &= json_object_set_new(own, "execution", json_string("object")) == 0;
        }
        fine &= plain && json_object_set_new(plain, key, own) == 0;
    }
    if (!fine) {
        json_decref(plain);
    }
    return fine ? plain : NULL;
}

/* What the tables do not keep of the roles. */
static void bind_roles(calc_json_report *report, const json_t *roles, calc_job *job)
{
    for (int i = 0; i < CALC_JOB_ROLES; i++) {
        const char *name = calc_job_role_name((calc_job_role_index)i);
        calc_job_role *role = calc_job_role_in(job, (calc_job_role_index)i);
        const json_t *value = json_object_get(roles, name);
        size_t mark = calc_json_report_enter(report, name);
        if (value) {
            role->given = json_is_null(value) ? CALC_JOB_OFF : CALC_JOB_RUNS;
            role->offload_given = json_object_get(value, "offload") != NULL;
        }
        bind_texts(report, role_texts, ROLE_TEXTS, value, role);
        if (json_is_object(json_object_get(value, "execution"))) {
            char pointer[128];
            size_t end;
            snprintf(pointer, sizeof pointer, "%.100s/execution", report->pointer);
            if (calc_json_span(report->text, report->length, pointer, &role->execution_at, &end)) {
                role->execution_length = end - role->execution_at;
            }
        }
        calc_json_report_leave(report, mark);
    }
}

static void bind_job(calc_json_report *report, json_t *root, calc_job *job)
{
    json_t *roles = json_object_get(root, "roles");
    json_t *pool;
    size_t i;
    json_t *plain = json_is_object(root) ? json_copy(root) : json_incref(root);
    if (plain && json_is_object(roles)) {
        json_t *own = plain_roles(roles);
        if (json_object_set_new(plain, "roles", own) != 0) {
            json_decref(plain);
            plain = NULL;
        }
    }
    if (calc_json_report_made(report, plain)) {
        calc_json_bind_table(report, calc_job_table(), plain, job);
        CALC_JSON_INSIDE (report, calc_json_report_enter(report, "roles")) {
            bind_roles(report, roles, job);
        }
        CALC_JSON_INSIDE (report, calc_json_report_enter(report, "pools")) {
            CALC_JSON_ELEMENTS (report, json_object_get(root, "pools"), i, pool) {
                if (i < (size_t)job->pools_count) {
                    bind_texts(report, pool_texts, POOL_TEXTS, pool, &job->pools[i]);
                }
            }
        }
        json_decref(plain);
    }
}

calc_status calc_job_parse(calc_job *job, const char *text, size_t length, const char *name,
                           calc_errors *errors)
{
    calc_json_report report = {
        .kind = CALC_KIND_NONE, .name = name, .text = text, .length = length};
    json_t *root = calc_json_load_text(&report, text, length);
    calc_job_init(job);
    if (root) {
        bind_job(&report, root, job);
        json_decref(root);
    }
    return calc_json_report_close(&report, errors);
}

/* Where a name leads. */
typedef struct target {
    const calc_field *field;
    char *member; /* of a text, the role or pool that has it */
    const text_member *text;
    calc_job_role *role; /* that it is in */
} target;

static const text_member *text_of(const text_member *member, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(member[i].key, key) == 0) {
            return &member[i];
        }
    }
    return NULL;
}

/* A member of a job by its path; a role counts as one. */
static bool follow(calc_job *job, const char *path, target *to)
{
    calc_field_ref ref;
    const char *bracket = strchr(path, '[');
    if (calc_field_find_in(calc_job_table(), CALC_KIND_NONE, path, &ref) != CALC_OK ||
        (bracket && strtoll(bracket + 1, NULL, 10) >= job->pools_count)) {
        return false;
    }
    *to = (target){.field = ref.field, .member = (char *)job + ref.offset};
    for (int i = 0; i < CALC_JOB_ROLES; i++) {
        char *role = (char *)calc_job_role_in(job, (calc_job_role_index)i);
        bool inside = to->member >= role && to->member < role + sizeof(calc_job_role);
        to->role = inside ? (calc_job_role *)(void *)role : to->role;
    }
    to->text = bracket    ? text_of(pool_texts, POOL_TEXTS, ref.field->key)
               : to->role ? text_of(role_texts, ROLE_TEXTS, ref.field->key)
                          : NULL;
    return ref.field->type == CALC_TYPE_NOTE ? to->text != NULL
           : ref.field->table                ? ref.field->table == calc_job_role_table()
                                             : true;
}

/* The name as it is, or of a length ("response.mean"), or of a role ("actor.pool"). */
static bool find(calc_job *job, const char *path, target *to)
{
    static const char *const before[] = {"", "lengths.", "roles."};
    char name[160];
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        snprintf(name, sizeof name, "%s%s", before[i], path);
        if (follow(job, name, to)) {
            return true;
        }
    }
    return false;
}

static void set(calc_json_report *report, const target *to, const char *text)
{
    json_t *value = to->text ? json_string(text) : json_loads(text, JSON_DECODE_ANY, NULL);
    value = calc_json_report_made(report, value ? value : json_string(text));
    if (!value) {
        return;
    }
    if (to->text) {
        calc_json_value_name(report, value, to->text->of, to->member + to->text->offset,
                             to->text->size);
    } else if (to->role && to->field->type == CALC_TYPE_OBJECT) {
        /* A role that is named as a whole runs, or not. */
        if (json_is_null(value) || json_is_boolean(value)) {
            to->role->given = json_is_true(value) ? CALC_JOB_RUNS : CALC_JOB_OFF;
        } else {
            calc_json_value_type_error(report, "true, or null for a role that does not run", value,
                                       NULL);
        }
    } else {
        calc_json_bind_field(report, to->field, value, to->member);
        if (to->role && to->field->type == CALC_TYPE_SET) {
            to->role->offload_given = true;
        }
    }
    if (to->role && to->text && strcmp(to->text->key, "execution") == 0) {
        to->role->execution_length = 0;
    }
    json_decref(value);
}

calc_status calc_job_set(calc_job *job, const char *assignment, bool *known, calc_errors *errors)
{
    char path[128], name[CALC_UTF8_SHOW_SIZE + 8];
    const char *equals = strchr(assignment, '=');
    size_t length = equals ? (size_t)(equals - assignment) : sizeof path;
    target to;
    *known = false;
    if (length >= sizeof path) {
        return CALC_OK;
    }
    snprintf(path, sizeof path, "%.*s", (int)length, assignment);
    *known = find(job, path, &to);
    if (!*known) {
        return CALC_OK;
    }
    calc_job changed = *job;
    ptrdiff_t moved = (char *)&changed - (char *)job;
    to.member += moved;
    to.role = to.role ? (calc_job_role *)(void *)((char *)to.role + moved) : NULL;
    snprintf(name, sizeof name, "--set %s", calc_utf8_shown(assignment, strlen(assignment)));
    calc_json_report report = {.kind = CALC_KIND_NONE, .name = name};
    calc_json_report_enter(&report, path);
    set(&report, &to, equals + 1);
    calc_status status = calc_json_report_close(&report, errors);
    if (status == CALC_OK) {
        *job = changed;
    }
    return status;
}
