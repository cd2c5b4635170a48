# find_package(falafel): the target falafel::falafel.
include(CMakeFindDependencyMacro)
find_dependency(Boost 1.74 COMPONENTS context)
find_dependency(Threads)
find_dependency(fmt)
find_dependency(tl-expected)
include("${CMAKE_CURRENT_LIST_DIR}/falafel-targets.cmake")
