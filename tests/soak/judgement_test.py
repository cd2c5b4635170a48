#!/usr/bin/env python3
"""The judgement of a soak accepts right histories and notices wrong ones. Argument: the program falafel."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import history  # noqa: E402

FALAFEL = sys.argv[1]
del sys.argv[1:]

SET_ONE = "c 0 10 set a 1.1\nr 0 20 stored -\n"
ABSENT_AT_40 = "c 0 30 get a -\nr 0 40 not_found -\n"


class Judgement(unittest.TestCase):
    def judge(self, *clients, losses=()):
        """Returns whether these histories of clients are right, and the judgement's text."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "history").mkdir()
            for number, lines in enumerate(clients, 1):
                (folder / f"history/client-{number}").write_text(lines)
            (folder / "losses").write_text("".join(json.dumps(loss) + "\n" for loss in losses))
            with contextlib.redirect_stdout(io.StringIO()) as text:
                return history.judge(FALAFEL, folder), text.getvalue()

    def accepts(self, *clients, **options):
        is_right, text = self.judge(*clients, **options)
        self.assertTrue(is_right, text)

    def refuses(self, expected, *clients, **options):
        is_right, text = self.judge(*clients, **options)
        self.assertFalse(is_right, text)
        self.assertIn(expected, text)

    def test_a_value_that_is_found_was_stored(self):
        found = "c 0 30 get a -\nr 0 40 found 1.1\n"
        self.accepts(SET_ONE, found)
        self.refuses("its answer is wrong", "c 0 10 get b -\nr 0 20 not_found -\n", found)

    def test_a_key_is_gone_only_if_its_server_restarted(self):
        loss = {"keys": ["a"], "begin": 22, "end": 28}
        self.refuses("its answer is wrong", SET_ONE, ABSENT_AT_40)
        self.accepts(SET_ONE, ABSENT_AT_40, losses=[loss])
        self.refuses("its answer is wrong", SET_ONE, ABSENT_AT_40, losses=[{**loss, "keys": ["b"]}])
        self.refuses("its answer is wrong", SET_ONE, ABSENT_AT_40,
                     losses=[{**loss, "begin": 2, "end": 8}])

    def test_a_loss_without_an_end_may_have_happened(self):
        doubt = {"keys": ["a"], "begin": 22, "end": None}
        self.accepts(SET_ONE, ABSENT_AT_40, losses=[doubt])
        self.accepts(SET_ONE, "c 0 30 get a -\nr 0 40 found 1.1\n", losses=[doubt])

    def test_a_restart_leaves_nothing(self):
        self.refuses("its answer is wrong", SET_ONE, "c 0 30 get a -\nr 0 40 found 1.1\n",
                     losses=[{"keys": ["a"], "begin": 22, "end": 28}])

    def test_a_call_without_an_answer_may_have_had_its_effect(self):
        for unanswered in ("c 0 22 delete a -\n", "c 0 22 delete a -\nr 0 25 unknown_outcome -\n"):
            self.accepts(SET_ONE, unanswered, ABSENT_AT_40)
            self.accepts(SET_ONE, unanswered, "c 0 30 get a -\nr 0 40 found 1.1\n")

    def test_a_refused_call_has_none(self):
        for answer in history.REFUSALS:
            self.refuses("its answer is wrong", SET_ONE, f"c 0 22 delete a -\nr 0 25 {answer} -\n",
                         ABSENT_AT_40)

    def test_bytes_that_nobody_wrote_and_other_answers_are_wrong(self):
        self.refuses("bytes that nobody wrote", SET_ONE, "c 0 30 get a -\nr 0 40 found garbled\n")
        self.refuses("get a answered corrupted", SET_ONE, "c 0 30 get a -\nr 0 40 corrupted -\n")


if __name__ == "__main__":
    unittest.main()
