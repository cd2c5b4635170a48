add_custom_target(falafel_tsan_tests)

# tools/test gives ctest two places per processor, and one more. A test that computes takes two
# places; a test that mostly waits takes one, which is the default of add_test.
set(falafel_places_of_computing_test 2)

# falafel_add_test(NAME name SOURCES file... [LIBRARIES target...] [LABELS label...]
#                  [TIMEOUT seconds] [SHARDS number] [MOSTLY_WAITS])
#
# A GoogleTest executable, registered as one test, because starting a process takes longer than most
# test cases. For long tests, SHARDS registers several tests, each of which runs some of the cases.
# Tests with long timeouts start first, so that none runs alone at the end. The label "tsan"
# includes the test in the thread sanitizer's run and in the target falafel_tsan_tests.
function(falafel_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 test "MOSTLY_WAITS" "NAME;TIMEOUT;SHARDS" "SOURCES;LIBRARIES;LABELS")
  if(test_UNPARSED_ARGUMENTS OR NOT test_NAME OR NOT test_SOURCES)
    message(FATAL_ERROR "falafel_add_test needs NAME and SOURCES; "
                        "not understood: '${test_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 120)
  endif()

  add_executable(${test_NAME} ${test_SOURCES})
  target_link_libraries(${test_NAME} PRIVATE falafel_options ${test_LIBRARIES} GTest::gtest_main)
  if(test_SHARDS)
    foreach(shard RANGE 1 ${test_SHARDS})
      math(EXPR index "${shard} - 1")
      list(APPEND names ${test_NAME}_${shard})
      add_test(NAME ${test_NAME}_${shard} COMMAND ${test_NAME})
      set_tests_properties(${test_NAME}_${shard} PROPERTIES
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${test_SHARDS};GTEST_SHARD_INDEX=${index}")
    endforeach()
  else()
    set(names ${test_NAME})
    add_test(NAME ${test_NAME} COMMAND ${test_NAME})
  endif()
  set_tests_properties(${names} PROPERTIES
    TIMEOUT ${test_TIMEOUT} COST ${test_TIMEOUT} LABELS "${test_LABELS}")
  if(NOT test_MOSTLY_WAITS)
    set_tests_properties(${names} PROPERTIES PROCESSORS ${falafel_places_of_computing_test})
  endif()
  if("tsan" IN_LIST test_LABELS)
    add_dependencies(falafel_tsan_tests ${test_NAME})
  endif()
endfunction()
