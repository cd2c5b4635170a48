"""Judges what the clients of a soak have recorded, with `falafel check`.

A server that restarts is empty. So each restart adds to the history of each key that the server had
a SET of a value that nobody ever reads, and a DELETE of it, both during the restart: whatever was
stored before is gone, and no other key may be."""

import json
import pathlib
import subprocess
from collections import Counter

# Each file is judged by itself; smaller ones need less memory.
FILES = 16
LOST_CLIENT = 4_000_000_000
OUTCOMES = {"get": ("found", "not_found"), "set": ("stored",), "delete": ("deleted", "not_found")}
# They say that nothing was changed.
REFUSALS = ("disconnected", "timed_out", "out_of_memory", "table_full")


class Recorded:
    """The files of one judgement, and what was recorded of each kind."""

    def __init__(self, folder):
        folder.mkdir(exist_ok=True)
        self.paths = [folder / f"keys-{number}.jsonl" for number in range(FILES)]
        self.files = [path.open("w") for path in self.paths]
        self.file_of_key = {}
        self.answers = Counter()
        self.wrong = []
        self.lost_keys = 0

    def write(self, client, key, kind, value, call, returned, outcome):
        file = self.file_of_key.get(key)
        if file is None:
            file = self.files[len(self.file_of_key) % FILES]
            self.file_of_key[key] = file
        value_text = f', "value": "{value}"' if value != "-" else ""
        return_text = f', "return": {returned}' if returned is not None else ""
        file.write(f'{{"client": {client}, "key": "{key}", "kind": "{kind}"{value_text}, '
                   f'"call": {call}{return_text}, "outcome": "{outcome}"}}\n')

    def add_client(self, path):
        """The calls of the client with this history."""
        client = int(path.name.partition("-")[2])
        pending = {}
        with path.open() as lines:
            for line in lines:
                words = line.split()
                if words[0] == "c":
                    pending[words[1]] = words[2:]
                else:
                    self.add_call(client, pending.pop(words[1]), *words[2:])
        for call, kind, key, value in pending.values():
            self.answers["none"] += 1
            if kind != "get":
                self.write(client, key, kind, value, call, None, "indeterminate")

    def add_call(self, client, called, returned, answer, found):
        call, kind, key, value = called
        self.answers[answer] += 1
        if answer == "unknown_outcome":
            if kind != "get":
                self.write(client, key, kind, value, call, None, "indeterminate")
        elif answer in OUTCOMES[kind]:
            if found == "garbled":
                self.wrong.append(f"client {client} read bytes that nobody wrote: {key}")
            self.write(client, key, kind, found if kind == "get" else value, call, returned, answer)
        elif answer not in REFUSALS:
            self.wrong.append(f"client {client}: {kind} {key} answered {answer}")

    def add_loss(self, keys, begin, end):
        for key in keys:
            self.lost_keys += 1
            if end is None:
                self.write(LOST_CLIENT, key, "delete", "-", begin, None, "indeterminate")
                continue
            self.write(LOST_CLIENT, key, "set", f"lost.{begin}", begin, end, "stored")
            self.write(LOST_CLIENT, key, "delete", "-", begin, end, "deleted")

    def close(self):
        for file in self.files:
            file.close()


def judge(falafel, folder):
    """Prints the verdict on the histories in the folder; returns whether they are right."""
    folder = pathlib.Path(folder)
    recorded = Recorded(folder / "judged")
    for path in sorted((folder / "history").iterdir()):
        recorded.add_client(path)
    for line in (folder / "losses").read_text().splitlines():
        loss = json.loads(line)
        recorded.add_loss(loss["keys"], loss["begin"], loss["end"])
    recorded.close()
    print("answers:", ", ".join(f"{answer} {count:,}"
                                for answer, count in sorted(recorded.answers.items())))
    print(f"{len(recorded.file_of_key):,} keys; {recorded.lost_keys:,} times, one was at a server "
          f"that was restarted")
    for text in recorded.wrong[:20]:
        print("wrong:", text)
    is_right = not recorded.wrong
    operations = 0
    for path in recorded.paths:
        if path.stat().st_size > 0:
            verdict = check(falafel, path)
            operations += verdict.get("operations", 0)
            if verdict["verdict"] != "linearizable":
                is_right = False
                print(f"{path}: {verdict['verdict']}\n{last_lines(verdict.get('explanation', ''))}")
    print(f"{operations:,} operations judged: "
          f"{'linearizable' if is_right else 'NOT LINEARIZABLE, or unknown'}")
    return is_right


def last_lines(explanation, count=12):
    lines = explanation.rstrip().splitlines()
    return "\n".join(["  ...", *lines[-count:]] if len(lines) > count else lines)


def check(falafel, path):
    done = subprocess.run([falafel, "check", "--format", "jsonl", "--json", "--steps",
                           "20000000000", "--memory-mib", "4096", path],
                          capture_output=True, text=True, check=False)
    if not done.stdout:
        return {"verdict": "unreadable", "explanation": done.stderr}
    verdict = json.loads(done.stdout)[0]
    if done.returncode == 2:
        verdict["explanation"] = f"line {verdict.get('line')}: {verdict.get('message')}"
    return verdict
