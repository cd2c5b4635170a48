# falafel_add_program(<name> [COPIES <number>] [MEMORY_HOOKS] SOURCES <file>...): a program for
# libibverbs, with its main, as processes of simulated hosts. Link <name> to the executable of the
# test; in its test body, simulated_verbs::Program runs it. COPIES is the number of processes that
# it may be in one run (8). MEMORY_HOOKS makes its loads and stores steps of the simulator. Options
# for its sources go to the target <name>_objects.
find_program(FALAFEL_PROGRAM_COPIES NAMES falafel-program-copies program_copies
  PATHS "${CMAKE_CURRENT_LIST_DIR}/../simulated_verbs" "${CMAKE_CURRENT_LIST_DIR}/../../../bin"
    "${CMAKE_CURRENT_LIST_DIR}/../../../../bin"
  NO_DEFAULT_PATH)

function(falafel_add_program name)
  cmake_parse_arguments(PARSE_ARGV 1 program "MEMORY_HOOKS" "COPIES" "SOURCES")
  if(program_UNPARSED_ARGUMENTS OR NOT program_SOURCES)
    message(FATAL_ERROR "falafel_add_program needs SOURCES; "
                        "not understood: '${program_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT program_COPIES)
    set(program_COPIES 8)
  endif()
  add_library(${name}_objects OBJECT ${program_SOURCES})
  set_target_properties(${name}_objects PROPERTIES UNITY_BUILD OFF)
  add_library(${name} INTERFACE)
  if(program_MEMORY_HOOKS)
    target_link_libraries(${name}_objects PRIVATE falafel::simulated_verbs_memory_hooks)
    target_link_libraries(${name} INTERFACE
      "$<LINK_ONLY:falafel::simulated_verbs_memory_hooks>")
  endif()

  set(copies "${CMAKE_CURRENT_BINARY_DIR}/${name}_copies.o")
  add_custom_command(OUTPUT "${copies}"
    COMMAND "${CMAKE_COMMAND}" -E env "CC=${CMAKE_C_COMPILER}" "OBJCOPY=${CMAKE_OBJCOPY}"
      "${FALAFEL_PROGRAM_COPIES}" ${name} ${program_COPIES} "${copies}"
      "$<TARGET_OBJECTS:${name}_objects>"
    DEPENDS ${name}_objects "$<TARGET_OBJECTS:${name}_objects>" "${FALAFEL_PROGRAM_COPIES}"
    COMMENT "Making ${program_COPIES} copies of ${name}"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${name}_copies DEPENDS "${copies}")
  add_dependencies(${name} ${name}_copies)
  target_link_libraries(${name} INTERFACE "${copies}" falafel::simulated_verbs)
  set_target_properties(${name} PROPERTIES INTERFACE_LINK_DEPENDS "${copies}")
  # The variables have the same addresses in every replay.
  target_link_options(${name} INTERFACE -no-pie)
endfunction()
