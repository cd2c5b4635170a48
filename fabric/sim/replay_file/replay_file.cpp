// Reading and writing replay files on disk.
#include "fabric/sim/replay_file/replay_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "fabric/assert.h"

namespace falafel::sim {

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FileHandle = std::unique_ptr<std::FILE, CloseFile>;

tl::unexpected<std::string> failure(const std::string& path, std::string_view message) {
  return tl::unexpected<std::string>(fmt::format("{}: {}", path, message));
}

tl::unexpected<std::string> system_failure(const std::string& path, std::string_view action) {
  return failure(path, fmt::format("{}: {}", action, std::strerror(errno)));
}

tl::expected<std::string, std::string> read_text(const std::string& path) {
  const FileHandle file(std::fopen(path.c_str(), "rb"));
  if (!file) return system_failure(path, "cannot open the file");
  std::string text;
  std::string block(std::size_t{1} << 16U, '\0');
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), file.get())) {
    text.append(block, 0, count);
  }
  if (std::ferror(file.get()) != 0) return system_failure(path, "cannot read the file");
  return text;
}

}  // namespace

tl::expected<ReplayFile, std::string> load_replay_file(const std::string& path) {
  const tl::expected<std::string, std::string> text = read_text(path);
  if (!text) return tl::unexpected<std::string>(text.error());
  tl::expected<ReplayFile, std::string> file = parse_replay_file(*text);
  if (!file) return failure(path, file.error());
  return file;
}

tl::expected<void, std::string> save_replay_file(const ReplayFile& file, const std::string& path) {
  FileHandle handle(std::fopen(path.c_str(), "wb"));
  if (!handle) return system_failure(path, "cannot create the file");
  const std::string text = serialize(file);
  const auto read_back = parse_replay_file(text);
  FALAFEL_ASSERT(read_back && read_back->choices == file.choices,
                 "the replay file for {} cannot be read: {}", path,
                 read_back ? "other choices" : read_back.error());
  const bool is_written = std::fwrite(text.data(), 1, text.size(), handle.get()) == text.size();
  // Closing flushes the buffer; only its result tells whether the disk had room for everything.
  if (std::fclose(handle.release()) != 0 || !is_written) {
    return system_failure(path, "cannot write the file");
  }
  return {};
}

}  // namespace falafel::sim
