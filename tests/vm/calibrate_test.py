#!/usr/bin/env python3
"""A calibration of Soft-RoCE in one machine writes a profile that is complete, plausible, and good for
a prediction. Times are those of an emulated machine, so only their order is checked."""

import json
import os
import pathlib
import subprocess
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
BEGIN, MIDDLE = "--- profile", "--- prediction"
COMMANDS = f"""
falafel calibrate --fabric verbs --own-address client --clients 2 --rounds 3 --seconds 0.02 \
  --name soft-roce --output /tmp/profile.json >/dev/null || exit 1
echo '{BEGIN}'; cat /tmp/profile.json; echo '{MIDDLE}'
falafel bench --fabric sim --card /tmp/profile.json --keys 500 --seconds 0.01 --json
"""


class CalibrateTest(unittest.TestCase):
    def test_the_profile_of_soft_roce(self):
        run = subprocess.run(
            [FOLDER / "vm", "--timeout", "560", "--program", os.environ["FALAFEL"], COMMANDS],
            stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout)
        _, _, rest = run.stdout.replace("\r", "").partition(BEGIN)
        text, _, prediction = rest.partition(MIDDLE)
        profile = json.loads(text)
        self.assertEqual((profile["format"], profile["name"]), ("falafel profile 1", "soft-roce"))
        values = {name: entry["value"] for name, entry in profile["values"].items()}
        for name in ("read_ns", "post_ns", "hash_ns_per_byte", "checksum_ns_per_byte", "lock_ns"):
            self.assertGreater(values[name], 0, name)
            self.assertIn("calibrate --fabric verbs", profile["values"][name]["source"])
        # The kernel executes a request while it is posted. That takes longer than a lock or a hash.
        self.assertGreater(values["post_ns"], values["lock_ns"])
        self.assertGreater(values["post_ns"], values["hash_ns"])
        self.assertGreater(values["operation_ns"] + values["round_trip_ns"], 0)
        begin = prediction.index("{")
        result, _ = json.JSONDecoder().raw_decode(prediction[begin:])
        self.assertGreater(result["operations_per_second"], 0)


if __name__ == "__main__":
    unittest.main()
