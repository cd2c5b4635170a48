# How tests are declared. `tools/test` runs each test in the one build where it says most: tests of
# GoogleTest with the address sanitizer, commands in the release build. RUNS_IN names another build,
# or both (docs/development.md). In the other build, the test has the label "other-build": a usual
# run neither compiles nor runs it there. Of those with the label "thorough", `tools/test` runs as
# many as its budget allows. `tools/test --thorough` and ctest alone run all.

# The build that RUNS_IN names. All others, such as debug and tsan, leave out nothing.
if(FALAFEL_SANITIZE MATCHES "address")
  set(falafel_this_build asan)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT FALAFEL_SANITIZE)
  set(falafel_this_build release)
else()
  set(falafel_this_build "")
endif()

# All that a usual run of this build compiles.
add_custom_target(falafel_usual_run)
# The executables of the tests with the label "tsan".
add_custom_target(falafel_tsan_tests)

# tools/test gives ctest two places per processor, and one more. A test that computes takes two
# places; a test that mostly waits takes one, which is the default of add_test.
set(falafel_places_of_computing_test 2)

# Ends only tests that hang: after more than ten times what they take beside four busy processes on
# two processors. A test that waits forever must not use up the time of a whole run.
set(falafel_shortest_hang_limit_seconds 1200)
set(falafel_hang_limit_seconds_per_cost 60)

# falafel_runs_here(variable name runs_in): whether a usual run of this build has the test.
function(falafel_runs_here variable name runs_in)
  if(NOT runs_in MATCHES "^(release|asan|both)$")
    message(FATAL_ERROR "${name}: RUNS_IN is release, asan or both, not '${runs_in}'")
  endif()
  if(NOT falafel_this_build OR runs_in MATCHES "^(both|${falafel_this_build})$")
    set(${variable} TRUE PARENT_SCOPE)
  else()
    set(${variable} FALSE PARENT_SCOPE)
  endif()
endfunction()

