// The work of a host's processor, as a program reports it for predictions of performance.
#pragma once

#include <cstdint>

namespace falafel::fabric {

// Kinds of work, each with its own duration.
enum class Work : std::uint8_t {
  hash,  // of a number of bytes, as the next four
  checksum,
  crc64_check,   // a CRC of 64 bits without instructions for it, by who reads the bytes
  crc64_update,  // the same, by who writes them
  copy,
  operation,   // all else that one operation of a store takes; has no bytes
  round_trip,  // all else that one of its round trips takes; has no bytes
  lock,        // taking and releasing a lock that nobody else holds; has no bytes
  // One step along a list in memory. In place of bytes: the number of pairs in its table, because
  // the caches hold fewer of more.
  list_step,
};

class Processor {
 public:
  virtual ~Processor() = default;

  // The processor has done this work for the calling fiber, on `bytes` bytes. The program says so
  // where the work takes time that a prediction of performance needs: a timed run of the simulator
  // lets that time pass, without other fibers of the host. Everywhere else, it does nothing,
  // because the work itself takes the time.
  virtual void spend(Work work, std::uint64_t bytes) = 0;
};

}  // namespace falafel::fabric
