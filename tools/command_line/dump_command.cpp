// falafel dump, falafel load: the contents of a running store in a file.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "falafel/cluster.h"
#include "falafel/store.h"
#include "tools/command_line/commands.h"
#include "tools/command_line/dump/dump_file.h"
#include "tools/command_line/dump/transfer.h"
#include "tools/command_line/failed_command.h"
#include "tools/command_line/store_options.h"
#include "tools/server/exit_status.h"

namespace falafel::command_line {
namespace {

struct DumpTexts {
  ServerAddress address;
  ServerList list;  // load: instead of the server at `address`
  std::string file = "-";
  bool keeps_existing = false;
  bool shows_progress = false;
};

constexpr const char* shared_exit_statuses =
    "2 wrong usage, 3 no such server, 4 no permission, 5 the server speaks another\n"
    "version, 7 no memory on this machine, ";

// Prints the number of entries every second.
dump::Progress progress_of(const char* command, bool is_shown) {
  using Clock = std::chrono::steady_clock;
  if (!is_shown) return [](std::uint64_t) {};
  return [command, next = Clock::now() + std::chrono::seconds(1)](std::uint64_t entries) mutable {
    const Clock::time_point now = Clock::now();
    if (now < next) return;
    next = now + std::chrono::seconds(1);
    fmt::print(stderr, "falafel {}: {} entries\n", command, entries);
  };
}

// A dump takes its place only when it is complete, so that it replaces no older one before.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path) : path_(path) {
    if (path_ == "-") {
      stream_ = stdout;
      return;
    }
    // A dump has the values of all keys, which others may not be allowed to read.
    const int descriptor =
        ::open(temporary().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (descriptor >= 0) stream_ = ::fdopen(descriptor, "wb");
  }
  ~OutputFile() {
    if (path_ == "-" || stream_ == nullptr) return;
    std::fclose(stream_);
    ::unlink(temporary().c_str());
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  bool is_open() const { return stream_ != nullptr; }
  bool write(std::span<const std::byte> bytes) {
    return bytes.empty() || std::fwrite(bytes.data(), 1, bytes.size(), stream_) == bytes.size();
  }
  bool complete() {
    if (std::fflush(stream_) != 0) return false;
    if (path_ == "-") return true;
    return ::fsync(::fileno(stream_)) == 0 && std::rename(temporary().c_str(), path_.c_str()) == 0;
  }

 private:
  std::string temporary() const { return path_ + ".incomplete"; }

  std::string path_;
  std::FILE* stream_ = nullptr;
};

int refuse_output(const DumpTexts& texts) {
  const int error = errno;
  const std::string place = texts.file == "-" ? "standard output" : fmt::format("'{}'", texts.file);
  return fail_command("dump", server_program::no_input_output,
                      fmt::format("cannot write the dump to {}: {}", place, std::strerror(error)));
}

std::uint64_t time_of_day_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

int report_failed_scan(engine::Answer answer, std::uint64_t entries) {
  std::string_view remedy = "; the dump is incomplete; retry";
  if (answer == engine::Answer::out_of_memory) {
    remedy = "; this machine has no memory to read it; free some";
  }
  return fail_command("dump", server_program::status_of_reading(answer),
                      fmt::format("{} after {} entries{}", to_string(answer), entries, remedy));
}

int dump_store(const DumpTexts& texts) {
  if (texts.file == "-" && ::isatty(STDOUT_FILENO) != 0) {
    return fail_command(
        "dump", server_program::wrong_usage,
        "a dump is no text for a terminal; name a file, or redirect standard output");
  }
  auto store = Store::open({.server = texts.address.server_name(), .fabric = texts.address.fabric});
  if (!store) {
    return fail_command("dump", server_program::status_of(store.error().problem),
                        store.error().detail);
  }
  OutputFile file(texts.file);
  if (!file.is_open()) return refuse_output(texts);
  dump::Writer writer([&file](std::span<const std::byte> bytes) { return file.write(bytes); });
  if (!writer.begin(time_of_day_ns())) return refuse_output(texts);
  const auto dumped = dump::dump_store(**store, writer, progress_of("dump", texts.shows_progress));
  const bool has_damaged = !dumped && dumped.error().answer == engine::Answer::corrupted;
  if (!dumped && dumped.error().is_of_file) return refuse_output(texts);
  if (!dumped && !has_damaged) return report_failed_scan(dumped.error().answer, writer.entries());
  if (!writer.end() || !file.complete()) return refuse_output(texts);
  fmt::print(stderr, "falafel dump: {} entries, {} bytes\n", writer.entries(), writer.bytes());
  if (!has_damaged) return server_program::success;
  return fail_command("dump", server_program::corrupted,
                      "the dump is complete but for entries whose containers do not verify");
}

class InputFile {
 public:
  explicit InputFile(const std::string& path)
      : stream_(path == "-" ? stdin : std::fopen(path.c_str(), "rbe")) {}
  ~InputFile() {
    if (stream_ != nullptr && stream_ != stdin) std::fclose(stream_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  bool is_open() const { return stream_ != nullptr; }
  std::size_t read(std::span<std::byte> buffer) {
    const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), stream_);
    if (std::ferror(stream_) != 0) error_ = errno;
    return count;
  }
  // The number of the system's error; 0: none.
  int error() const { return error_; }

