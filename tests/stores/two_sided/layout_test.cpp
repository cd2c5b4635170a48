// The bytes of the messages are those of their document, and lengths that do not fit are noticed.
#include "stores/two_sided/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "stores/bytes.h"
#include "stores/two_sided/options.h"

namespace falafel::two_sided {
namespace {

using testing::HasSubstr;

std::string row(std::size_t offset, std::size_t bytes, const char* field) {
  return "| " + std::to_string(offset) + " | " + std::to_string(bytes) + " | `" + field + "` |";
}

std::string document() {
  std::ifstream file(std::string(FALAFEL_SOURCE_FOLDER) + "/stores/two_sided/README.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Layout, OfRequestsIsThatOfItsDocument) {
  const std::string text = document();
  EXPECT_THAT(text, HasSubstr(row(0, sizeof(Request::client_id), "client_id")));
  EXPECT_THAT(text, HasSubstr(row(offsetof(Request, method), sizeof(Request::method), "method")));
  EXPECT_THAT(text, HasSubstr(row(offsetof(Request, key), sizeof(Request::key), "key")));
  EXPECT_THAT(text,
              HasSubstr(row(offsetof(Request, message), sizeof(Request::message), "message")));
  EXPECT_THAT(
      text, HasSubstr(row(offsetof(Request, key_bytes), sizeof(Request::key_bytes), "key_bytes")));
  EXPECT_THAT(text, HasSubstr(row(offsetof(Request, message_bytes), sizeof(Request::message_bytes),
                                  "message_bytes")));
  EXPECT_THAT(text, HasSubstr(row(offsetof(Request, connection_closed),
                                  sizeof(Request::connection_closed), "connection_closed")));
  EXPECT_THAT(text, HasSubstr(row(offsetof(Request, request_number),
                                  sizeof(Request::request_number), "request_number")));
}

TEST(Layout, OfResponsesIsThatOfItsDocument) {
  const std::string text = document();
  EXPECT_THAT(text, HasSubstr(row(0, sizeof(Response::code), "code")));
  EXPECT_THAT(text,
              HasSubstr(row(offsetof(Response, message), sizeof(Response::message), "message")));
  EXPECT_THAT(text, HasSubstr(row(offsetof(Response, request_number),
                                  sizeof(Response::request_number), "request_number")));
  EXPECT_THAT(text, HasSubstr(row(offsetof(Response, message_bytes),
                                  sizeof(Response::message_bytes), "message_bytes")));
}

TEST(Layout, CodesAreThoseOfThePaper) {
  EXPECT_EQ(static_cast<int>(Method::unknown), 0);
  EXPECT_EQ(static_cast<int>(Method::remove), 3);
  EXPECT_EQ(static_cast<int>(Method::set_option), 8);
  EXPECT_EQ(static_cast<int>(ResponseCode::ok), 0);
  EXPECT_EQ(static_cast<int>(ResponseCode::unknown_error), 5);
}

TEST(Layout, LengthsThatDoNotFitAreNoticed) {
  Request request;
  request.key_bytes = most_key_bytes;
  request.message_bytes = most_value_bytes;
  EXPECT_EQ(key_of(request)->size(), most_key_bytes);
  EXPECT_EQ(message_of(request)->size(), most_value_bytes);
  ++request.key_bytes;
  ++request.message_bytes;
  EXPECT_FALSE(key_of(request));
  EXPECT_FALSE(message_of(request));
  Response response;
  response.message_bytes = ~std::uint64_t{0};
  EXPECT_FALSE(message_of(response));
}

TEST(Layout, ShortMessagesAreNotParsed) {
  const Request request;
  EXPECT_TRUE(stores::from_bytes<Request>(stores::bytes_of(request)));
  EXPECT_FALSE(stores::from_bytes<Request>(stores::bytes_of(request).first(sizeof request - 1)));
}

TEST(Safeguards, AreDescribed) {
  const Safeguards all = Safeguards::hardened();
  for (const SafeguardDescription& safeguard : safeguard_descriptions) {
    EXPECT_TRUE(all.*safeguard.enabled) << safeguard.name;
    EXPECT_EQ(Safeguards::published().*safeguard.enabled, safeguard.is_published) << safeguard.name;
  }
}

}  // namespace
}  // namespace falafel::two_sided
