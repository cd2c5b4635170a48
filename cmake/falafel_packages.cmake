# Finds the packages that the chosen parts of the project need.
include(falafel_dependencies)

# falafel_require_dependencies(<component> <advice if one is missing>)
function(falafel_require_dependencies component advice)
  falafel_find_dependencies(${component} missing GLOBAL)
  if(missing)
    list(JOIN missing " " missing)
    message(FATAL_ERROR "Falafel needs packages that are missing. On Debian: "
                        "apt-get install ${missing}${advice}")
  endif()
endfunction()

falafel_require_dependencies(explorer "")
if(FALAFEL_BUILD_STORE)
  falafel_require_dependencies(client ". Or leave out the store: FALAFEL_BUILD_STORE=OFF")
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(ibverbs IMPORTED_TARGET GLOBAL libibverbs)  # without it there is no fabric/verbs
endif()
if(FALAFEL_BUILD_SIMULATED_VERBS)
  falafel_require_dependencies(simulated_verbs
    ". Or leave out existing programs: FALAFEL_BUILD_SIMULATED_VERBS=OFF")
endif()
if(FALAFEL_BUILD_TOOLS)
  find_package(CLI11 REQUIRED)
  find_package(benchmark QUIET)
  pkg_check_modules(tcmalloc REQUIRED IMPORTED_TARGET libtcmalloc_minimal)
endif()
if(FALAFEL_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  find_package(rapidcheck REQUIRED)
endif()
