/* The files that a module holds, by their names without folder and ending. */
typedef struct calc_file {
    const char *name, *text;
} calc_file;
extern const calc_file calc_file_list[];
extern const char *const calc_file_names[];
