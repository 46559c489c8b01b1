/** @file script.h  A script that is read: its variables, lists and words. */
#ifndef CALC_FORMATS_SCRIPT_H
#define CALC_FORMATS_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/read.h"

enum {
    CALC_SCRIPT_VARIABLES = 1024,
    CALC_SCRIPT_FUNCTIONS = 100,
    CALC_SCRIPT_DEPTH = 64,
    CALC_SCRIPT_WORD = 4096
};

/** A variable: its name and value inside the text. */
typedef struct calc_variable {
    const char *name, *value; /* no value: it is not set, or not known */
    size_t name_length, value_length;
    size_t before, until; /* which variables the value may have; how many see it no more, 0: all */
    int line;
    bool unknown, adds; /* nothing here says the value; it goes behind the one before */
    bool branch;        /* what sets it need not run: a branch, a loop, what && stands before */
    bool local;         /* to the function that is read */
    bool exported;
} calc_variable;

/** A function, whose body, inside the text, is read where it is called. */
typedef struct calc_function {
    const char *name, *start, *body, *end; /* the line of its body starts there */
    size_t name_length;
    int line;
    bool called;
} calc_function;

/** What the script has said so far, also in functions. */
typedef struct calc_said {
    calc_variable variable[CALC_SCRIPT_VARIABLES];
    size_t count;
    calc_function function[CALC_SCRIPT_FUNCTIONS];
    int functions, calls;
    bool lost; /* it was more than fits: no variable is known */
    calc_script_group group[CALC_COMMANDS_MAX];
    int groups;
    uint64_t named;   /* a bit for each that its name stands for */
    uint64_t local;   /* for each that ends with its function */
    uint64_t doubted; /* for each of which what it has was doubted since it took options */
    calc_slurm job;
    bool started; /* the sizes of the job are settings already */
    int looks;    /* variables and ends that were looked for: values may double each other */
    int branches, blocks; /* of if and case that are open; of loops and braces */
    bool chained, after;  /* a test decides on what follows; or any command */
} calc_said;

/** A script while it is read, and the word and the command at hand. */
typedef struct calc_script calc_script;
struct calc_script {
    const char *name;     /* of the file; NULL: there is none, or enough of them are read */
    calc_script *sourced; /* scripts and functions that it reads, with the texts of variables */
    char *text;
    const char *end;
    int line;
    const char *line_start;
    char quote; /* quote of a string whose words are read one by one; else 0 */
    calc_said said;
    size_t mark, quoted, outside[CALC_SCRIPT_DEPTH]; /* variables before the command, before the
                                                string, before each open parenthesis */
    uint64_t named[CALC_SCRIPT_DEPTH];               /* lists before each that is of a subshell */
    char naming; /* what follows are names, 'u' without a value; 'f': one is; 'p': none; 0: none */
    const char *word_at;
    bool body;        /* of a function */
    const char *here; /* the word that ends a here-document; NULL: there is none */
    bool here_plain;  /* its variables are those of outside */
    size_t here_length, here_mark;
    calc_variable position; /* the word of a call that was looked for */
    bool shell, exports;    /* the command is bash or sh; its first word is export, declare -x */
    bool declares, local;   /* the first word of the command says what NAME=value sets */
    int unsure[2];          /* lines of a variable in the word, as calc_setting has them */
    bool tests, joined;     /* the command is a test; it ends with an operator */
    bool taken;             /* the word has what a branch has set */
    int command, list;      /* those that the next word is of; -1: none */
    int list_depth;         /* parentheses around the list; -1: those of a command */
    uint64_t used;          /* lists that the word has */
    bool first, module;     /* the next word is the program of a command; a module of Python */
    bool launched;          /* variables are asked for that only one program has */
    bool splits;            /* the word is a part of the value of a variable */
    bool parted;            /* the word has a variable that stands in no quotes */
    bool sources;           /* the next word is a script that is read here */
    bool keys;              /* words of the command may set keys of its configuration */
    char word[CALC_SCRIPT_WORD];
    size_t word_length;
    bool has_word;
    int lists;      /* parentheses that are open */
    bool closed;    /* a list or a command has ended, and no option has followed */
    bool commented; /* a comment goes to the end of the line, with the sign that continues it */
};

/** Adds to the word that is read: a character, or a text. */
void calc_script_put(calc_script *s, char c);
void calc_script_put_text(calc_script *s, const char *at, const char *end);

/** Starts the next word. */
void calc_script_drop_word(calc_script *s);

/** Whether what stands here need not run. */
bool calc_script_is_branch(const calc_script *s);

/** Gives a variable a value from here on, with the line and whether it need not run. More than
 *  CALC_SCRIPT_VARIABLES are lost: then none is known. */
void calc_script_add_variable(calc_script *s, calc_variable v);

/** Hides the variables since a mark from what follows. @param all  not only local ones */
void calc_script_hide(calc_script *s, size_t mark, bool all);

/** The last value given to a name among the first `count` variables, without a value if it depends
 *  on what runs; NULL if there is none. "1" is the first word of the call of a function. */
const calc_variable *calc_script_find(calc_script *s, const char *name, size_t length,
                                      size_t count);

/** The list of that name; -1: there is none. */
int calc_script_list(const calc_script *s, const char *name, size_t length);

/** A new list; without a name a command, in place of one that has no options. */
int calc_script_open_list(calc_script *s, const char *name, size_t length);

/** A text with the values of its variables, of which the first `count` are known.
 *  @param dropped  characters that are left out */
void calc_script_put_value(calc_script *s, const char *at, const char *end, size_t count,
                           const char *dropped);

/** Expands $NAME, ${...}, $((...)) and $(expr ...) if the text says what they are; else keeps the
 *  sign itself. Another command $(...) is kept as it is. @return the rest */
const char *calc_script_expand(calc_script *s, const char *at, const char *end, size_t count);

#endif