 private:
  std::FILE* stream_;
  int error_ = 0;
};

int refuse_input(const DumpTexts& texts, int error) {
  return fail_command("load", server_program::no_input_output,
                      fmt::format("cannot read '{}': {}", texts.file, std::strerror(error)));
}

std::string describe(const dump::LoadCounts& counts) {
  std::string text = fmt::format("{} entries loaded", counts.loaded);
  if (counts.kept > 0) text += fmt::format(", {} kept as they were", counts.kept);
  if (counts.table_full > 0) {
    text += fmt::format(", {} not loaded because the table is full", counts.table_full);
  }
  if (counts.store_full > 0) {
    text += fmt::format(", {} not loaded because the memory is full", counts.store_full);
  }
  if (counts.too_large > 0) {
    text += fmt::format(", {} not loaded because they are larger than a region", counts.too_large);
  }
  return text;
}

int status_of(const dump::LoadCounts& counts) {
  if (counts.table_full > 0) return server_program::table_full;
  if (counts.store_full > 0) return server_program::store_full;
  return counts.too_large > 0 ? server_program::wrong_size : server_program::success;
}

int report_failed_load(const DumpTexts& texts, const dump::LoadFailure& failure, int error,
                       const dump::LoadCounts& counts) {
  if (error != 0) return refuse_input(texts, error);
  if (!failure.problem_of_file.empty()) {
    return fail_command(
        "load", server_program::corrupted,
        fmt::format("'{}': {}; {} before", texts.file, failure.problem_of_file, describe(counts)));
  }
  const std::string_view remedy =
      failure.answer == engine::Answer::not_a_cache
          ? "the dump has values with a time to live; serve with --cache"
          : "load the dump again";
  return fail_command(
      "load", server_program::status_of(failure.answer),
      fmt::format("{}: {}; {}", describe(counts), to_string(failure.answer), remedy));
}

int load_into(const DumpTexts& texts, dump::Destination destination) {
  InputFile file(texts.file);
  if (!file.is_open()) return refuse_input(texts, errno);
  dump::Reader reader([&file](std::span<std::byte> buffer) { return file.read(buffer); });
  dump::Load load(std::move(destination), texts.keeps_existing,
                  progress_of("load", texts.shows_progress));
  const auto failure = load.run(reader);
  if (failure) return report_failed_load(texts, *failure, file.error(), load.counts());
  fmt::print(stderr, "falafel load: {}\n", describe(load.counts()));
  return status_of(load.counts());
}

int load_store(const DumpTexts& texts) {
  const auto load = [&](const auto& opened) {
    if (opened) return load_into(texts, dump::destination_of(**opened));
    return fail_command("load", server_program::status_of(opened.error().problem),
                        opened.error().detail);
  };
  const FabricOptions& fabric = texts.address.fabric;
  if (texts.list.is_empty()) {
    return load(Store::open({.server = texts.address.server_name(), .fabric = fabric}));
  }
  return load(Cluster::open({.servers = texts.list.servers,
                             .etcd = texts.list.etcd,
                             .etcd_key = texts.list.etcd_key,
                             .etcd_access = texts.list.etcd_access,
                             .store = {.fabric = fabric}}));
}

CLI::App* add_command(CLI::App& app, const char* name, const char* meaning,
                      const std::shared_ptr<DumpTexts>& texts, int (*run)(const DumpTexts&),
                      int& exit_status) {
  CLI::App* const command = app.add_subcommand(name, meaning);
  add_server_options(*command, texts->address);
  add_spare_port_options(*command, texts->address.fabric);
  command->add_flag("--progress", texts->shows_progress,
                    "print the number of entries on standard error every second");
  command->callback([texts, run, &exit_status] { exit_status = run(*texts); });
  return command;
}

}  // namespace

void add_dump_commands(CLI::App& app, int& exit_status) {
  const auto of_dump = std::make_shared<DumpTexts>();
  CLI::App* const dump_command =
      add_command(app, "dump", "write all entries of a running store to a file", of_dump,
                  dump_store, exit_status);
  dump_command->add_option("file", of_dump->file, "the file; -: standard output")
      ->capture_default_str();
  dump_command->footer(
      fmt::format("Exit status: 0 done, {}11 the server accepts no more clients\nor does not "
                  "respond, 12 the connection was lost, 14 the dump is complete but for damaged\n"
                  "entries, 15 the file cannot be written, 16 the server did not answer in time.",
                  shared_exit_statuses));

  const auto of_load = std::make_shared<DumpTexts>();
  CLI::App* const load_command =
      add_command(app, "load", "set all entries of a dump in a running store", of_load, load_store,
                  exit_status);
  add_servers_option(*load_command, of_load->list);
  load_command->add_option("file", of_load->file, "the file; -: standard input")
      ->capture_default_str();
  load_command->add_flag("--keep-existing", of_load->keeps_existing,
                         "leave keys alone that the store has (default: set them too)");
  load_command->footer(
      fmt::format("Exit status: 0 all entries are in the store, {}8 some entries found\nthe table "
                  "full, 9 the memory full, 10 some are too large, 11 the server accepts no more\n"
                  "clients or does not respond, 12 the connection was lost, 13 the same during a "
                  "change,\n14 the file is damaged or no dump, 15 it cannot be read, 16 the server "
                  "did not answer in time.",
                  shared_exit_statuses));
}

}  // namespace falafel::command_line
