# Compiler options of all targets: language, warnings, sanitizers. Assertions are enabled in every
# build type.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# CMake's own flags for these build types define NDEBUG. -g1 limits debug information to the lines
# and functions that stack traces and profiles need; full debug information would slow compilation
# by a third. The debug preset has it.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  string(APPEND CMAKE_CXX_FLAGS_RELEASE " -march=x86-64-v2")
else()
  # Other processors multiply and add in one instruction, which rounds once. Runs of the simulator
  # must have the same results everywhere.
  add_compile_options(-ffp-contract=off)
endif()
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_CXX_FLAGS_MINSIZEREL "-Os -g")

find_program(FALAFEL_CCACHE ccache)
if(FALAFEL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache takes the included files from what the compiler writes (-MD), so it needs no run of the
  # preprocessor. Without its sloppiness, it would not keep what uses precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    env CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros "${FALAFEL_CCACHE}")
endif()
if(PROJECT_IS_TOP_LEVEL)
  # tools/test prints what each compilation costs.
  list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER "${PROJECT_SOURCE_DIR}/cmake/measured" -)
endif()

# GCC would search its memory for garbage again and again, which takes up to a tenth of the time.
# With this, the largest units measured take 1.2 GB instead of 0.9 GB.
add_compile_options("$<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=2097152>")

# If installed: it needs a third of the time to link programs with sanitizers. Debian's cross
# compilers do not find it.
find_program(FALAFEL_LLD ld.lld)
if(FALAFEL_LLD AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=lld)
endif()

# Sanitizers change every object file, so all targets must use the same ones. Their reports need
# only lines and functions (-g1). To detect use after return, clang would give each fiber a second
# stack, which doubles the run time; GCC detects it only on request.
if(FALAFEL_SANITIZE)
  add_compile_options("-fsanitize=${FALAFEL_SANITIZE}" -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -O1 -g1)
  if(FALAFEL_SANITIZE MATCHES "address")
    add_compile_options("$<$<CXX_COMPILER_ID:Clang>:-fsanitize-address-use-after-return=never>")
  endif()
  add_link_options("-fsanitize=${FALAFEL_SANITIZE}")
endif()

# All targets of the project link this one. __FILE__ is relative to the project's root.
add_library(falafel_options INTERFACE)
target_include_directories(falafel_options INTERFACE "${PROJECT_SOURCE_DIR}")
# Enables checks in the standard library where speed does not matter. The project's own assertions
# are always enabled.
if(FALAFEL_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_definitions(falafel_options INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(PROJECT_IS_TOP_LEVEL)
  # Whoever only installs the project may have a compiler that warns about more.
  target_compile_options(falafel_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion "$<$<BOOL:${FALAFEL_BUILD_TESTS}>:-Werror>"
    "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
else()
  # A project that contains this one chooses its own warnings. It includes headers as users of the
  # installed tree do: <falafel/explorer/check.h>.
  foreach(folder IN ITEMS checkers engine explorer fabric processes simulated_verbs)
    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/include/falafel")
    file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${folder}"
      "${PROJECT_BINARY_DIR}/include/falafel/${folder}" SYMBOLIC)
  endforeach()
  target_include_directories(falafel_options INTERFACE "${PROJECT_BINARY_DIR}/include")
endif()

# falafel_use_asio(target): for targets whose sources include Boost.Asio. The thread sanitizer does
# not support its fences, but mutexes protect its queues anyway.
function(falafel_use_asio target)
  target_link_libraries(${target} PRIVATE Boost::headers Threads::Threads)
  if(FALAFEL_SANITIZE STREQUAL "thread")
    target_compile_definitions(${target} PRIVATE BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
endfunction()
