// Memory that this process shares with processes that it starts: a file without a name, and where
// it is mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace falafel::simulated_verbs {

class SharedFile {
 public:
  // Zeroed; takes memory as it is used. Throws a std::system_error if the system refuses.
  SharedFile(const char* name, std::size_t bytes);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  int descriptor() const { return descriptor_; }
  // All that was written to it.
  std::string text() const;

 private:
  int descriptor_;
};

class SharedMapping {
 public:
  // Maps that part of the file at this address, or anywhere if it is 0. Throws a std::system_error.
  SharedMapping(int descriptor, std::uint64_t offset, std::size_t bytes, std::uint64_t address);
  ~SharedMapping();
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;

  void* begin() const { return begin_; }

 private:
  void* begin_;
  std::size_t bytes_;
};

}  // namespace falafel::simulated_verbs
