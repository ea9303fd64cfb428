# SPDX-License-Identifier: GPL-2.0-only
"""mi - documents of `lttctl --mi=xml`: facts of version 4.3 of LTTng's schema as tables. A word with '*' may
stand several times, one with '!' has to be there. Elements without a row are texts."""
import xml.etree.ElementTree as etree

import ltt

NAMESPACE = "https://lttng.org/xml/ns/lttng-mi"
COMMANDS = """add-context add-map-channel add-trigger clear create destroy disable-channel disable-event
disable-rotation enable-channel enable-event enable-rotation export-maps list list-trigger load regenerate
remove-trigger rotate save set-session show-maps snapshot start stop track untrack version""".split()
RATED = "rate_policy! session_name!"
NAMED = "session_name! channel_name! channel_type!"
LOGGED = "name_pattern! filter_expression log_level_rule"
CHILDREN = {
    "command": "name! output! success",
    "output": """channel channels contexts domains events export-maps load process_attr_trackers regenerate_action
        rotation rotation_schedule_results save session sessions show-maps snapshot snapshot_action trigger triggers
        version""",
    "version": "name! string! major! url! minor! commit! license! patchLevel! description!",
    "sessions": "session*",
    "session": """name! path enabled snapshot_mode live_timer_interval trace_format channels domains snapshots
        rotation_schedules""",
    "domains": "domain*",
    "domain": "type! buffer_type! pids channels map_channels events process_attr_trackers",
    "pids": "pid*", "domain/pids/pid": "id! name! events",
    "channels": "channel*",
    "channel": "name! enabled attributes events success",
    "channel/attributes": """overwrite_mode subbuffer_size subbuffer_count switch_timer_interval
        read_timer_interval! output_type! tracefile_size tracefile_count live_timer_interval discarded_events
        lost_packets monitor_timer_interval watchdog_timer_interval blocking_timeout allocation_policy
        preallocation_policy reclaim_policy""",
    "reclaim_policy": "periodic consumed",
    "events": "event*",
    "event": """type name loglevel_type loglevel enabled filter_expression exclusions attributes event_fields
        success""",
    "exclusions": "exclusion*",
    "event/attributes": "probe_attributes function_attributes",
    "probe_attributes": "address offset symbol_name", "function_attributes": "symbol_name!",
    "event_fields": "event_field*", "event_field": "name! type! nowrite!",
    "contexts": "context*", "context": "type perf app symbol success",
    "app": "provider_name! ctx_name!", "perf": "type config name!",
    "process_attr_trackers": " ".join(f"{k}_process_attr_tracker*" for k in "pid vpid uid vuid gid vgid".split()),
    "rotation": "session_name! state! location", "location": "local relay", "local": "absolute_path!",
    "relay": "host! control_port data_port protocol! relative_path",
    "rotation_schedules": "periodic size_threshold", "rotation_schedule": "periodic size_threshold",
    "periodic": "time_us", "size_threshold": "bytes",
    "rotation_schedule_results": "session_name! rotation_schedule_result*",
    "rotation_schedule_result": "rotation_schedule! success!",
    "save": "session! path!", "load": "session! path! overrides!", "overrides": "name url",
    "regenerate_action": "name",
    "snapshot_action": "name output", "snapshots": "snapshot*",
    "snapshot": "id max_size name session_name ctrl_url data_url",
    "map_channels": "map_channel*",
    "triggers": "trigger*", "trigger": "name! owner_uid! condition! action! error_query_results",
    "condition": """condition_buffer_usage_high condition_buffer_usage_low condition_event_rule_matches
        condition_session_consumed_size condition_session_rotation_completed condition_session_rotation_ongoing
        error_query_results""",
    "condition_buffer_usage_high": "session_name! channel_name! domain! threshold_bytes threshold_ratio",
    "condition_session_consumed_size": "session_name! threshold_bytes!",
    "condition_session_rotation_ongoing": "session_name!", "condition_session_rotation_completed": "session_name!",
    "condition_event_rule_matches": "capture_descriptors! event_rule!",
    "event_rule": """event_rule_user_tracepoint event_rule_jul_logging event_rule_python_logging
        event_rule_kernel_syscall event_rule_kernel_tracepoint event_rule_kernel_kprobe""",
    "event_rule_kernel_syscall": "emission_site! name_pattern! filter_expression",
    "event_rule_kernel_tracepoint": "name_pattern! filter_expression",
    "event_rule_kernel_kprobe": "event_name! kernel_probe_location!",
    "kernel_probe_location": "kernel_probe_location_address kernel_probe_location_symbol_offset",
    "kernel_probe_location_address": "address!", "kernel_probe_location_symbol_offset": "name! offset!",
    "event_rule_user_tracepoint": f"{LOGGED} name_pattern_exclusions",
    "name_pattern_exclusions": "name_pattern_exclusion*",
    "log_level_rule": "log_level_rule_exactly log_level_rule_at_least_as_severe_as",
    "log_level_rule_exactly": "level!", "log_level_rule_at_least_as_severe_as": "level!",
    "capture_descriptors": "event_expr*",
    "event_expr": """event_expr_payload_field event_expr_channel_context_field
        event_expr_app_specific_context_field event_expr_array_field_element""",
    "event_expr_payload_field": "name!", "event_expr_channel_context_field": "name!",
    "event_expr_app_specific_context_field": "provider_name! type_name!",
    "event_expr_array_field_element": "index! event_expr!",
    "action": """action_list action_notify action_rotate_session action_snapshot_session action_start_session
        action_stop_session action_increment_map_value error_query_results""",
    "action_list": "action*", "action_notify": "rate_policy!", "action_rotate_session": RATED,
    "action_start_session": RATED, "action_stop_session": RATED, "action_snapshot_session": f"{RATED} output",
    "action_snapshot_session/output": "max_size name session_name ctrl_url data_url",
    "action_increment_map_value": f"{NAMED} key_template!",
    "rate_policy": "rate_policy_every_n rate_policy_once_after_n",
    "rate_policy_every_n": "interval!", "rate_policy_once_after_n": "threshold!",
    "error_query_results": "error_query_result*",
    "error_query_result": "name! description! error_query_result_counter!", "error_query_result_counter": "value!",
    "show-maps": "per_channel_map_table* per_owner_map_table* per_part_map_table*",
    "per_channel_map_table": f"{NAMED} map_groups! part_ids! rows!",
    "per_owner_map_table": f"{NAMED} map_group! part_ids! rows!",
    "per_part_map_table": f"{NAMED} map_group! part_id! rows!",
    "map_groups": "map_group*", "map_group": "type! effective_value_type! owner_id owner_name",
    "part_ids": "part_id*", "rows": "row*", "row": "key! value!", "export-maps": "output!",
    "export-maps/output": None, "condition_buffer_usage_high/domain": None,
    "map_channel": """name! enabled value_type! max_key_count! update_policy! buffer_ownership
        dead_group_policy""",
}
for kind in "pid vpid uid vuid gid vgid".split():
    CHILDREN[f"{kind}_process_attr_tracker"] = "process_attr_values"
    CHILDREN[f"{kind}_process_attr_tracker/process_attr_values"] = f"{kind}*"
    CHILDREN[f"process_attr_values/{kind}"] = "type success"
    CHILDREN[f"{kind}/type"] = "id all" if "pid" in kind else "id name all"
