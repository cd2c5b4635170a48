// Histories in the formats of other systems, short enough to be judged by hand.
#pragma once

#include <string_view>

namespace falafel::checkers_test::texts {

// Process 1 reads nil while process 0 writes. One swap fails and one succeeds. Then an unanswered
// write takes effect between two reads.
inline constexpr std::string_view good_register =
    "2026-01-02 03:04:05 INFO  jepsen.core - Worker 0 starting\n"
    "INFO  jepsen.util - 0\t:invoke\t:write\t3\n"
    "INFO  jepsen.util - 1\t:invoke\t:read\tnil\n"
    "INFO  jepsen.util - 1\t:ok\t:read\tnil\n"
    "INFO  jepsen.util - 0\t:ok\t:write\t3\n"
    "INFO  jepsen.util - :nemesis\t:info\t:start\tnil\n"
    "INFO  jepsen.util - 2  :invoke  :cas  [2 4]\n"
    "INFO  jepsen.util - 2  :fail  :cas  [2 4]\n"
    "INFO  jepsen.util - 2\t:invoke\t:cas\t[3 4]\n"
    "INFO  jepsen.util - 2\t:ok\t:cas\t[3 4]\n"
    "INFO  jepsen.util - 3\t:invoke\t:write\t1\n"
    "INFO  jepsen.util - 3\t:info\t:write\t:timed-out\n"
    "INFO  jepsen.util - 1\t:invoke\t:read\tnil\n"
    "INFO  jepsen.util - 1\t:fail\t:read\t:timed-out\n"
    "INFO  jepsen.util - 1\t:invoke\t:read\tnil\n"
    "INFO  jepsen.util - 1\t:ok\t:read\t4\n"
    "INFO  jepsen.util - 1\t:invoke\t:read\tnil\n"
    "INFO  jepsen.util - 1\t:ok\t:read\t1\n"
    "INFO  jepsen.util - 4\t:invoke\t:cas\t[1 2]\n";

// The last read finds a value that a swap had already replaced.
inline constexpr std::string_view bad_register =
    "INFO  jepsen.util - 0\t:invoke\t:write\t3\n"
    "INFO  jepsen.util - 0\t:ok\t:write\t3\n"
    "INFO  jepsen.util - 1\t:invoke\t:cas\t[3 4]\n"
    "INFO  jepsen.util - 1\t:ok\t:cas\t[3 4]\n"
    "INFO  jepsen.util - 0\t:invoke\t:read\tnil\n"
    "INFO  jepsen.util - 0\t:ok\t:read\t3\n";

inline constexpr std::string_view good_log =
    "; two clients append to \"0\" at the same time\n"
    "{:process 0, :type :invoke, :f :append, :key \"0\", :value \"x 0 0 y\"}\n"
    "{:process 1, :type :invoke, :f :append, :key \"0\", :value \"x 1 0 y\"}\n"
    "{:process 2, :type :invoke, :f :get, :key \"0\", :value nil}\n"
    "{:process 2, :type :ok, :f :get, :key \"0\", :value \"x 1 0 y\"}\n"
    "{:process 1, :type :ok, :f :append, :key \"0\", :value \"x 1 0 y\"}\n"
    "{:process 0, :type :ok, :f :append, :key \"0\", :value \"x 0 0 y\"}\n"
    "{:process 2, :type :invoke, :f :get, :key \"0\", :value nil}\n"
    "{:process 2, :type :ok, :f :get, :key \"0\", :value \"x 1 0 yx 0 0 y\"}\n"
    "{:process 1, :type :invoke, :f :put, :key \"1\", :value \"\\\"\\u00e4\\\\\"}\n"
    "{:process 0, :type :invoke, :f :get, :key \"1\", :value nil, :time 17, :more [1 #{2} (3)]}\n"
    "{:process 0, :type :ok, :f :get, :key \"1\", :value \"\\\"\u00e4\\\\\"}\n"
    "{:process :nemesis, :type :info, :f :start}\n";

// The second get misses a value that the first one found.
inline constexpr std::string_view bad_log =
    "{:process 0, :type :invoke, :f :append, :key \"0\", :value \"a\"}\n"
    "{:process 1, :type :invoke, :f :get, :key \"0\", :value nil}\n"
    "{:process 1, :type :ok, :f :get, :key \"0\", :value \"a\"}\n"
    "{:process 1, :type :invoke, :f :get, :key \"0\", :value nil}\n"
    "{:process 1, :type :ok, :f :get, :key \"0\", :value \"\"}\n"
    "{:process 0, :type :ok, :f :append, :key \"0\", :value \"a\"}\n";

inline constexpr std::string_view good_json =
    R"({"client": 1, "key": "a", "kind": "set", "value": "1", "call": 10, "return": 15, "outcome": "stored"})"
    "\n\n"
    R"({"client": 2, "key": "a", "kind": "get", "value": "1", "call": 12, "return": 14, "outcome": "found"})"
    "\n"
    R"({"client": 2, "key": "a", "kind": "delete", "call": 20, "outcome": "indeterminate"})"
    "\n"
    R"({"client": 1, "key": "a", "kind": "get", "call": 21, "return": 22, "outcome": "not_found"})"
    "\n"
    R"({"client": 1, "key": {"hex": "00fF"}, "kind": "compare_and_swap", "expected": null, "value": {"hex": ""}, "call": 23, "return": 24, "outcome": "swapped"})"
    "\n"
    R"({"client": 1, "key": "b", "kind": "set", "value": "2", "call": 25, "return": 26, "outcome": "refused"})"
    "\n";

inline constexpr std::string_view bad_json =
    R"({"client": 1, "key": "a", "kind": "set", "value": "1", "call": 10, "return": 15, "outcome": "stored"})"
    "\n"
    R"({"client": 2, "key": "a", "kind": "get", "call": 16, "return": 17, "outcome": "not_found"})"
    "\n";

}  // namespace falafel::checkers_test::texts
