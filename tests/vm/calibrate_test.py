#!/usr/bin/env python3
"""A calibration of Soft-RoCE in one machine either writes a profile that is complete, plausible, and
good for a prediction, or says which cost it cannot tell. The times are those of an emulated machine,
which other programs slow down, so only what holds at any speed is checked."""

import json
import os
import pathlib
import subprocess
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
BEGIN, MIDDLE = "--- profile", "--- prediction"
CANNOT_TELL = 3
COMMANDS = f"""
falafel calibrate --fabric verbs --own-address client --clients 2 --rounds 2 --seconds 0.02 \
  --name soft-roce --output /tmp/profile.json >/tmp/report || exit $?
echo '{BEGIN}'; cat /tmp/profile.json; echo '{MIDDLE}'
falafel bench --fabric sim --card /tmp/profile.json --keys 500 --seconds 0.01 --json
"""


class CalibrateTest(unittest.TestCase):
    def test_the_profile_of_soft_roce(self):
        run = subprocess.run(
            [FOLDER / "vm", "--timeout", "4000", "--program", os.environ["FALAFEL"], COMMANDS],
            stdout=subprocess.PIPE, text=True, check=False)
        if run.returncode == CANNOT_TELL:
            self.check_refusal(run.stdout)
        else:
            self.assertEqual(run.returncode, 0, run.stdout)
            _, _, rest = run.stdout.replace("\r", "").partition(BEGIN)
            text, _, prediction = rest.partition(MIDDLE)
            self.check_profile(json.loads(text))
            result, _ = json.JSONDecoder().raw_decode(prediction[prediction.index("{"):])
            self.assertGreater(result["operations_per_second"], 0)

    def check_refusal(self, output):
        print(output)
        self.assertRegex(output, r"noise hides \w+_ns\w*.*: -?[0-9.]+ \(-?[0-9.]+ to [0-9.-]+ in 8 rounds\)")
        self.assertNotIn(BEGIN, output)

    def check_profile(self, profile):
        self.assertEqual((profile["format"], profile["name"]), ("falafel profile 1", "soft-roce"))
        values = {name: entry["value"] for name, entry in profile["values"].items()}
        for name in ("post_ns", "hash_ns_per_byte", "checksum_ns_per_byte", "copy_ns_per_byte", "lock_ns"):
            self.assertGreater(values[name], 0, name)
            self.assertRegex(profile["values"][name]["source"], r"calibrate --fabric verbs: .* rounds\)")
        self.assertGreater(values["operation_ns"] + values["round_trip_ns"], 0)
        # The kernel executes a request while it is posted. That takes longer than a lock or a hash.
        self.assertGreater(values["post_ns"], values["lock_ns"])
        self.assertGreater(values["post_ns"], values["hash_ns"])


if __name__ == "__main__":
    unittest.main()
