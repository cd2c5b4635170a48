# Toolchain for ARM64, from another machine: Debian's cross compiler, and Debian's arm64 packages in
# a folder, which tools/setup --arm64 makes. Programs that the build runs are those of this machine.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# Finds libraries in Debian's folders of this architecture.
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(CMAKE_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../build/arm64-packages")
cmake_path(NORMAL_PATH CMAKE_SYSROOT)
if(NOT EXISTS "${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu")
  message(FATAL_ERROR "${CMAKE_SYSROOT} has no arm64 packages; run tools/setup --arm64")
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# pkg-config must not find the libraries of this machine.
set(ENV{PKG_CONFIG_LIBDIR}
  "${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${CMAKE_SYSROOT}")

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L "${CMAKE_SYSROOT}")
