// Defines FALAFEL_ADDRESS_SANITIZER and FALAFEL_THREAD_SANITIZER if the sanitizer is active. GCC
// and clang report this differently.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FALAFEL_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer)
#define FALAFEL_THREAD_SANITIZER
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
#define FALAFEL_ADDRESS_SANITIZER
#endif
#if defined(__SANITIZE_THREAD__)
#define FALAFEL_THREAD_SANITIZER
#endif
