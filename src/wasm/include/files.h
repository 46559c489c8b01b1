/* The files that a module holds, by their names without folder and ending. */
#include "base/buffer.h"
extern const calc_embedded calc_file_list[];
