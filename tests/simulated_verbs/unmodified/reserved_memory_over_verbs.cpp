// Memory that a host over libibverbs reserves, as a program of falafel run. Prints how many of its
// pages hold memory after each step.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fabric/verbs/host.h"

namespace {

using namespace falafel;  // NOLINT(google-build-using-namespace): a program of one file

constexpr std::uint64_t page_bytes = 4'096;
constexpr std::uint64_t reserved_bytes = 2'048 * page_bytes;
constexpr fabric::Access rights_of_chunk{.remote_read = true};
constexpr fabric::Access rights_of_table{
    .local_write = true, .remote_read = true, .remote_atomic = true};

void print_resident_pages(std::string_view step, fabric::MemoryBlock& block) {
  std::vector<unsigned char> states(reserved_bytes / page_bytes);
  if (::mincore(block.bytes().data(), reserved_bytes, states.data()) != 0) {
    fmt::print("mincore failed\n");
    return;
  }
  const auto resident =
      std::ranges::count_if(states, [](unsigned char state) { return (state & 1U) != 0; });
  fmt::print("{}: {}\n", step, resident);
}

void commit(fabric::MemoryBlock& block, std::uint64_t first_page, std::uint64_t page_count) {
  const auto committed = block.commit(first_page * page_bytes, page_count * page_bytes);
  if (!committed) fmt::print("{}\n", committed.error().detail);
}

// The table is pages 0 to 3, and a block is pages 8 to 15.
void use(fabric::Host& host) {
  const auto block = host.reserve_memory(reserved_bytes).value();
  const auto domain = host.device(0).create_protection_domain();
  const auto chunk = domain->register_memory(block, 0, reserved_bytes, rights_of_chunk).value();
  const auto changed = chunk->change_access({});
  fmt::print("other rights: {}\n", changed ? "given" : to_string(changed.error().code));
  print_resident_pages("reserved", *block);
  auto table = domain->register_memory(block, 0, 4 * page_bytes, rights_of_table).value();
  print_resident_pages("table registered", *block);
  commit(*block, 8, 8);
  block->store(8 * page_bytes, 1);
  print_resident_pages("block committed", *block);
  block->release(8 * page_bytes, 8 * page_bytes);
  print_resident_pages("block released", *block);
  commit(*block, 0, 4);
  block->release(3 * page_bytes, 2 * page_bytes);
  print_resident_pages("part of the table released", *block);
  table = nullptr;
  block->release(3 * page_bytes, 2 * page_bytes);
  print_resident_pages("released without a registration", *block);
  commit(*block, 8, 1);
  fmt::print("word in the block: {}\n", block->load(8 * page_bytes));
}

}  // namespace

int main() {
  const auto host = verbs::Host::create({.name = "server"});
  if (!host) return 2;
  fmt::print("obstacle: '{}'\n", (*host)->obstacle_to_paging());
  (*host)->run_program([&] { use(**host); });
  return 0;
}
