// Programs that allocate memory: from a heap of each process, at the same addresses in each run.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/simulated_verbs/programs_of_test.h"

namespace falafel::simulated_verbs {
namespace {

std::uint64_t number_of(const void* memory) { return reinterpret_cast<std::uint64_t>(memory); }

bool is_aligned(const void* memory, std::size_t alignment) {
  return memory != nullptr && number_of(memory) % alignment == 0;
}

// A compiler may leave out allocations that it sees, and knows which fail.
template <typename Value>
Value used(Value value) {
  asm volatile("" : "+r"(value) : : "memory");
  return value;
}

void expect_host_succeeds(const Programs::Main& main) {
  expect_success([&](Programs& programs) { programs.client("host", main); }, {}, 10);
}

TEST(Allocation, ReturnsAlignedMemory) {
  expect_host_succeeds([] {
    FALAFEL_REQUIRE(is_aligned(used(malloc(1)), alignof(std::max_align_t)));
    FALAFEL_REQUIRE(is_aligned(used(aligned_alloc(64, 640)), 64));
    FALAFEL_REQUIRE(is_aligned(used(memalign(used(std::size_t{100}), 5)), 128));
    FALAFEL_REQUIRE(is_aligned(used(valloc(1)), static_cast<std::size_t>(sysconf(_SC_PAGESIZE))));
    void* page = nullptr;
    FALAFEL_REQUIRE(posix_memalign(&page, 4'096, 10'000) == 0);
    FALAFEL_REQUIRE(is_aligned(used(page), 4'096));
    FALAFEL_REQUIRE(posix_memalign(&page, used(std::size_t{3}), 8) == EINVAL);
    FALAFEL_REQUIRE(used(malloc(0)) != nullptr);
    return 0;
  });
}

TEST(Allocation, ReallocKeepsTheContents) {
  expect_host_succeeds([] {
    auto* text = static_cast<char*>(used(realloc(nullptr, 6)));
    std::memcpy(text, "hello", 6);
    text = static_cast<char*>(used(realloc(text, 100'000)));
    FALAFEL_REQUIRE(std::strcmp(text, "hello") == 0);
    text = static_cast<char*>(used(reallocarray(text, 2, 3)));
    FALAFEL_REQUIRE(std::strcmp(text, "hello") == 0);
    FALAFEL_REQUIRE(malloc_usable_size(text) >= 6);
    free(text);
    text = strdup("copy");
    FALAFEL_REQUIRE(std::strcmp(used(text), "copy") == 0);
    free(text);
    return 0;
  });
}

TEST(Allocation, ZeroesMemoryThatIsUsedAgain) {
  expect_host_succeeds([] {
    void* const dirty = used(malloc(256));
    std::memset(dirty, 0xff, 256);
    free(used(dirty));
    auto* const clean = static_cast<unsigned char*>(used(calloc(16, 16)));
    FALAFEL_REQUIRE(clean == dirty);
    FALAFEL_REQUIRE(std::all_of(clean, clean + 256, [](unsigned char byte) { return byte == 0; }));
    return 0;
  });
}

TEST(Allocation, UsesFreedMemoryAgain) {
  expect_host_succeeds([] {
    for (int round = 0; round < 10'000; ++round) {
      void* const memory = used(malloc(1'000'000));
      FALAFEL_REQUIRE(memory != nullptr);
      free(memory);
    }
    return 0;
  });
}

TEST(Allocation, FailsWithoutRoom) {
  expect_host_succeeds([] {
    errno = 0;
    FALAFEL_REQUIRE(used(malloc(used(SIZE_MAX / 2))) == nullptr && errno == ENOMEM);
    errno = 0;
    FALAFEL_REQUIRE(used(calloc(used(SIZE_MAX / 2), 4)) == nullptr && errno == ENOMEM);
    return 0;
  });
}

// getline's buffer comes from the C library itself.
TEST(Allocation, FreesWhatTheCLibraryAllocated) {
  expect_host_succeeds([] {
    char* text = nullptr;
    FALAFEL_REQUIRE(asprintf(&text, "%d", 12) == 2);
    FALAFEL_REQUIRE(std::strcmp(text, "12") == 0);
    free(text);
    return 0;
  });
}

TEST(Allocation, AddressesAreTheSameInEachRun) {
  // The run of another seed, and the second run of the same.
  std::vector<std::vector<std::uint64_t>> addresses(2);
  std::vector<std::uint64_t>* current = nullptr;
  const check::WorldProgram program("addresses", {}, as_body([&](Programs& programs) {
                                      programs.clients(2, [&](std::uint32_t client) {
                                        if (client == 1) sleep(3'600);
                                        const auto first = number_of(used(malloc(100)));
                                        const auto second = number_of(used(malloc(70'000)));
                                        current->push_back(first);
                                        current->push_back(second);
                                        return 0;
                                      });
                                    }));
  const auto runner = program.create_runner();
  for (const std::uint64_t seed : {1U, 2U}) {
    current = &addresses[seed - 1];
    const auto scenario = program.draw(seed);
    runner->run(*scenario, *explorer::make_seeded_strategy(*scenario, seed));
  }
  ASSERT_EQ(addresses[0].size(), 4U);
  EXPECT_TRUE(std::ranges::all_of(addresses[0], [&](std::uint64_t address) {
    return std::ranges::count(addresses[1], address) == 1;
  }));
}

TEST(Allocation, ProcessesHaveMemoryOfTheirOwn) {
  std::array<char*, 2> buffers{};
  expect_success([&](Programs& programs) {
    buffers = {};
    programs.clients(2, [&](std::uint32_t client) {
      const auto letter = static_cast<char>('a' + client);
      for (int round = 0; round < 5; ++round) {
        auto* const buffer = static_cast<char*>(used(malloc(64)));
        buffers[client] = buffer;
        std::memset(buffer, letter, 64);
        usleep(10);
        FALAFEL_REQUIRE(std::string(buffer, 64) == std::string(64, letter));
        FALAFEL_REQUIRE(buffers[0] != buffers[1]);
        free(used(buffer));
      }
      return 0;
    });
  });
}

}  // namespace
}  // namespace falafel::simulated_verbs
