add_custom_target(falafel_tsan_tests)

# falafel_add_test(NAME name SOURCES file... [LIBRARIES target...] [LABELS label...] [TIMEOUT seconds])
#
# A GoogleTest executable, registered as one test: starting a process per test case would cost more than
# most cases run. Tests with long timeouts are started first, so that none is left over in the end. The label
# "tsan" makes the test part of the thread sanitizer's run, and of the target falafel_tsan_tests.
function(falafel_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 test "" "NAME;TIMEOUT" "SOURCES;LIBRARIES;LABELS")
  if(test_UNPARSED_ARGUMENTS OR NOT test_NAME OR NOT test_SOURCES)
    message(FATAL_ERROR "falafel_add_test needs NAME and SOURCES; "
                        "not understood: '${test_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 120)
  endif()

  add_executable(${test_NAME} ${test_SOURCES})
  target_link_libraries(${test_NAME} PRIVATE falafel_options ${test_LIBRARIES} GTest::gtest_main)
  add_test(NAME ${test_NAME} COMMAND ${test_NAME})
  set_tests_properties(${test_NAME} PROPERTIES
    TIMEOUT ${test_TIMEOUT} COST ${test_TIMEOUT} LABELS "${test_LABELS}")
  if("tsan" IN_LIST test_LABELS)
    add_dependencies(falafel_tsan_tests ${test_NAME})
  endif()
endfunction()