NUMBERS = """major minor patchLevel snapshot_mode live_timer_interval id nowrite subbuffer_size subbuffer_count
switch_timer_interval read_timer_interval tracefile_size tracefile_count discarded_events lost_packets
owner_uid level interval threshold index threshold_bytes owner_id part_id
monitor_timer_interval blocking_timeout address offset time_us bytes max_size config max_key_count""".split()
VALUES = {
    "command/name": COMMANDS,
    "domain/type": ["KERNEL", "UST", "JUL", "LOG4J", "LOG4J2", "PYTHON"],
    "buffer_type": ["PER_PID", "PER_UID", "GLOBAL"],
    "overwrite_mode": ["DISCARD", "OVERWRITE"], "output_type": ["SPLICE", "MMAP"],
    "allocation_policy": ["PER_CPU", "PER_CHANNEL"], "preallocation_policy": ["PREALLOCATE", "ON_DEMAND"],
    "event/type": ["ALL", "TRACEPOINT", "PROBE", "FUNCTION", "FUNCTION_ENTRY", "NOOP", "SYSCALL",
                   "USERSPACE_PROBE"],
    "event_field/type": ["OTHER", "INTEGER", "ENUM", "FLOAT", "STRING"],
    "loglevel_type": ["ALL", "RANGE", "SINGLE", "UNKNOWN"],
    "state": ["ONGOING", "COMPLETED", "EXPIRED", "ERROR"], "protocol": ["TCP"],
    "regenerate_action/name": ["metadata", "statedump"],
    "map_group/type": ["kernel-global", "user-per-user", "user-per-process", "shared"],
    "channel_type": ["kernel", "user"], "condition_buffer_usage_high/domain": ["KERNEL", "UST"],
    "snapshot_action/name": ["list-output", "del-output", "add-output", "record"],
}
VALUES.update(dict.fromkeys("command/success enabled success all".split(), ["true", "false"]))


