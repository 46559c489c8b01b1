# The GNU Linear Programming Kit, which comes without a file for pkg-config: GLPK::GLPK.
find_path(GLPK_INCLUDE_DIR glpk.h DOC "Folder of glpk.h")
find_library(GLPK_LIBRARY glpk DOC "The GNU Linear Programming Kit")
if(NOT GLPK_INCLUDE_DIR OR NOT GLPK_LIBRARY)
    message(FATAL_ERROR "GLPK (Debian package libglpk-dev) was not found")
endif()
mark_as_advanced(GLPK_INCLUDE_DIR GLPK_LIBRARY)
add_library(GLPK::GLPK UNKNOWN IMPORTED)
set_target_properties(GLPK::GLPK PROPERTIES
    IMPORTED_LOCATION "${GLPK_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${GLPK_INCLUDE_DIR}")
