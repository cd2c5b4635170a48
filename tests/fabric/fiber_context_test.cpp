// Fibers on their stacks: switching, the guard page, and the sanitizers' view of them.
#include "fabric/fiber_context.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "fabric/sanitizers.h"

namespace falafel::fabric {
namespace {

struct Counter {
  FiberContext* context = nullptr;
  int value = 0;
};

void count_to_three(void* argument) {
  auto* counter = static_cast<Counter*>(argument);
  for (int step = 0; step < 3; ++step) {
    ++counter->value;
    if (step < 2) counter->context->suspend();
  }
}

TEST(FiberContext, RunsFromOneSuspensionToTheNext) {
  FiberStackPool stacks;
  Counter counter;
  FiberContext context(stacks, "counter", count_to_three, &counter);
  counter.context = &context;
  EXPECT_FALSE(context.started());
  for (int expected = 1; expected <= 3; ++expected) {
    context.resume();
    EXPECT_EQ(counter.value, expected);
    EXPECT_EQ(context.finished(), expected == 3);
  }
}

TEST(FiberContext, ManyFibersKeepTheirOwnStacks) {
  FiberStackPool stacks;
  std::array<Counter, 100> counters;
  std::vector<std::unique_ptr<FiberContext>> contexts;
  for (Counter& counter : counters) {
    contexts.push_back(std::make_unique<FiberContext>(stacks, "counter", count_to_three, &counter));
    counter.context = contexts.back().get();
  }
  for (int round = 1; round <= 3; ++round) {
    for (const auto& context : contexts) context->resume();
    for (const Counter& counter : counters) EXPECT_EQ(counter.value, round);
  }
}

struct Sums {
  FiberContext* context = nullptr;
  std::array<volatile double, 4> fractions = {0.5, 0.25, 0.125, 0.0625};
  std::array<volatile std::uint64_t, 4> numbers = {1, 20, 300, 4000};
  double fraction = 0;
  std::uint64_t number = 0;
};

// Holds values in registers of both kinds across the suspension.
void sum_after_suspending(void* argument) {
  auto* sums = static_cast<Sums*>(argument);
  const double first = sums->fractions[0];
  const double second = sums->fractions[1];
  const double third = sums->fractions[2];
  const double fourth = sums->fractions[3];
  const std::uint64_t one = sums->numbers[0];
  const std::uint64_t twenty = sums->numbers[1];
  const std::uint64_t hundreds = sums->numbers[2];
  const std::uint64_t thousands = sums->numbers[3];
  sums->context->suspend();
  sums->fraction = first + second + third + fourth;
  sums->number = one + twenty + hundreds + thousands;
}

TEST(FiberContext, ASwitchLosesNothingThatEitherSideHolds) {
  FiberStackPool stacks;
  std::array<Sums, 2> sums;
  for (volatile double& fraction : sums[1].fractions) fraction = 8 * fraction;
  FiberContext first(stacks, "first", sum_after_suspending, &sums[0]);
  FiberContext second(stacks, "second", sum_after_suspending, &sums[1]);
  sums[0].context = &first;
  sums[1].context = &second;
  const double here = sums[0].fractions[0];
  first.resume();
  second.resume();
  first.resume();
  second.resume();
  EXPECT_EQ(here, 0.5);
  EXPECT_EQ(sums[0].fraction, 0.9375);
  EXPECT_EQ(sums[1].fraction, 7.5);
  EXPECT_EQ(sums[0].number, 4321U);
  EXPECT_EQ(sums[1].number, 4321U);
}

void throw_and_catch(void* argument) {
  try {
    throw std::runtime_error("inside");
  } catch (const std::runtime_error& error) {
    *static_cast<bool*>(argument) = std::string_view(error.what()) == "inside";
  }
}

TEST(FiberContext, ExceptionsStayWithinTheirFiber) {
  FiberStackPool stacks;
  bool caught = false;
  FiberContext context(stacks, "thrower", throw_and_catch, &caught);
  context.resume();
  EXPECT_TRUE(caught);
}

void fill(void* argument) {
  std::array<volatile char, 1024> frame;
  frame[0] = 1;
  if (*static_cast<volatile int*>(argument) != 0) fill(argument);
  frame[1023] = frame[0];
}

void overflow() {
  const StackOverflowReport report;
  FiberStackPool stacks;
  int forever = 1;
  FiberContext context(stacks, "glutton", fill, &forever);
  context.resume();
}

TEST(FiberStackDeathTest, AnOverflowAbortsWithTheNameOfTheFiber) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(overflow(), "fiber 'glutton' overflowed its stack");
}

#if defined(FALAFEL_ADDRESS_SANITIZER)
volatile char* escaped = nullptr;

void use_after_scope(void* /*argument*/) {
  {
    std::array<char, 16> scoped = {};
    escaped = scoped.data();
  }
  escaped[3] = 1;
}

TEST(FiberStackDeathTest, AddressSanitizerSeesUseAfterScopeOnAFiber) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [] {
    FiberStackPool stacks;
    FiberContext context(stacks, "careless", use_after_scope, nullptr);
    context.resume();
  };
  EXPECT_DEATH(run(), "stack-use-after-scope");
}
#endif

}  // namespace
}  // namespace falafel::fabric
