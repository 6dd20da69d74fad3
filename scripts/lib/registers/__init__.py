# SPDX-License-Identifier: MIT
"""Modules of scripts/gen-registers: the register description, and what is generated from it."""
