# What Debian wants of the staged files: copyright and change log of every package, compressed
# manual pages, no debug symbols in archives. Runs before the packages are made.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
    return()
endif()
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)
set(stage "${CPACK_TEMPORARY_DIRECTORY}")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH fixes it

foreach(component IN ITEMS COMMAND LIBRARY DEVELOPMENT)
    set(package "${CPACK_DEBIAN_${component}_PACKAGE_NAME}")
    string(TOLOWER ${component} folder)
    set(docs "${stage}/${folder}/usr/share/doc/${package}")
    file(MAKE_DIRECTORY "${docs}")
    configure_file("${root}/cmake/copyright.in" "${docs}/copyright" @ONLY)
    file(WRITE "${docs}/changelog.Debian"
        "${package} (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
        "  * Release ${CPACK_PACKAGE_VERSION}.\n\n"
        " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
    file(COPY "${root}/CHANGELOG.md" DESTINATION "${docs}")
    file(RENAME "${docs}/CHANGELOG.md" "${docs}/changelog")
    execute_process(COMMAND gzip -9n "${docs}/changelog.Debian" "${docs}/changelog"
        COMMAND_ERROR_IS_FATAL ANY)
endforeach()

file(GLOB_RECURSE pages "${stage}/command/*.1")
execute_process(COMMAND gzip -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE archives "${stage}/development/*.a")
foreach(archive IN LISTS archives)
    execute_process(COMMAND strip --strip-debug --enable-deterministic-archives "${archive}"
        COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# CPack writes scripts that call ldconfig, which the trigger makes superfluous but not wrong.
set(library "${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME}")
file(WRITE "${stage}/library/usr/share/lintian/overrides/${library}"
    "${library}: maintscript-calls-ldconfig *\n")