# falafel_add_command_test(NAME name COMMAND word... [COST processor_seconds]
#                          [ENVIRONMENT variable...] [LABELS label...] [THOROUGH_FOR folder...]
#                          [RESOURCE_LOCK name] [RUNS_IN release|asan|both] [COMPUTES])
#
# A test that is any command. Costly tests start first, so that none runs alone at the end.
# THOROUGH_FOR gives it the label "thorough", and names the folders whose changes it examines.
function(falafel_add_command_test)
  cmake_parse_arguments(PARSE_ARGV 0 test "COMPUTES" "NAME;COST;RESOURCE_LOCK;RUNS_IN"
    "COMMAND;ENVIRONMENT;LABELS;THOROUGH_FOR")
  if(test_UNPARSED_ARGUMENTS OR NOT test_NAME OR NOT test_COMMAND)
    message(FATAL_ERROR "falafel_add_command_test needs NAME and COMMAND; "
                        "not understood: '${test_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT test_COST)
    set(test_COST 1)
  endif()
  math(EXPR limit "${falafel_hang_limit_seconds_per_cost} * ${test_COST}")
  if(limit LESS falafel_shortest_hang_limit_seconds)
    set(limit ${falafel_shortest_hang_limit_seconds})
  endif()
  if(test_THOROUGH_FOR)
    list(TRANSFORM test_THOROUGH_FOR PREPEND "for:")
    list(APPEND test_LABELS thorough ${test_THOROUGH_FOR})
  endif()
  if(NOT test_RUNS_IN)
    set(test_RUNS_IN release)
  endif()
  falafel_runs_here(runs_here ${test_NAME} ${test_RUNS_IN})
  if(NOT runs_here)
    list(APPEND test_LABELS other-build)
  endif()
  list(POP_FRONT test_COMMAND program)
  if(TARGET ${program})
    set(program "$<TARGET_FILE:${program}>")
  endif()
  add_test(NAME ${test_NAME}
    COMMAND "${PROJECT_SOURCE_DIR}/cmake/measured" ${test_NAME} "${program}" ${test_COMMAND})
  set_tests_properties(${test_NAME} PROPERTIES TIMEOUT ${limit} COST ${test_COST}
    ENVIRONMENT "${test_ENVIRONMENT}" LABELS "${test_LABELS}")
  if(test_RESOURCE_LOCK)
    set_tests_properties(${test_NAME} PROPERTIES RESOURCE_LOCK "${test_RESOURCE_LOCK}")
  endif()
  if(test_COMPUTES)
    set_tests_properties(${test_NAME} PROPERTIES PROCESSORS ${falafel_places_of_computing_test})
  endif()
endfunction()

# falafel_add_test(NAME name SOURCES file... [LIBRARIES target...] [COST processor_seconds]
#                  [LABELS label...] [ENVIRONMENT variable...] [SHARDS number] [MOSTLY_WAITS]
#                  [RUNS_IN release|asan|both]
#                  [THOROUGH_FOR folder...
#                   [ONLY_IN_THOROUGH pattern...] [MORE_IN_THOROUGH pattern...]])
#
# A GoogleTest executable, registered as one test, because starting a process takes longer than most
# test cases. For long tests, SHARDS registers several tests, each of which runs some of the cases.
# THOROUGH_FOR alone makes the whole test thorough. With patterns of cases, a second test,
# <name>_thorough, runs the cases that only it runs, and those of which it runs more
# (tests/thoroughness.h). Thorough tests run in the release build, so a test with THOROUGH_FOR runs
# there by default. An executable that only thorough tests run there is compiled when one of them is
# chosen. The label "tsan" includes the test in the thread sanitizer's run.
set(falafel_lists_of_test SOURCES LIBRARIES LABELS ENVIRONMENT
  THOROUGH_FOR ONLY_IN_THOROUGH MORE_IN_THOROUGH)
function(falafel_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 test "MOSTLY_WAITS" "NAME;COST;SHARDS;RUNS_IN"
    "${falafel_lists_of_test}")
  if(test_UNPARSED_ARGUMENTS OR NOT test_NAME OR NOT test_SOURCES)
    message(FATAL_ERROR "falafel_add_test needs NAME and SOURCES; "
                        "not understood: '${test_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT test_RUNS_IN)
    set(test_RUNS_IN asan)
    if(test_THOROUGH_FOR)
      set(test_RUNS_IN release)
    endif()
  endif()
  set(thorough_cases ${test_ONLY_IN_THOROUGH} ${test_MORE_IN_THOROUGH})
  if(test_RUNS_IN STREQUAL "asan" AND test_THOROUGH_FOR AND NOT thorough_cases)
    message(FATAL_ERROR "${test_NAME}: thorough tests run in the release build")
  endif()
  if(thorough_cases AND (test_SHARDS OR test_ENVIRONMENT OR NOT test_THOROUGH_FOR))
    message(FATAL_ERROR "${test_NAME}: cases of a thorough test need THOROUGH_FOR, and neither "
                        "SHARDS nor ENVIRONMENT")
  endif()

  add_executable(${test_NAME} ${test_SOURCES})
  target_link_libraries(${test_NAME} PRIVATE falafel_options ${test_LIBRARIES} GTest::gtest_main)

  if(TARGET falafel_test_headers)
    # Precompiled headers apply only to C++ that is compiled with the same options.
    get_directory_property(options COMPILE_OPTIONS)
    get_target_property(options_of_headers falafel_test_headers COMPILE_OPTIONS)
    if(options STREQUAL options_of_headers AND NOT test_SOURCES MATCHES "[.]c(;|$)")
      target_precompile_headers(${test_NAME} REUSE_FROM falafel_test_headers)
    endif()
  endif()

  set(arguments COMMAND ${test_NAME} COST "${test_COST}" LABELS ${test_LABELS})
  if(NOT test_MOSTLY_WAITS)
    list(APPEND arguments COMPUTES)
  endif()
  if(thorough_cases)
    list(JOIN test_ONLY_IN_THOROUGH ":" left_out)
    list(JOIN thorough_cases ":" thorough_cases)
    falafel_add_command_test(NAME ${test_NAME} ${arguments} RUNS_IN ${test_RUNS_IN}
      ENVIRONMENT "GTEST_FILTER=*-${left_out}")
    falafel_add_command_test(NAME ${test_NAME}_thorough ${arguments}
      ENVIRONMENT "GTEST_FILTER=${thorough_cases}" FALAFEL_THOROUGH=1
      THOROUGH_FOR ${test_THOROUGH_FOR})
  elseif(test_SHARDS)
    foreach(shard RANGE 1 ${test_SHARDS})
      math(EXPR index "${shard} - 1")
      falafel_add_command_test(NAME ${test_NAME}_${shard} ${arguments} RUNS_IN ${test_RUNS_IN}
        ENVIRONMENT ${test_ENVIRONMENT} GTEST_TOTAL_SHARDS=${test_SHARDS} GTEST_SHARD_INDEX=${index}
        THOROUGH_FOR ${test_THOROUGH_FOR})
    endforeach()
  else()
    falafel_add_command_test(NAME ${test_NAME} ${arguments} RUNS_IN ${test_RUNS_IN}
      ENVIRONMENT ${test_ENVIRONMENT} THOROUGH_FOR ${test_THOROUGH_FOR})
  endif()
  falafel_runs_here(runs_here ${test_NAME} ${test_RUNS_IN})
  if(test_THOROUGH_FOR AND NOT thorough_cases)
    set(runs_here FALSE)
  endif()
  set_target_properties(${test_NAME} PROPERTIES FALAFEL_RUNS_HERE ${runs_here})
  if(runs_here)
    add_dependencies(falafel_usual_run ${test_NAME})
  endif()
  if("tsan" IN_LIST test_LABELS)
    add_dependencies(falafel_tsan_tests ${test_NAME})
  endif()
endfunction()

# falafel_add_usual_targets(folder): adds to the usual run everything below the folder but the tests
# of the other build. The release build needs all programs and libraries, because the checks
# examine them, and tests install them.
function(falafel_add_usual_targets folder)
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(runs_here ${target} FALAFEL_RUNS_HERE)
    get_target_property(is_left_out ${target} EXCLUDE_FROM_ALL)
    if(NOT is_left_out AND NOT runs_here STREQUAL "FALSE")
      add_dependencies(falafel_usual_run ${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(subfolder IN LISTS folders)
    falafel_add_usual_targets("${subfolder}")
  endforeach()
endfunction()
