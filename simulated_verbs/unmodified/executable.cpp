#include "simulated_verbs/unmodified/executable.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

namespace falafel::simulated_verbs {

namespace {

tl::expected<std::vector<std::string>, std::string> split(std::string_view command) {
  std::vector<std::string> words;
  bool is_within_word = false;
  char quote = '\0';
  for (std::size_t index = 0; index < command.size(); ++index) {
    char letter = command[index];
    const bool is_space = letter == ' ' || letter == '\t' || letter == '\n';
    if (quote == '\0' && is_space) {
      is_within_word = false;
      continue;
    }
    if (!is_within_word) words.emplace_back();
    is_within_word = true;
    if (letter == quote) {
      quote = '\0';
    } else if (quote == '\0' && (letter == '\'' || letter == '"')) {
      quote = letter;
    } else {
      if (letter == '\\' && quote != '\'' && index + 1 < command.size()) letter = command[++index];
      words.back() += letter;
    }
  }
  if (quote != '\0') return tl::unexpected(fmt::format("'{}': a quote is not closed", command));
  if (words.empty()) return tl::unexpected(std::string("the command is empty; name a program"));
  return words;
}

std::optional<std::string> find_in_path(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return access(name.c_str(), X_OK) == 0 ? std::optional(name) : std::nullopt;
  }
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string candidate; std::getline(folders, candidate, ':');) {
    candidate.append("/").append(name);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return std::nullopt;
}

template <typename Value>
std::optional<Value> read_at(const std::string& file, std::size_t offset) {
  Value value{};
  if (offset > file.size() || file.size() - offset < sizeof value) return std::nullopt;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

// The loader that the file names, empty if it names none, and whether it has fixed addresses.
std::pair<std::string, bool> loader_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(stream)),
                         std::istreambuf_iterator<char>());
  const auto header = read_at<ElfW(Ehdr)>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return {};
  if (header->e_type != ET_DYN && header->e_type != ET_EXEC) return {};
  for (std::size_t index = 0; index < header->e_phnum; ++index) {
    const auto part =
        read_at<ElfW(Phdr)>(file, header->e_phoff + index * std::size_t{header->e_phentsize});
    if (!part || part->p_type != PT_INTERP || part->p_filesz == 0) continue;
    if (part->p_offset > file.size()) return {};
    return {file.substr(part->p_offset, part->p_filesz - 1), header->e_type == ET_EXEC};
  }
  return {};
}

}  // namespace

tl::expected<Executable, std::string> find_executable(std::string_view command) {
  auto words = split(command);
  if (!words) return tl::unexpected(words.error());
  const std::optional<std::string> path = find_in_path(words->front());
  if (!path) {
    return tl::unexpected(
        fmt::format("there is no program '{}'; install it, or give its path", words->front()));
  }
  auto [loader, has_fixed_addresses] = loader_of(*path);
  if (loader.empty()) {
    return tl::unexpected(
        fmt::format("{} is not a program with shared libraries, which is what runs in the "
                    "simulator; scripts and static programs do not",
                    *path));
  }
  return Executable{.path = *path,
                    .loader = std::move(loader),
                    .words = std::move(*words),
                    .has_fixed_addresses = has_fixed_addresses};
}

}  // namespace falafel::simulated_verbs