def tag(element):
    return element.tag.removeprefix(f"{{{NAMESPACE}}}")


def row(table, path):
    """That of the longest end of the path."""
    ends = ("/".join(path[i:]) for i in range(len(path)))
    return next((table[end] for end in ends if end in table), None)


def check(element, path=()):
    path = (*path, tag(element))
    where, text = "/".join(path), element.text or ""
    children = row(CHILDREN, path)
    if children is None:
        ltt.equal(f"{where}: elements in a text", len(element), 0)
        values = row(VALUES, path)
        ltt.check(values is None or text in values, f"{where}: '{text}'")
        ltt.check(path[-1] not in NUMBERS or text.lstrip("-").isdigit(), f"{where}: '{text}' is no number")
        return
    ltt.equal(f"{where}: text beside elements", text, "")
    words = children.split()
    names = [tag(e) for e in element]
    for name in names:
        ltt.check({name, f"{name}!", f"{name}*"} & set(words), f"{where}: element '{name}'")
        ltt.check(f"{name}*" in words or names.count(name) == 1, f"{where}: several '{name}'")
    for word in words:
        ltt.check(not word.endswith("!") or word[:-1] in names, f"{where}: there is no '{word[:-1]}'")
    for child in element:
        check(child, path)


def plain(element):
    """An element as a text, or as a dict of lists."""
    if not len(element) and row(CHILDREN, (tag(element),)) is None:
        return element.text or ""
    found = {}
    for child in element:
        found.setdefault(tag(child), []).append(plain(child))
    return found


def document(text, command):
    """Check a document. Return the root."""
    root = etree.fromstring(text)
    check(root)
    ltt.equal("schemaVersion", root.attrib["schemaVersion"], "4.3")
    ltt.check(root.attrib["{http://www.w3.org/2001/XMLSchema-instance}schemaLocation"].startswith(NAMESPACE), root.attrib)
    ltt.equal("name", root.findtext(f"{{{NAMESPACE}}}name"), command)
    return root


class Answer:
    """The document of a command; find() and texts() take paths below its output."""

    def __init__(self, done, command):
        self.root = document(done.stdout, command)
        self.success = {"true": True, "false": False}[self.root.findtext(f"{{{NAMESPACE}}}success")]
        self.stderr = done.stderr

    def find(self, path):
        return self.root.findall("/".join(f"{{{NAMESPACE}}}{n}" for n in ["output", *path.split("/")]))

    def texts(self, path):
        return [e.text or "" for e in self.find(path)]

    def text(self, path):
        texts = self.texts(path)
        ltt.equal(f"number of {path}", len(texts), 1)
        return texts[0]


def ask(*argv, status=0, success=None, command=None):
    done = ltt.run("lttctl", "--mi=xml", *argv, status=status)
    answer = Answer(done, command or argv[0])
    ltt.equal(f"success of {' '.join(map(str, argv))}", answer.success, status == 0 if success is None else success)
    return answer
