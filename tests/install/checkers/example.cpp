// Judges a history.
#include <falafel/checkers/linearizability.h>
#include <cstdio>

int main() {
  using namespace falafel::checkers;
  const Operation lost_set{.kind = OperationKind::set,
                           .answer = Answer::stored,
                           .key = "key",
                           .value = "value",
                           .call_time = 1,
                           .return_time = 2};
  const Operation get{.kind = OperationKind::get,
                      .answer = Answer::not_found,
                      .key = "key",
                      .call_time = 3,
                      .return_time = 4};
  const Operation history[] = {lost_set, get};
  const Judgement judgement = check_linearizability(history, Model::key_value_register);
  std::printf("checkers: %s\n", judgement.verdict == Verdict::violated ? "ok" : "not violated");
}
