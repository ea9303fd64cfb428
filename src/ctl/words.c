/* SPDX-License-Identifier: GPL-2.0-only */
#include "words.h"

#include <ltt/control.h>
#include <string.h>

#include "base/macros.h"

#define WORDS(name, ...)                                      \
	static const char *const name##_list[] = __VA_ARGS__; \
	const struct words words_##name = { name##_list, ARRAY_SIZE(name##_list) }

WORDS(domain, { [LTT_CTL_KERNEL] = "kernel", [LTT_CTL_USER] = "user" });
WORDS(track_kind, {
			  [LTT_CTL_TRACK_PID] = "pid",
			  [LTT_CTL_TRACK_TID] = "tid",
			  [LTT_CTL_TRACK_VPID] = "vpid",
			  [LTT_CTL_TRACK_VTID] = "vtid",
			  [LTT_CTL_TRACK_UID] = "uid",
			  [LTT_CTL_TRACK_GID] = "gid",
			  [LTT_CTL_TRACK_VUID] = "vuid",
			  [LTT_CTL_TRACK_VGID] = "vgid",
			  [LTT_CTL_TRACK_FOLLOW] = "follow",
			  [LTT_CTL_TRACK_CGROUP] = "cgroup",
		  });
WORDS(owner, {
		     [LTT_CTL_OWNER_DEFAULT] = "default",
		     [LTT_CTL_OWNER_USER] = "user",
		     [LTT_CTL_OWNER_PROCESS] = "process",
		     [LTT_CTL_OWNER_SYSTEM] = "system",
	     });
WORDS(sync, {
		    [LTT_CTL_SYNC_NONE] = "none",
		    [LTT_CTL_SYNC_PACKET] = "packet",
		    [LTT_CTL_SYNC_PERIOD] = "period",
	    });
WORDS(trace_format, {
			    [LTT_CTL_TRACE_FORMAT_DEFAULT] = "default",
			    [LTT_CTL_TRACE_FORMAT_CTF_1_8] = "ctf-1.8",
			    [LTT_CTL_TRACE_FORMAT_CTF_2] = "ctf-2",
		    });
WORDS(output_type, {
			   [LTT_CTL_OUTPUT_TYPE_DEFAULT] = "mmap",
			   [LTT_CTL_OUTPUT_TYPE_MMAP] = "mmap",
			   [LTT_CTL_OUTPUT_TYPE_SPLICE] = "splice",
		   });
WORDS(rule_kind, {
			 [LTT_CTL_RULE_EVENTS] = "events",
			 [LTT_CTL_RULE_PROBE] = "probe",
			 [LTT_CTL_RULE_FUNCTION] = "function",
			 [LTT_CTL_RULE_USER] = "userspace-probe",
			 [LTT_CTL_RULE_COUNT] = "count",
			 [LTT_CTL_RULE_HISTOGRAM] = "histogram",
		 });
WORDS(level_type, {
			  [LTT_CTL_LEVEL_ALL] = "all",
			  [LTT_CTL_LEVEL_AT_LEAST] = "at-least",
			  [LTT_CTL_LEVEL_ONLY] = "only",
		  });

WORDS(condition, {
			 [LTT_CTL_IF_EVENT] = "event-rule-matches",
			 [LTT_CTL_IF_PAIR] = "pair",
			 [LTT_CTL_IF_RATE] = "rate",
			 [LTT_CTL_IF_SILENCE] = "silence",
			 [LTT_CTL_IF_LOSSES] = "losses",
			 [LTT_CTL_IF_QUANTILE] = "quantile",
			 [LTT_CTL_IF_USAGE_HIGH] = "channel-buffer-usage-ge",
			 [LTT_CTL_IF_USAGE_LOW] = "channel-buffer-usage-le",
			 [LTT_CTL_IF_CONSUMED] = "session-consumed-size-ge",
			 [LTT_CTL_IF_ROTATION_BEGUN] = "session-rotation-starts",
			 [LTT_CTL_IF_ROTATION_ENDED] = "session-rotation-finishes",
			 [LTT_CTL_IF_SIGNAL] = "signal",
		 });
WORDS(action, {
		      [LTT_CTL_DO_NOTIFY] = "notify",
		      [LTT_CTL_DO_START] = "start-session",
		      [LTT_CTL_DO_STOP] = "stop-session",
		      [LTT_CTL_DO_ROTATE] = "rotate-session",
		      [LTT_CTL_DO_SNAPSHOT] = "snapshot-session",
		      [LTT_CTL_DO_EXEC] = "exec",
		      [LTT_CTL_DO_INCR_MAP] = "incr-map-value",
	      });
WORDS(map_value, {
			 [LTT_CTL_MAP_DEFAULT] = "signed-int-max",
			 [LTT_CTL_MAP_INT_32] = "signed-int-32",
			 [LTT_CTL_MAP_INT_64] = "signed-int-64",
			 [LTT_CTL_MAP_INT_MAX] = "signed-int-max",
		 });
WORDS(map_update, {
			  [LTT_CTL_MAP_UPDATE_DEFAULT] = "per-event",
			  [LTT_CTL_MAP_PER_EVENT] = "per-event",
			  [LTT_CTL_MAP_PER_RULE_MATCH] = "per-rule-match",
		  });
WORDS(map_dead, {
			[LTT_CTL_MAP_DEAD_DEFAULT] = "sum-into-shared",
			[LTT_CTL_MAP_DROP] = "drop",
			[LTT_CTL_MAP_SUM_INTO_SHARED] = "sum-into-shared",
		});

const char *words_name(const struct words *words, unsigned int number)
{
	return number < words->nr && words->words[number] ? words->words[number] : "unknown";
}

int words_number(const struct words *words, const char *word)
{
	for (unsigned int i = 0; i < words->nr; i++)
		if (words->words[i] && strcmp(words->words[i], word) == 0)
			return (int)i;
	return -1;
}

bool words_has_own(const struct words *words, unsigned int number)
{
	return words->words[number] &&
	       words_number(words, words->words[number]) == (int)number;
}
