// A log that survives a restart of its server. A client WRITEs a record into ordinary memory of the
// server and sends a message behind it; the server's processor stores the record in memory that a
// restart keeps, and answers. The ordinary memory stands for what a crash loses on the way to
// persistent memory: buffers of the device and caches of the processor (Kashyap et al., "Correct,
// Fast Remote Persistence", 2019). Stores to kept memory are durable at once.
//
// The mistake: the client acknowledges a record when its WRITE is complete. That means that the
// server's device has the data, and nothing more. If the server restarts now, the record is lost.
//
// The cure: the client acknowledges a record when the server has answered.
//
// A READ behind the WRITE is no cure here, because it finds the record in the ordinary memory. A
// client that WRITEs to kept memory itself needs neither: there, a completed WRITE stays.
#include <falafel/explorer/check.h>
#include <falafel/explorer/check/endpoint.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace {

namespace check = falafel::check;
namespace fabric = falafel::fabric;

// Arrivals and the log have the same layout: a word for each record.
constexpr std::uint64_t records_at_most = 4;
constexpr std::uint64_t log_bytes = records_at_most * fabric::word_bytes;
constexpr std::uint64_t patience_ns = 100'000;

constexpr std::uint64_t offset_of(std::uint64_t record) { return record * fabric::word_bytes; }
constexpr std::uint64_t content_of(std::uint64_t record) { return 100 + record; }

// The message behind a record is its number, and so is the answer.
std::uint64_t record_in(const check::Connection::Message& message) {
  std::uint64_t record = 0;
  std::memcpy(&record, message.data(), sizeof record);
  return record;
}

void serve(fabric::Host& host, const std::shared_ptr<fabric::MemoryBlock>& log) {
  check::Endpoint endpoint(host);
  const std::shared_ptr<fabric::MemoryBlock> arrivals = endpoint.share("arrivals", log_bytes);
  const auto client = endpoint.accept();
  while (true) {
    const check::Connection::Message message = client->receive();
    const std::uint64_t offset = offset_of(record_in(message));
    log->store(offset, arrivals->load(offset));
    client->send(message);
  }
}

class Client {
 public:
  explicit Client(fabric::Host& host)
      : host_(host), endpoint_(host), server_(endpoint_.connect("server")) {}

  // Returns when the WRITE and the message behind it are complete.
  void append(std::uint64_t record) {
    const check::RemoteRegion& arrivals = server_->region("arrivals");
    server_->execute(check::Chain()
                         .write(arrivals, offset_of(record), content_of(record))
                         .send(std::as_bytes(std::span(&record, 1))));
  }
  // Returns when the server has answered. A server that has crashed is silent, but a READ fails.
  void wait_until_stored() {
    while (!server_->receive_until(host_.now_ns() + patience_ns)) {
      server_->read(server_->region("arrivals"), 0);
    }
  }

 private:
  fabric::Host& host_;
  check::Endpoint endpoint_;
  std::unique_ptr<check::Connection> server_;
};

void test(check::World& world, bool has_mistake) {
  const std::uint64_t records = 1 + world.choose(records_at_most);
  std::uint64_t acknowledged = 0;  // the number of records
  std::shared_ptr<fabric::MemoryBlock> log;
  world.name(0, log_bytes, "records");

  world.server("server", [&](fabric::Host& host) {
    const auto kept = host.keep_memory("log", log_bytes);
    if (!kept) return world.fail("durable_log.memory", kept.error().detail);
    log = kept->block;
    serve(host, log);
  });
  world.client("client", [&](fabric::Host& host) {
    Client client(host);
    while (acknowledged < records) {
      client.append(acknowledged);
      if (has_mistake) ++acknowledged;
      client.wait_until_stored();
      if (!has_mistake) ++acknowledged;
    }
  });
  world.run();
  for (std::uint64_t record = 0; record < acknowledged; ++record) {
    world.check(check::word(log, offset_of(record)) == content_of(record), "durable_log.lost",
                "record " + std::to_string(record) + " was acknowledged and is not in the log");
  }
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string_view variant = argument_count == 2 ? arguments[1] : "";
  if (variant != "mistake" && variant != "cure") {
    std::fputs("usage: durable_log mistake|cure\n", stderr);
    return 2;
  }
  const bool has_mistake = variant == "mistake";
  check::Options options{.name = std::string("durable_log.").append(variant)};
  options.network.faults.push_back(falafel::sim::FaultKind::server_restart);
  const check::Result result =
      check::random(options, [=](check::World& world) { test(world, has_mistake); });
  std::fputs(result.story().c_str(), stdout);
  return result.holds() ? 0 : 1;
}
