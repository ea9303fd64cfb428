#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Adds a trigger to LTTng's session daemon, which notifies of bench:str and captures its field a, a time of
CLOCK_MONOTONIC. Prints "ready", and for each notification the ns since then. By liblttng-ctl 2.13, of which Debian has
the library alone without more packages."""
import ctypes
import sys
import time

lttng = ctypes.CDLL("liblttng-ctl.so.0")
pointer = ctypes.c_void_p


def call(name, *argv, result=pointer):
    function = getattr(lttng, name)
    function.restype = result
    return function(*argv)


def done(name, *argv):
    status = call(name, *argv, result=ctypes.c_int)
    if status:
        sys.exit(f"{name}(): status {status}")


def condition():
    rule = pointer(call("lttng_event_rule_user_tracepoint_create"))
    done("lttng_event_rule_user_tracepoint_set_name_pattern", rule, b"bench:str")
    made = pointer(call("lttng_condition_event_rule_matches_create", rule))
    field = pointer(call("lttng_event_expr_event_payload_field_create", b"a"))
    done("lttng_condition_event_rule_matches_append_capture_descriptor", made, field)
    return made


wanted = condition()
trigger = pointer(call("lttng_trigger_create", wanted, pointer(call("lttng_action_notify_create"))))
status = call("lttng_register_trigger_with_automatic_name", trigger, result=ctypes.c_int)
if status != 10:  # LTTNG_OK
    sys.exit(f"the trigger was not added: {status}")
place = pointer.in_dll(lttng, "lttng_session_daemon_notification_endpoint")
channel = pointer(call("lttng_notification_channel_create", place))
done("lttng_notification_channel_subscribe", channel, wanted)
print("ready", flush=True)
while True:
    notification, values, value = pointer(), pointer(), pointer()
    done("lttng_notification_channel_get_next_notification", channel, ctypes.byref(notification))
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    evaluation = pointer(call("lttng_notification_get_evaluation", notification))
    begin = ctypes.c_uint64()
    done("lttng_evaluation_event_rule_matches_get_captured_values", evaluation, ctypes.byref(values))
    done("lttng_event_field_value_array_get_element_at_index", values, 0, ctypes.byref(value))
    done("lttng_event_field_value_unsigned_int_get_value", value, ctypes.byref(begin))
    print(now - begin.value, flush=True)
    call("lttng_notification_destroy", notification, result=None)
