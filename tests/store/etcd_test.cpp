// The client of etcd, beside a gateway that answers what a test tells it to, and the list of
// servers as text. cluster_change_test.py runs a real etcd.
#include "falafel/etcd.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "falafel/etcd_directory.h"
#include "tests/hang_limit.h"
#include "tests/store/etcd_gateway.h"
#include "tools/benchmarks/store/parties.h"

namespace falafel {
namespace {

using boost::asio::ip::tcp;
using store_test::Gateway;
using store_test::http;

tcp::endpoint closed_port() {
  boost::asio::io_context context;
  return tcp::acceptor(context, {boost::asio::ip::make_address("127.0.0.1"), 0}).local_endpoint();
}

tl::expected<Etcd::StoredValue, std::string> read(const std::string& answer) {
  Gateway gateway(answer);
  auto value = Etcd::of_endpoints({gateway.endpoint()})->read("a key");
  EXPECT_TRUE(gateway.request().starts_with("POST /v3/kv/range HTTP/1.1\r\n"));
  return value;
}

TEST(Etcd, ReadsValues) {
  const auto value = read(http(R"({"kvs":[{"key":"YQ==","mod_revision":"12","value":"YmFy"}]})"));
  ASSERT_TRUE(value) << value.error();
  EXPECT_EQ(value->text, "bar");
  EXPECT_EQ(value->revision, 12U);
  EXPECT_EQ(read(http(R"({"header":{}})"))->revision, 0U) << "there is no such key";
  EXPECT_EQ(read(http(R"({"kvs":[{"mod_revision":"1"}]})"))->text, "") << "an empty value";
}

TEST(Etcd, RefusesMalformedAnswers) {
  for (const std::string& answer :
       {http("no JSON"), http("[]"), http(R"({"kvs":7})"), http(R"({"kvs":[]})"),
        http(R"({"kvs":[{"value":"YmFy"}]})"), http(R"({"kvs":[{"mod_revision":1}]})"),
        http(R"({"kvs":[{"mod_revision":"x"}]})"),
        http(R"({"kvs":[{"mod_revision":"1","value":7}]})"),
        http(R"({"kvs":[{"mod_revision":"1","value":"?"}]})"),
        http("{}", "500 Internal Server Error"), std::string("garbage\r\n\r\n"), std::string(),
        std::string("HTTP/1.1 200"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")}) {
    EXPECT_FALSE(read(answer)) << answer;
  }
}

TEST(Etcd, AsksTheNextEndpoint) {
  Gateway gateway(http(R"({"succeeded":true})"));
  auto etcd = Etcd::of_endpoints(
      {fmt::format("127.0.0.1:{}", closed_port().port()), "http://" + gateway.endpoint()});
  ASSERT_TRUE(etcd) << etcd.error();
  const auto replaced = etcd->replace("key", "value", 7);
  EXPECT_EQ(replaced, true) << replaced.error();
  EXPECT_TRUE(gateway.request().starts_with("POST /v3/kv/txn HTTP/1.1\r\n"));
  const auto gone = etcd->read("key");
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().find("; etcd at 127.0.0.1"), std::string::npos) << gone.error();
}

TEST(Etcd, PassesOverASilentEndpoint) {
  boost::asio::io_context context;
  // The system accepts connections, and nobody answers them.
  const tcp::acceptor silent(context, {boost::asio::ip::make_address("127.0.0.1"), 0});
  Gateway gateway(http(R"({"succeeded":true})"));
  auto etcd = Etcd::of_endpoints(
      {fmt::format("127.0.0.1:{}", silent.local_endpoint().port()), gateway.endpoint()});
  ASSERT_TRUE(etcd) << etcd.error();
  const auto replaced = etcd->replace("key", "value", 7);
  EXPECT_EQ(replaced, true) << replaced.error();
  EXPECT_TRUE(gateway.request().starts_with("POST /v3/kv/txn HTTP/1.1\r\n"));
}

TEST(Etcd, DoesNotReplaceWhatHasChanged) {
  Gateway gateway(http(R"({"header":{}})"));
  EXPECT_EQ(Etcd::of_endpoints({gateway.endpoint()})->replace("key", "value", 7), false);
}

TEST(Etcd, WatchesUntilTheKeyChanges) {
  const auto chunk = [](std::string_view text) {
    return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
  };
  Gateway gateway("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
                  chunk(R"({"result":{"created":true}})") +
                  chunk(R"({"result":{"events":[{"kv":{}}]}})"));
  auto etcd = Etcd::of_endpoints({gateway.endpoint()});
  const auto start = std::chrono::steady_clock::now();
  etcd->wait_for_change("key", 7, 2 * hang_limit, {});
  EXPECT_LT(std::chrono::steady_clock::now() - start, hang_limit) << "the change did not end it";
  EXPECT_TRUE(gateway.request().starts_with("POST /v3/watch HTTP/1.1\r\n"));
}

TEST(Etcd, NamesEndpointsThatItCannotUse) {
  for (const char* endpoint : {"", ":1", "host:", "host:x", "https://", "https://host:x"}) {
    const auto etcd = Etcd::of_endpoints({endpoint});
    ASSERT_FALSE(etcd) << endpoint;
    EXPECT_NE(etcd.error().find(fmt::format("'{}'", endpoint)), std::string::npos);
  }
  EXPECT_FALSE(Etcd::of_endpoints({}));
}

class EtcdUser : public testing::Test {
 protected:
  EtcdUser() { set_password("secret"); }

  void set_password(std::string_view password) const {
    std::ofstream(access_.password_file) << password << "\nnot this\n";
  }
  tl::expected<Etcd::StoredValue, std::string> read(const Gateway& gateway) const {
    return Etcd::of_endpoints({gateway.endpoint()}, access_)->read("key");
  }

 private:
  store_benchmark::TemporaryDirectory directory_;

 protected:
  EtcdAccess access_{.user = "me", .password_file = directory_.path() / "password"};
};

constexpr std::string_view authenticate = "POST /v3/auth/authenticate HTTP/1.1\r\n";
const std::string first_token = http(R"({"token":"first.1"})");
const std::string second_token = http(R"({"token":"second.2"})");
const std::string no_such_key = http(R"({"header":{}})");
const std::string invalid_token = http(R"({"error":"invalid auth token"})", "401 Unauthorized");

TEST_F(EtcdUser, SendsATokenInsteadOfThePassword) {
  Gateway gateway(std::vector{first_token, no_such_key, no_such_key});
  auto etcd = Etcd::of_endpoints({gateway.endpoint()}, access_);
  ASSERT_TRUE(etcd) << etcd.error();
  EXPECT_TRUE(etcd->read("key"));
  EXPECT_TRUE(etcd->read("key"));
  const auto requests = gateway.requests();
  EXPECT_TRUE(requests[0].starts_with(authenticate));
  EXPECT_THAT(requests[0], testing::HasSubstr(R"({"name":"me","password":"secret"})"));
  for (const std::string& request : {requests[1], requests[2]}) {
    EXPECT_TRUE(request.starts_with("POST /v3/kv/range HTTP/1.1\r\n"));
    EXPECT_THAT(request, testing::HasSubstr("\r\nAuthorization: first.1\r\n"));
    EXPECT_THAT(request, testing::Not(testing::HasSubstr("secret")));
  }
}

TEST_F(EtcdUser, AsksForANewTokenWhenOneHasEnded) {
  Gateway gateway(std::vector{first_token, no_such_key, invalid_token, second_token, no_such_key});
  auto etcd = Etcd::of_endpoints({gateway.endpoint()}, access_);
  EXPECT_TRUE(etcd->read("key"));
  set_password("changed");
  EXPECT_TRUE(etcd->read("key"));
  const auto requests = gateway.requests();
  EXPECT_TRUE(requests[3].starts_with(authenticate));
  EXPECT_THAT(requests[3], testing::HasSubstr("changed"));
  EXPECT_THAT(requests[3], testing::Not(testing::HasSubstr("Authorization")));
  EXPECT_THAT(requests[4], testing::HasSubstr("\r\nAuthorization: second.2\r\n"));
}

TEST_F(EtcdUser, IsRefusedForAWrongPassword) {
  Gateway gateway(http(R"({"error":"authentication failed"})", "400 Bad Request"));
  const auto refused = read(gateway);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(), testing::HasSubstr("gives user 'me' no access"));
  EXPECT_THAT(refused.error(), testing::HasSubstr("authentication failed"));
}

TEST_F(EtcdUser, IsRefusedWhenANewTokenDoesNotHelp) {
  Gateway gateway(
      std::vector{first_token, no_such_key, invalid_token, second_token, invalid_token});
  auto etcd = Etcd::of_endpoints({gateway.endpoint()}, access_);
  EXPECT_TRUE(etcd->read("key"));
  const auto refused = etcd->read("key");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(), testing::HasSubstr("HTTP status 401"));
}

TEST_F(EtcdUser, NamesWhatIsMissing) {
  const auto refused = [](const std::string& endpoint, const EtcdAccess& access,
                          std::string_view reason) {
    const auto etcd = Etcd::of_endpoints({endpoint}, access);
    ASSERT_FALSE(etcd) << reason;
    EXPECT_THAT(etcd.error(), testing::HasSubstr(std::string(reason)));
  };
  const std::filesystem::path nothing = access_.password_file.string() + "-nothing";
  refused("host", {.user = "me"}, "a user and the file");
  refused("host", {.password_file = access_.password_file}, "a user and the file");
  refused("host", {.user = "me", .password_file = nothing}, nothing.string());
  refused("host", {.ca_file = access_.password_file}, "write https://");
  refused("https://host", {.certificate_key_file = nothing}, "without a certificate");
  refused("https://host", {.ca_file = nothing}, nothing.string());
  refused("https://host", {.ca_file = access_.password_file}, "must be a file in PEM");
  refused("https://host", {.certificate_file = nothing}, nothing.string());
}

TEST(EtcdDirectory, WritesNoListThatComesBackDifferently) {
  EtcdDirectory directory(*Etcd::of_endpoints({"127.0.0.1:1"}), "key");
  const auto refused = [&](const engine::PlacementList& list, std::string_view reason) {
    const auto replaced = directory.replace(list, 0);
    ASSERT_FALSE(replaced);
    EXPECT_NE(replaced.error().find(reason), std::string::npos) << replaced.error();
  };
  refused({.servers = {}}, "is empty");
  refused({.servers = {"\xff"}}, "UTF-8");
  refused({.servers = {"a"}, .times = {.lease_ns = 500'000, .settle_ns = 1'000'000}},
          "lease_ms is 0");
  refused({.servers = {"a"}, .times = {.lease_ns = 1'500'000, .settle_ns = 9'000'000}}, "whole");
}

TEST(PlacementText, ComesBack) {
  engine::PlacementList list{.servers = {"a", "b"},
                             .times = {.lease_ns = 5'000'000, .settle_ns = 7'000'000}};
  EXPECT_EQ(parse_placement(to_text(list)), list);
  list.next = {"b", "c"};
  list.changed_by = ~std::uint64_t{0};
  EXPECT_EQ(parse_placement(to_text(list)), list);
}

TEST(PlacementText, IsRefusedWithTheReason) {
  const auto refused = [](std::string_view text, std::string_view reason) {
    const auto list = parse_placement(text);
    ASSERT_FALSE(list) << text;
    EXPECT_NE(list.error().find(reason), std::string::npos) << list.error();
  };
  refused("", "not a JSON object");
  refused("[1]", "not a JSON object");
  refused(R"({"servers":["a"]})", "format");
  refused(R"({"format":2})", "format");
  refused(R"({"format":1,"servers":"a"})", "servers: not a list of names");
  refused(R"({"format":1,"servers":[1]})", "servers: not a list of names");
  refused(R"({"format":1,"servers":["a","a"]})", "'a' twice");
  refused(R"({"format":1,"servers":["a"]})", "lease_ms or settle_ms");
  refused(R"({"format":1,"servers":["a"],"lease_ms":5,"settle_ms":5})", "lease_ms is 5");
  refused(R"({"format":1,"servers":["a"],"lease_ms":1,"settle_ms":99999999999})", "settle_ms");
  refused(R"({"format":1,"servers":["a"],"lease_ms":1,"settle_ms":2,"next":[]})", "next: the list");
  refused(R"({"format":1,"servers":["a"],"lease_ms":1,"settle_ms":2,"next":["b"]})", "changed_by");
}

}  // namespace
}  // namespace falafel
