# SPDX-License-Identifier: LGPL-2.1-or-later
"""For programs that import LTTng's module of this name: ltt_agent, and no level of the root logger, as there."""
import logging

import ltt_agent  # noqa: F401

logging.getLogger().setLevel(logging.NOTSET)
