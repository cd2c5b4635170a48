// Names of hosts and processes: getaddrinfo, gethostbyname, gethostname, getpid. They are those of
// the subnet; services are numbers.
#include <arpa/inet.h>
#include <netdb.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "simulated_verbs/internet_address.h"
#include "simulated_verbs/library_call.h"
#include "simulated_verbs/not_simulated.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/program_heap.h"
#include "simulated_verbs/subnet.h"

namespace falafel::simulated_verbs {

namespace {

constexpr pid_t first_process_number = 1000;

std::optional<std::uint32_t> parse_address(const char* text) {
  in_addr address{};
  if (inet_aton(text, &address) == 0) return std::nullopt;
  return ntohl(address.s_addr);
}

std::optional<std::uint32_t> resolve_name(const Process& process, const char* name) {
  if (const auto address = parse_address(name)) return address;
  if (std::string_view(name) == "localhost") return loopback_address;
  return address_of_name(process.subnet(), name);
}

std::optional<std::uint16_t> parse_port(const char* service) {
  const std::string_view text = service == nullptr ? "0" : service;
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

template <typename Value>
Value* allocate_on_heap(const Process& process, const Value& value = {}) {
  void* const memory = process.heap().allocate(sizeof(Value));
  return memory == nullptr ? nullptr : new (memory) Value(value);
}

char* allocate_text(const Process& process, std::string_view text) {
  auto* const copy = static_cast<char*>(process.heap().allocate(text.size() + 1));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

// Address and canonical name have allocations of their own, which free_addresses knows.
addrinfo* allocate_address(const Process& process, const Endpoint& endpoint,
                           const addrinfo& hints) {
  auto* const address = allocate_on_heap<sockaddr_in>(process, to_sockaddr(endpoint));
  addrinfo found{};
  found.ai_family = AF_INET;
  found.ai_socktype = hints.ai_socktype == 0 ? SOCK_STREAM : hints.ai_socktype;
  found.ai_protocol = found.ai_socktype == SOCK_STREAM  ? IPPROTO_TCP
                      : found.ai_socktype == SOCK_DGRAM ? IPPROTO_UDP
                                                        : hints.ai_protocol;
  found.ai_addrlen = sizeof *address;
  found.ai_addr = reinterpret_cast<sockaddr*>(address);
  return allocate_on_heap<addrinfo>(process, found);
}

// The results of getaddrinfo are codes of their own (EAI_NONAME).
int get_addresses(const Process& process, const char* name, const char* service,
                  const addrinfo& hints, addrinfo** result) {
  if (name == nullptr && service == nullptr) return EAI_NONAME;
  if (hints.ai_family != AF_UNSPEC && hints.ai_family != AF_INET) {
    report_not_simulated(hints.ai_family == AF_INET6 ? "getaddrinfo(AF_INET6)"
                                                     : "getaddrinfo(ai_family)");
    return hints.ai_family == AF_INET6 ? EAI_ADDRFAMILY : EAI_FAMILY;
  }
  const std::optional<std::uint16_t> port = parse_port(service);
  if (!port) return (hints.ai_flags & AI_NUMERICSERV) != 0 ? EAI_NONAME : EAI_SERVICE;
  std::optional<std::uint32_t> address;
  if (name == nullptr) {
    address = (hints.ai_flags & AI_PASSIVE) != 0 ? any_address : loopback_address;
  } else if ((hints.ai_flags & AI_NUMERICHOST) != 0) {
    address = parse_address(name);
  } else {
    address = resolve_name(process, name);
  }
  if (!address) return EAI_NONAME;
  *result = allocate_address(process, {.address = *address, .port = *port}, hints);
  if ((hints.ai_flags & AI_CANONNAME) != 0) {
    (*result)->ai_canonname = allocate_text(process, name == nullptr ? "localhost" : name);
  }
  return 0;
}

void free_addresses(const Process& process, addrinfo* first) {
  ProgramHeap& heap = process.heap();
  while (first != nullptr) {
    addrinfo* const freed = std::exchange(first, first->ai_next);
    if (freed->ai_canonname != nullptr) heap.free(freed->ai_canonname);
    heap.free(freed->ai_addr);
    heap.free(freed);
  }
}

// Each call returns memory of its own, which nobody frees, so that no process sees that of another.
hostent* get_host(const Process& process, const char* name) {
  const std::optional<std::uint32_t> address = resolve_name(process, name);
  if (!address) {
    h_errno = HOST_NOT_FOUND;
    return nullptr;
  }
  auto* const bytes = allocate_on_heap<in_addr>(process, {.s_addr = htonl(*address)});
  auto* const addresses = allocate_on_heap<std::array<char*, 2>>(process);
  (*addresses)[0] = reinterpret_cast<char*>(bytes);
  auto* const aliases = allocate_on_heap<std::array<char*, 1>>(process);
  return allocate_on_heap<hostent>(process, {.h_name = allocate_text(process, name),
                                             .h_aliases = aliases->data(),
                                             .h_addrtype = AF_INET,
                                             .h_length = sizeof(in_addr),
                                             .h_addr_list = addresses->data()});
}

}  // namespace
}  // namespace falafel::simulated_verbs

// NOLINTBEGIN(readability-identifier-naming): the linker gives the names.

namespace library = falafel::simulated_verbs;
using library::LibraryCall;
using library::running_process;

extern "C" {

int __real_getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                       addrinfo** result);
void __real_freeaddrinfo(addrinfo* result);
hostent* __real_gethostbyname(const char* name);
int __real_gethostname(char* name, std::size_t bytes);
pid_t __real_getpid();

int __wrap_getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                       addrinfo** result) {
  if (running_process() == nullptr) return __real_getaddrinfo(name, service, hints, result);
  const LibraryCall call("getaddrinfo");
  return library::get_addresses(call.process(), name, service,
                                hints == nullptr ? addrinfo{} : *hints, result);
}

void __wrap_freeaddrinfo(addrinfo* result) {
  if (running_process() == nullptr) return __real_freeaddrinfo(result);
  const LibraryCall call("freeaddrinfo");
  library::free_addresses(call.process(), result);
}

hostent* __wrap_gethostbyname(const char* name) {
  if (running_process() == nullptr) return __real_gethostbyname(name);
  const LibraryCall call("gethostbyname");
  return library::get_host(call.process(), name);
}

int __wrap_gethostname(char* name, std::size_t bytes) {
  if (running_process() == nullptr) return __real_gethostname(name, bytes);
  const LibraryCall call("gethostname");
  const std::string own = library::program_name_of(call.host().name());
  if (own.size() >= bytes) {
    errno = ENAMETOOLONG;
    return -1;
  }
  std::memcpy(name, own.c_str(), own.size() + 1);
  return 0;
}

int __wrap___gethostname_chk(char* name, std::size_t bytes, std::size_t buffer_bytes) {
  if (bytes > buffer_bytes) std::abort();  // as the C library does
  return __wrap_gethostname(name, bytes);
}

// The same number in each run.
pid_t __wrap_getpid() {
  if (running_process() == nullptr) return __real_getpid();
  return library::first_process_number + running_process()->lid();
}

}  // extern "C"

// NOLINTEND(readability-identifier-naming)
