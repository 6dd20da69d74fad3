#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of scripts/gen-registers: what it makes of a description, and how it refuses a wrong one.

NVDLA_GEN_REGISTERS names the script.
"""

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.environ["NVDLA_GEN_REGISTERS"]

GOOD = """\
unit_size: 0x1000
csb_size: 0x40000
enums:
  switch:
    "NO": [0, off]
    "YES": [1, on]
templates:
  pair:
    D_<NAME>_LOW:
      offset: 0x0
      description: Low half of <WHAT>.
      fields:
        <NAME>_LOW: {bits: 31..5}
    D_<NAME>_HIGH:
      offset: 0x4
      description: High half of <WHAT>.
      fields:
        <NAME>_HIGH: {bits: 31..0}
  numbered:
    D_VALUE_<n>:
      description: Value <n>.
      fields:
        VALUE_<n>X: {bits: 7..0}
  lines:
    S_LINES:
      kind: status
      access: w1c
      description: Lines.
      fields:
        LINE<n>: {each_bit: "<BITS>", first: 8, description: Line <n>.}
units:
  ENG:
    base: 0x2000
    description: An engine.
    shared:
      S_POINTER:
        offset: 0x004
        description: Groups.
        fields:
          PRODUCER: {bits: 0, description: Group of software.}
          CONSUMER: {bits: 16, access: ro, description: Group of hardware.}
      LINES: {template: lines, offset: 0x008, with: {BITS: "5..4, 1..0"}}
    shadowed:
      D_OP_ENABLE:
        offset: 0x010
        kind: trigger
        description: Start.
        fields:
          OP_EN: {bits: 0, enum: switch}
      D_MODE:
        offset: 0x014
        reset: 0x100
        description: Mode.
        fields:
          KIND: {bits: 1..0, description: Kind., enum: {ONE: [1, first], TWO: [2, second]}}
          SIZE: {bits: 9..8, description: Size.}
      D_COUNT:
        offset: 0x018
        kind: counter
        description: Events.
        fields:
          COUNT: {bits: 31..0}
      ADDRESS: {template: pair, offset: 0x020, with: {NAME: SRC_ADDR, WHAT: the source}}
      VALUES: {template: numbered, offset: 0x030, repeat: 3..1, step: 8}
  TWIN:
    base: 0x3000
    same_as: ENG
    description: Another engine.
