/* Runs a fuzz target once on every file of the folders given: what fuzzing found stays found. */
#include "fuzz.h"

#include "io/text.h"

#include <dirent.h>

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        struct dirent *entry;
        while (dir && (entry = readdir(dir))) {
            char path[1024];
            calc_text text;
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            if (entry->d_name[0] != '.' && calc_text_read(&text, path, NULL) == CALC_OK) {
                LLVMFuzzerTestOneInput((const unsigned char *)text.data, text.length);
                calc_text_free(&text);
                count++;
            }
        }
        if (dir) {
            closedir(dir);
        }
    }
    printf("%d inputs\n", count);
    return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
