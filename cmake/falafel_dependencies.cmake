# The packages that each component needs. The build and the installed CMake package share this file.
#
# falafel_find_dependencies(<component> <variable> [GLOBAL]): looks for the packages of a component
# and sets the variable to the Debian packages that are missing. Components: simulator, checkers,
# explorer, simulated_verbs, client, c. With GLOBAL, the whole build sees the targets, not only
# this folder.

# Names a missing package instead of its target.
macro(falafel_find_package target debian_package)
  if(NOT TARGET ${target})
    find_package(${ARGN} QUIET ${global})
    if(NOT TARGET ${target})
      list(APPEND missing ${debian_package})
    endif()
  endif()
endmacro()

# The same for a library with a pkg-config file; the target is PkgConfig::<name>.
macro(falafel_find_module name module debian_package)
  if(NOT TARGET PkgConfig::${name})
    find_package(PkgConfig QUIET)
    if(NOT PKG_CONFIG_EXECUTABLE)
      list(APPEND missing pkg-config)
    else()
      pkg_check_modules(${name} QUIET IMPORTED_TARGET ${global} ${module})
    endif()
    if(NOT TARGET PkgConfig::${name})
      list(APPEND missing ${debian_package})
    endif()
  endif()
endmacro()

function(falafel_find_dependencies component variable)
  set(global ${ARGN})
  set(missing "")
  if(component STREQUAL "c")  # the shared library finds its own libraries
    set(${variable} "" PARENT_SCOPE)
    return()
  endif()
  falafel_find_package(Threads::Threads libc6-dev Threads)
  falafel_find_package(Boost::context libboost-context-dev Boost 1.74 COMPONENTS context)
  falafel_find_package(fmt::fmt libfmt-dev fmt)
  falafel_find_package(tl::expected libexpected-dev tl-expected)
  if(component STREQUAL "client")
    falafel_find_package(OpenSSL::SSL libssl-dev OpenSSL 3.0)
    falafel_find_module(isal libisal libisal-dev)
    falafel_find_module(sodium libsodium libsodium-dev)
  else()
    falafel_find_package(nlohmann_json::nlohmann_json nlohmann-json3-dev nlohmann_json)
    falafel_find_module(xxhash libxxhash libxxhash-dev)
  endif()
  if(component STREQUAL "simulated_verbs")  # its headers only
    falafel_find_module(ibverbs libibverbs libibverbs-dev)
    falafel_find_module(rdmacm librdmacm librdmacm-dev)
  endif()
  list(REMOVE_DUPLICATES missing)
  set(${variable} "${missing}" PARENT_SCOPE)
endfunction()
