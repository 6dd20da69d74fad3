# SPDX-License-Identifier: MIT
"""The register description, include/nvdla/hw/registers.yaml: read and checked.

A description that contradicts itself or leaves a register unexplained is refused. Its format is
explained at the top of the YAML file and in Documentation/how-to-add-a-register.md.
"""

import re

import yaml

WORD_MASK = 0xFFFFFFFF
NAME_PATTERN = re.compile(r"[A-Z][A-Z0-9_]*\Z")
PARAMETER_PATTERN = re.compile(r"<([A-Za-z]+)>")

# Access types of a field: name -> (whether software can read the field, whether it can write the
# field).
ACCESSES = {
    "rw": (True, True),
    "ro": (True, False),
    "wo": (False, True),
    "w1c": (True, True),
}
KINDS = ("config", "status", "counter", "trigger")
GROUPS = ("shared", "shadowed")

FLAGS = {
    "ABSENT": "The released core does not have it: reads as zero, writes are ignored.",
    "SHADOWED": "One copy per register group; the producer pointer selects which one is accessed.",
    "W1C": "Writing one to a bit clears it, writing zero leaves it alone.",
    "TRIGGER": "Writing makes the hardware act; the value is more than stored.",
    "STATUS": "The hardware changes the value on its own.",
    "COUNTER": "Statistics or performance counter, written by the hardware only.",
    "READ_ACTS": "Reading makes the hardware act as well: not for dumps.",
}


class DescriptionError(Exception):
    """The description is wrong; the message names the unit, register and field."""


class DescriptionLoader(yaml.BaseLoader):
    """Loads every scalar as text and refuses a key that is given twice.

    YAML's own types would make booleans of names such as NO, ON or TRUE. PyYAML's own loader
    silently keeps only the last value of a key that is given twice.
    """

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise DescriptionError(
                    f"line {key_node.start_mark.line + 1}: {key} is given twice")
            seen.add(key)
        return super().construct_mapping(node, deep)


def parse_number(text, where, what):
    try:
        number = int(text, 0)
    except (TypeError, ValueError):
        raise DescriptionError(f"{where}: {what} is not a number: {text!r}") from None
    if not 0 <= number <= WORD_MASK:
        raise DescriptionError(f"{where}: {what} does not fit 32 bits: {text}")
    return number


def parse_bits(text, where):
    """Parse the bits of a field, '12..3' or '7'; returns (highest bit, lowest bit)."""
    ends = str(text).split("..")
    if len(ends) > 2 or not all(re.fullmatch(r"[0-9]+", end.strip()) for end in ends):
        raise DescriptionError(f"{where}: bits must be MSB..LSB or one bit, not {text!r}")
    msb, lsb = int(ends[0]), int(ends[-1])
    if msb > 31 or lsb > msb:
        raise DescriptionError(f"{where}: bits {text} are not within 31..0, highest first")
    return msb, lsb


def parse_text(text, where):
    """Return a description as one line, without surplus white space."""
    if not isinstance(text, str) or not text.split():
        raise DescriptionError(f"{where}: description is missing")
    return " ".join(text.split())


def parse_flag(mapping, key, where):
    """Return the value of a key that can be true or false; a missing key is false."""
    text = mapping.get(key, "false")
    if text not in ("true", "false"):
        raise DescriptionError(f"{where}: {key} is neither true nor false")
    return text == "true"


def check_mapping(value, where):
    if not isinstance(value, dict):
        raise DescriptionError(f"{where}: a mapping is expected, not {value!r}")
    return value


def check_keys(mapping, allowed, required, where):
    check_mapping(mapping, where)
    for key in mapping:
        if key not in allowed:
            raise DescriptionError(f"{where}: unknown key {key!r} (known: {', '.join(allowed)})")
    for key in required:
        if key not in mapping:
            raise DescriptionError(f"{where}: {key} is missing")


def check_name(name, where):
    if not NAME_PATTERN.match(name):
        raise DescriptionError(f"{where}: {name!r} is not an upper case C name")


def substitute(value, parameters, where):
    """Replace each <NAME> in the keys and texts of a template by the parameter NAME."""

    def replace(match):
        if match.group(1) not in parameters:
            raise DescriptionError(f"{where}: no parameter {match.group(1)!r}")
        return parameters[match.group(1)]

    if isinstance(value, dict):
        return {substitute(key, parameters, where): substitute(entry, parameters, where)
                for key, entry in value.items()}
    if isinstance(value, list):
        return [substitute(entry, parameters, where) for entry in value]
    return PARAMETER_PATTERN.sub(replace, value)


class EnumValue:
    def __init__(self, name, description, where):
        where = f"{where}.{name}"
        check_name(name, where)
        if not isinstance(description, list) or len(description) != 2:
            raise DescriptionError(f"{where}: an enumerated value is [number, description]")
        self.name = name
        self.value = parse_number(description[0], where, "value")
        self.description = parse_text(description[1], where)


