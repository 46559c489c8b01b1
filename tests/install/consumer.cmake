# The project of consumer.c, as a user of the installed CMake package writes it.
cmake_minimum_required(VERSION 3.25)
project(consumer C)
find_package(calc REQUIRED)
foreach(library IN ITEMS calc calc_static)
    add_executable(with_${library} consumer.c)
    target_link_libraries(with_${library} PRIVATE calc::${library})
endforeach()