"""


def load_generator():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("gen_registers", SCRIPT)
    spec = importlib.util.spec_from_loader("gen_registers", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


GENERATOR = load_generator()


class GoodDescription(unittest.TestCase):
    def setUp(self):
        self.description = GENERATOR.load(GOOD)
        self.header = GENERATOR.registers_header(self.description)
        self.table = GENERATOR.table_header(self.description)

    def define(self, name):
        for line in self.header.splitlines():
            words = line.split()
            if words[:2] == ["#define", name]:
                return int(words[2].rstrip("U"), 0)
        return None

    def test_addresses_are_absolute(self):
        self.assertEqual(self.define("NVDLA_ENG_BASE"), 0x2000)
        self.assertEqual(self.define("NVDLA_ENG_D_OP_ENABLE"), 0x2010)
        self.assertEqual(self.define("NVDLA_TWIN_D_OP_ENABLE"), 0x3010)

    def test_masks_are_in_place_and_values_are_not(self):
        self.assertEqual(self.define("NVDLA_ENG_D_MODE__SIZE"), 0x300)
        self.assertEqual(self.define("NVDLA_ENG_D_MODE__KIND__TWO"), 2)

    def test_names_that_yaml_reads_as_booleans(self):
        self.assertEqual(self.define("NVDLA_ENG_D_OP_ENABLE__OP_EN__YES"), 1)

    def test_templates(self):
        self.assertEqual(self.define("NVDLA_ENG_D_SRC_ADDR_LOW"), 0x2020)
        self.assertEqual(self.define("NVDLA_ENG_D_SRC_ADDR_HIGH"), 0x2024)
        self.assertEqual(self.define("NVDLA_ENG_D_SRC_ADDR_LOW__SRC_ADDR_LOW"), 0xFFFFFFE0)

    def test_repeats(self):
        self.assertEqual(self.define("NVDLA_ENG_D_VALUE_1"), 0x2030)
        self.assertEqual(self.define("NVDLA_ENG_D_VALUE_3"), 0x2040)
        self.assertIsNone(self.define("NVDLA_ENG_D_VALUE_4"))

    def test_one_field_per_bit(self):
        self.assertEqual(self.define("NVDLA_ENG_S_LINES__LINE8"), 0x01)
        self.assertEqual(self.define("NVDLA_ENG_S_LINES__LINE9"), 0x02)
        self.assertEqual(self.define("NVDLA_ENG_S_LINES__LINE12"), 0x10)
        self.assertIsNone(self.define("NVDLA_ENG_S_LINES__LINE10"))

    def test_table_rows(self):
        for row in (
                '{ "S_POINTER", 0x02004, 0x00000000, 0x00010001, 0x00000001, 0 },',
                '{ "S_LINES", 0x02008, 0x00000000, 0x00000033, 0x00000033, '
                "NVDLA_REGISTER_W1C | NVDLA_REGISTER_STATUS },",
                '{ "D_OP_ENABLE", 0x02010, 0x00000000, 0x00000001, 0x00000001, '
                "NVDLA_REGISTER_SHADOWED | NVDLA_REGISTER_TRIGGER },",
                '{ "D_MODE", 0x02014, 0x00000100, 0x00000303, 0x00000303, '
                "NVDLA_REGISTER_SHADOWED },",
                '{ "D_COUNT", 0x02018, 0x00000000, 0xffffffff, 0x00000000, '
                "NVDLA_REGISTER_SHADOWED | NVDLA_REGISTER_COUNTER },",
                '{ "ENG", 0x02000, nvdla_eng_registers, 10 },'):
            self.assertIn(row, self.table)

    def test_reference_page_explains_everything(self):
        page = GENERATOR.reference_page(self.description)
        for text in ("An engine.", "Low half of the source.", "Line 12.", "2 = `TWO`: second",
                     "Address 0x03014 (offset 0x014), reset 0x00000100, shadowed."):
            self.assertIn(text, page)


class BadDescription(unittest.TestCase):
    def assert_refused(self, old, new, culprit, reason, source=GOOD):
        """Replacing old by new must give an error that names the culprit and the reason."""
        self.assertEqual(source.count(old), 1, f"{old!r} has to occur once")
        with self.assertRaises(GENERATOR.DescriptionError) as caught:
            GENERATOR.registers_header(GENERATOR.load(source.replace(old, new)))
        self.assertIn(culprit, str(caught.exception))
        self.assertIn(reason, str(caught.exception))

    def test_fields(self):
        for old, new, culprit, reason in (
                ("SIZE: {bits: 9..8", "SIZE: {bits: 9..1", "ENG.D_MODE.SIZE", "overlap"),
                ("SIZE: {bits: 9..8", "SIZE: {bits: 32..8", "ENG.D_MODE.SIZE", "31..0"),
                ("SIZE: {bits: 9..8", "SIZE: {bits: 8..9", "ENG.D_MODE.SIZE", "highest first"),
                ("SIZE: {bits: 9..8", "SIZE: {bits: high", "ENG.D_MODE.SIZE", "MSB..LSB"),
                ("SIZE: {bits: 9..8, ", "SIZE: {", "ENG.D_MODE.SIZE", "bits is missing"),
                ("SIZE: {bits", "Size: {bits", "ENG.D_MODE.Size", "upper case"),
                ("SIZE: {bits: 9..8", "SIZE: {width: 2, bits: 9..8", "ENG.D_MODE.SIZE", "width"),
                ("SIZE: {bits", "KIND: {bits", "line", "KIND is given twice"),
                (", description: Size.", "", "ENG.D_MODE.SIZE", "description is missing"),
                ("description: Size.", "description: ''", "ENG.D_MODE.SIZE",
                 "description is missing"),
                ("access: ro, ", "access: rx, ", "ENG.S_POINTER.CONSUMER", "rx"),
                ('"5..4, 1..0"', '"5..4, 4..0"', "ENG.S_LINES.LINE12", "given twice"),
                ('"5..4, 1..0"', '"5..4, x"', "ENG.S_LINES.LINE", "MSB..LSB")):
            with self.subTest(new=new):
                self.assert_refused(old, new, culprit, reason)

    def test_enumerated_values(self):
        for old, new, culprit, reason in (
                ("TWO: [2, second]", "TWO: [4, second]", "ENG.D_MODE.KIND.TWO", "fit the field"),
                ("TWO: [2, second]", "TWO: [1, second]", "ENG.D_MODE.KIND.TWO", "given twice"),
                ("TWO: [2, second]", "TWO: [2]", "ENG.D_MODE.KIND.TWO", "[number, description]"),
                ("TWO: [2, second]", "TWO: [two, second]", "ENG.D_MODE.KIND.TWO", "not a number"),
                ("TWO: [2, second]", "TWO: [2, '']", "ENG.D_MODE.KIND.TWO",
                 "description is missing"),
                ("enum: switch", "enum: lever", "ENG.D_OP_ENABLE.OP_EN", "lever")):
            with self.subTest(new=new):
                self.assert_refused(old, new, culprit, reason)

    def test_registers(self):
        for old, new, culprit, reason in (
                ("reset: 0x100", "reset: 0x500", "ENG.D_MODE", "outside every field"),
                ("reset: 0x100", "reset: 0x100000000", "ENG.D_MODE", "32 bits"),
                ("reset: 0x100", "reset: many", "ENG.D_MODE", "not a number"),
                ("reset: 0x100", "preset: 0x100", "ENG.D_MODE", "preset"),
                ("offset: 0x014", "offset: 0x012", "ENG.D_MODE", "word aligned"),
                ("offset: 0x014", "offset: 0x1000", "ENG.D_MODE", "outside the unit"),
                ("offset: 0x014", "offset: 0x018", "ENG.D_COUNT", "that of D_MODE"),
                ("offset: 0x014\n        ", "", "ENG.D_MODE", "offset is missing"),
                ("        description: Mode.\n", "", "ENG.D_MODE", "description is missing"),
                ("        description: Start.\n", "", "ENG.D_OP_ENABLE", "description is missing"),
                ("D_MODE:", "S_MODE:", "ENG.S_MODE", "shadowed"),
                ("S_POINTER:", "D_POINTER:", "ENG.D_POINTER", "shadowed"),
                ("kind: trigger", "kind: rigger", "ENG.D_OP_ENABLE", "rigger"),
                ("kind: trigger", "kind: trigger\n        access: ro", "ENG.D_OP_ENABLE",
                 "writable"),
                ("kind: counter", "kind: counter\n        access: rw", "ENG.D_COUNT",
                 "read only"),
                ("          COUNT: {bits: 31..0}\n", "          {}\n", "ENG.D_COUNT",
                 "has no fields")):
            with self.subTest(new=new):
                self.assert_refused(old, new, culprit, reason)

    def test_registers_that_act_when_read(self):
        row = '{ "D_COUNT", 0x02018, 0x00000000, 0xffffffff, 0x00000000, ' \
              "NVDLA_REGISTER_SHADOWED | NVDLA_REGISTER_COUNTER | NVDLA_REGISTER_READ_ACTS },"
        source = GOOD.replace("kind: counter", "kind: counter\n        read_acts: true")
        self.assertIn(row, GENERATOR.table_header(GENERATOR.load(source)))
        self.assert_refused("kind: counter", "kind: counter\n        read_acts: maybe",
                            "ENG.D_COUNT", "read_acts is neither true nor false")

    def test_templates(self):
        for old, new, culprit, reason in (
                ("template: pair", "template: pear", "ENG.ADDRESS", "pear"),
                (", WHAT: the source", "", "ENG.ADDRESS", "WHAT"),
                ("repeat: 3..1, step: 8", "repeat: 3..1, step: 2", "ENG.D_VALUE_2",
                 "word aligned"),
                ("repeat: 3..1", "repeat: 1..3", "ENG.VALUES", "highest first"),
                ("repeat: 3..1", "times: 3", "ENG.VALUES", "times")):
            with self.subTest(new=new):
                self.assert_refused(old, new, culprit, reason)

    def test_units(self):
        for old, new, culprit, reason in (
                ("base: 0x3000", "base: 0x3100", "TWIN", "multiple"),
                ("base: 0x3000", "base: 0x2000", "TWIN", "that of ENG"),
                ("base: 0x3000", "base: 0x40000", "TWIN", "outside the CSB"),
                ("base: 0x3000\n    ", "", "TWIN", "base is missing"),
                ("    description: Another engine.\n", "", "TWIN", "description is missing"),
                ("same_as: ENG", "same_as: GNE", "TWIN", "GNE"),
                ("same_as: ENG", "same_as: TWIN", "TWIN", "TWIN"),
                ("    same_as: ENG\n", "", "TWIN", "has no registers"),
                ("    same_as: ENG\n", "    same_as: ENG\n    shared: {}\n", "TWIN",
                 "registers of its own"),
                ("    description: An engine.\n", "", "ENG", "description is missing"),
                ("    same_as: ENG\n", "    same_as: ENG\n    absent: maybe\n", "TWIN", "absent"),
                ("TWIN:", "twin:", "twin", "upper case"),
                ("TWIN:", "ENG:", "line", "ENG is given twice")):
            with self.subTest(new=new):
                self.assert_refused(old, new, culprit, reason)

    def test_names_that_collide_in_the_header(self):
        self.assert_refused("D_COUNT:", "D_MODE__KIND:", "ENG.D_MODE__KIND",
                            "NVDLA_ENG_D_MODE__KIND is also made by ENG.D_MODE")

    def test_document(self):
        for text, reason in (("", "mapping"), ("[]", "mapping"), ("a: [", "expected"),
                             ("units: {}\n", "unit_size is missing")):
            with self.subTest(text=text):
                with self.assertRaisesRegex(GENERATOR.DescriptionError, reason):
                    GENERATOR.load(text)


class CommandLine(unittest.TestCase):
    def run_script(self, text):
        with tempfile.TemporaryDirectory() as folder:
            description = pathlib.Path(folder) / "description.yaml"
            header = pathlib.Path(folder) / "header.h"
            description.write_text(text, encoding="utf-8")
            result = subprocess.run(
                [sys.executable, SCRIPT, str(description), "--header", str(header)],
                capture_output=True, text=True, check=False)
            return result, header.exists()

    def test_success(self):
        result, written = self.run_script(GOOD)
        self.assertEqual((result.returncode, result.stderr, written), (0, "", True))

    def test_failure_is_one_line_and_writes_nothing(self):
        result, written = self.run_script(GOOD.replace("bits: 9..8", "bits: 9..1"))
        self.assertEqual(result.returncode, 1)
        self.assertFalse(written)
        self.assertEqual(len(result.stderr.splitlines()), 1)
        self.assertIn("description.yaml: ENG.D_MODE.SIZE", result.stderr)

    def test_missing_file(self):
        result = subprocess.run([sys.executable, SCRIPT, "/nonexistent.yaml"],
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("/nonexistent.yaml", result.stderr)
        self.assertNotIn("Traceback", result.stderr)


if __name__ == "__main__":
    unittest.main()