class Field:
    KEYS = ("bits", "access", "enum", "description")

    def __init__(self, name, body, default_access, enums, where):
        where = f"{where}.{name}"
        check_name(name, where)
        check_keys(body, self.KEYS, ("bits",), where)
        self.name = name
        self.msb, self.lsb = parse_bits(body["bits"], where)
        self.mask = ((1 << (self.msb - self.lsb + 1)) - 1) << self.lsb
        self.access = body.get("access", default_access)
        if self.access not in ACCESSES:
            raise DescriptionError(f"{where}: unknown access {self.access!r}")
        self.description = None
        if "description" in body:
            self.description = parse_text(body["description"], where)
        self.values = self.parse_values(body.get("enum"), enums, where)

    def parse_values(self, enum, enums, where):
        if enum is None:
            return []
        if isinstance(enum, str):
            if enum not in enums:
                raise DescriptionError(f"{where}: there is no enum {enum!r}")
            enum = enums[enum]
        values = [EnumValue(name, body, where)
                  for name, body in check_mapping(enum, where).items()]
        numbers = set()
        for value in values:
            if value.value > self.mask >> self.lsb:
                raise DescriptionError(
                    f"{where}.{value.name}: {value.value} does not fit the field")
            if value.value in numbers:
                raise DescriptionError(f"{where}.{value.name}: {value.value} is given twice")
            numbers.add(value.value)
        return values


def expand_fields(fields, where):
    """Yield (name, body) of each field; NAME<n> with each_bit becomes one field for each bit."""
    for name, body in check_mapping(fields, where).items():
        if not isinstance(body, dict) or "each_bit" not in body:
            yield name, body
            continue
        body = dict(body)
        spans = [parse_bits(span, f"{where}.{name}") for span in body.pop("each_bit").split(",")]
        bits = sorted(bit for msb, lsb in spans for bit in range(lsb, msb + 1))
        first = parse_number(body.pop("first", "0"), f"{where}.{name}", "first")
        for bit in bits:
            parameters = {"n": str(first + bit - bits[0])}
            expanded = substitute(name, parameters, where)
            yield expanded, dict(substitute(body, parameters, where), bits=str(bit))


class Register:
    KEYS = ("offset", "reset", "access", "kind", "read_acts", "description", "fields")

    def __init__(self, name, body, unit, group, enums):
        self.where = f"{unit.name}.{name}"
        check_name(name, self.where)
        check_keys(body, self.KEYS, ("offset", "fields"), self.where)
        self.name = name
        self.unit = unit
        self.group = group
        self.offset = parse_number(body["offset"], self.where, "offset")
        self.reset = parse_number(body.get("reset", "0"), self.where, "reset")
        self.kind = body.get("kind", "config")
        if self.kind not in KINDS:
            raise DescriptionError(f"{self.where}: unknown kind {self.kind!r}")
        self.read_acts = parse_flag(body, "read_acts", self.where)
        hardware_only = self.kind in ("status", "counter")
        access = body.get("access", "ro" if hardware_only else "rw")
        self.fields = []
        for field_name, field_body in expand_fields(body["fields"], self.where):
            self.add_field(Field(field_name, field_body, access, enums, self.where))
        self.fields.sort(key=lambda field: field.lsb)
        self.describe(body)
        self.check()

    @property
    def address(self):
        return self.unit.base + self.offset

    @property
    def mask(self):
        return sum(field.mask for field in self.fields)

    @property
    def read_mask(self):
        return sum(field.mask for field in self.fields if ACCESSES[field.access][0])

    @property
    def write_mask(self):
        return sum(field.mask for field in self.fields if ACCESSES[field.access][1])

    @property
    def flags(self):
        present = {
            "ABSENT": self.unit.absent,
            "SHADOWED": self.group == "shadowed",
            "W1C": any(field.access == "w1c" for field in self.fields),
            "TRIGGER": self.kind == "trigger",
            "STATUS": self.kind == "status",
            "COUNTER": self.kind == "counter",
            "READ_ACTS": self.read_acts,
        }
        return [flag for flag in FLAGS if present[flag]]

    def add_field(self, field):
        for other in self.fields:
            if other.name == field.name:
                raise DescriptionError(f"{self.where}.{field.name}: field is given twice")
            if other.mask & field.mask:
                raise DescriptionError(
                    f"{self.where}.{field.name}: bits overlap those of {other.name}")
        self.fields.append(field)

    def describe(self, body):
        """Set the descriptions of the register and its fields. A field without a description gets
        that of the register if it is the register's only field."""
        self.description = parse_text(body.get("description"), self.where)
        for field in self.fields:
            if field.description:
                continue
            if len(self.fields) > 1:
                raise DescriptionError(f"{self.where}.{field.name}: description is missing")
            field.description = self.description

    def check(self):
        if not self.fields:
            raise DescriptionError(f"{self.where}: has no fields")
        if self.offset % 4:
            raise DescriptionError(f"{self.where}: offset {self.offset:#x} is not word aligned")
        if self.offset >= self.unit.size:
            raise DescriptionError(
                f"{self.where}: offset {self.offset:#x} is outside the unit ({self.unit.size:#x})")
        if self.reset & ~self.mask:
            raise DescriptionError(
                f"{self.where}: reset {self.reset:#x} sets bits outside every field")
        if self.kind == "counter" and self.write_mask:
            raise DescriptionError(f"{self.where}: a counter is read only")
        if self.kind == "trigger" and not self.write_mask:
            raise DescriptionError(f"{self.where}: a trigger needs a writable field")
        shadowed = self.group == "shadowed"
        if self.name.startswith("D_") != shadowed:
            raise DescriptionError(
                f"{self.where}: D_ registers, and only those, belong under 'shadowed'")


