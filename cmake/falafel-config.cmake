# find_package(falafel COMPONENTS <component>...):
#   simulator   falafel::simulator   the fabric contract and the deterministic simulator
#   checkers    falafel::checkers    histories, specifications, linearizability
#   explorer    falafel::explorer    campaigns, shrinking, replay: tests your own program
#   simulated_verbs  falafel::simulated_verbs  in place of libibverbs: runs existing programs
#                    falafel::simulated_verbs_memory_hooks, falafel_add_program()
#   client      falafel::client      the store's client library, for C++ and C
#   c           falafel::c           its C interface alone, as a shared library
# Without components: client, whose target is also called falafel::falafel.
include("${CMAKE_CURRENT_LIST_DIR}/falafel_dependencies.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/falafel_add_program.cmake")

if(NOT falafel_FIND_COMPONENTS)
  set(falafel_FIND_COMPONENTS client)
  set(falafel_FIND_REQUIRED_client TRUE)
endif()

# falafel_load_component(<component>): defines its targets and those that it needs, or sets
# falafel_<component>_problem.
macro(falafel_load_component component)
  set(falafel_${component}_problem "")
  set(falafel_needed_by_simulator "")
  set(falafel_needed_by_checkers simulator)
  set(falafel_needed_by_explorer simulator checkers)
  set(falafel_needed_by_simulated_verbs simulator checkers explorer)
  set(falafel_needed_by_client "")
  set(falafel_needed_by_c "")
  if(NOT EXISTS "${CMAKE_CURRENT_LIST_DIR}/falafel-${component}.cmake")
    set(falafel_${component}_problem
      "This installation has no component '${component}'. There are simulator, checkers, explorer, \
and, if it was built with FALAFEL_BUILD_STORE=ON, client and c, and with \
FALAFEL_BUILD_SIMULATED_VERBS=ON, simulated_verbs.")
  else()
    falafel_find_dependencies(${component} falafel_missing)
    if(falafel_missing)
      list(JOIN falafel_missing " " falafel_missing)
      set(falafel_${component}_problem
        "The component '${component}' needs packages that are missing. On Debian: apt-get install \
${falafel_missing}")
    else()
      foreach(falafel_file IN LISTS falafel_needed_by_${component} ITEMS ${component})
        include("${CMAKE_CURRENT_LIST_DIR}/falafel-${falafel_file}.cmake")
      endforeach()
    endif()
  endif()
endmacro()

foreach(falafel_component IN LISTS falafel_FIND_COMPONENTS)
  falafel_load_component(${falafel_component})
  if(NOT falafel_${falafel_component}_problem)
    set(falafel_${falafel_component}_FOUND TRUE)
  elseif(falafel_FIND_REQUIRED_${falafel_component})
    set(falafel_FOUND FALSE)
    set(falafel_NOT_FOUND_MESSAGE "${falafel_${falafel_component}_problem}")
    return()
  endif()
endforeach()
