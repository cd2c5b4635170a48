#include "tools/store_benchmark/board.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "fabric/assert.h"

namespace falafel::store_benchmark {

void SharedText::set(std::string_view text) {
  const std::string_view fitting = text.substr(0, characters_.size() - 1);
  *std::ranges::copy(fitting, characters_.begin()).out = '\0';
}

void UnmapBoard::operator()(Board* board) const {
  board->~Board();
  munmap(board, sizeof *board);
}

std::unique_ptr<Board, UnmapBoard> make_shared_board() {
  void* const memory =
      mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  FALAFEL_ASSERT(memory != MAP_FAILED, "cannot allocate {} bytes of memory for the board",
                 sizeof(Board));
  return std::unique_ptr<Board, UnmapBoard>(new (memory) Board);
}

}  // namespace falafel::store_benchmark