class Unit:
    KEYS = ("base", "description", "absent", "same_as") + GROUPS

    def __init__(self, name, body, size, enums, templates):
        check_name(name, name)
        check_keys(body, self.KEYS, ("base",), name)
        self.name = name
        self.size = size
        self.base = parse_number(body["base"], name, "base")
        self.description = parse_text(body.get("description"), name)
        self.absent = parse_flag(body, "absent", name)
        self.registers = []
        if self.base % size:
            raise DescriptionError(f"{name}: base {self.base:#x} is not a multiple of {size:#x}")
        for group in GROUPS:
            for register, register_body in self.expand(body.get(group, {}), templates):
                self.add_register(Register(register, register_body, self, group, enums))
        self.registers.sort(key=lambda register: register.offset)
        if not self.registers:
            raise DescriptionError(f"{name}: has no registers")

    def expand(self, registers, templates):
        """Yield (name, body) of the registers of one group, with each template expanded."""
        for name, body in check_mapping(registers, self.name).items():
            where = f"{self.name}.{name}"
            check_mapping(body, where)
            if "template" in body:
                yield from self.instantiate(body, templates, where)
            else:
                yield name, body

    def instantiate(self, body, templates, where):
        check_keys(body, ("template", "offset", "with", "repeat", "step"),
                   ("template", "offset"), where)
        if body["template"] not in templates:
            raise DescriptionError(f"{where}: there is no template {body['template']!r}")
        template = check_mapping(templates[body["template"]], f"template {body['template']}")
        first = last = 0
        if "repeat" in body:
            last, first = parse_bits(body["repeat"], where)
        step = parse_number(body.get("step", "4"), where, "step")
        base = parse_number(body["offset"], where, "offset")
        for index in range(first, last + 1):
            parameters = dict(check_mapping(body.get("with", {}), where))
            # Without repeat, <n> stays as it is, because expand_fields() replaces it in fields with
            # each_bit.
            parameters["n"] = str(index) if "repeat" in body else "<n>"
            for name, entry in substitute(template, parameters, where).items():
                check_mapping(entry, f"{where}: template register {name}")
                offset = parse_number(entry.get("offset", "0"), where, "offset")
                offset += base + (index - first) * step
                yield name, dict(entry, offset=str(offset))

    def add_register(self, register):
        for other in self.registers:
            if other.name == register.name:
                raise DescriptionError(f"{register.where}: register is given twice")
            if other.offset == register.offset:
                raise DescriptionError(
                    f"{register.where}: offset {register.offset:#x} is that of {other.name}")
        self.registers.append(register)


class Description:
    """The checked description of all registers: its units, in the order of their addresses."""

    KEYS = ("unit_size", "csb_size", "enums", "templates", "units")

    def __init__(self, document):
        check_keys(document, self.KEYS, ("unit_size", "csb_size", "units"), "description")
        self.unit_size = parse_number(document["unit_size"], "description", "unit_size")
        self.csb_size = parse_number(document["csb_size"], "description", "csb_size")
        enums = check_mapping(document.get("enums", {}), "enums")
        templates = check_mapping(document.get("templates", {}), "templates")
        self.units = []
        bodies = check_mapping(document["units"], "units")
        for name, body in bodies.items():
            self.add_unit(Unit(name, self.resolve(name, body, bodies), self.unit_size, enums,
                               templates))
        self.units.sort(key=lambda unit: unit.base)

    @staticmethod
    def resolve(name, body, bodies):
        """Return the body of a unit. If it has the key same_as, add the registers of the unit that
        same_as names."""
        other = check_mapping(body, name).get("same_as")
        if other is None:
            return body
        if other not in bodies or "same_as" in bodies[other]:
            raise DescriptionError(f"{name}: same_as {other!r} is not a unit with own registers")
        if any(group in body for group in GROUPS):
            raise DescriptionError(f"{name}: has registers of its own besides same_as {other}")
        registers = {group: bodies[other][group] for group in GROUPS if group in bodies[other]}
        return {**registers, **body}

    def add_unit(self, unit):
        if unit.base + self.unit_size > self.csb_size:
            raise DescriptionError(f"{unit.name}: base {unit.base:#x} is outside the CSB space")
        for other in self.units:
            if other.base == unit.base:
                raise DescriptionError(
                    f"{unit.name}: base {unit.base:#x} is that of {other.name}")
        self.units.append(unit)


def load(stream):
    try:
        document = yaml.load(stream, DescriptionLoader)
    except yaml.YAMLError as error:
        raise DescriptionError(str(error)) from None
    return Description(document)
