# SPDX-License-Identifier: GPL-2.0-only
#
# fish completion for lttctl: verbs and options as lttctl lists them, with their descriptions;
# sessions, channels and events as the daemon knows them. Never starts a daemon.

function __lttctl_values -a member # MEMBER VERB...
    lttctl --no-sessiond --json $argv[2..] 2>/dev/null |
        sed -nE "s/^ *\"$member\": \"(.*)\",?\$/\1/p" | sed 's/\\\\\(["\\\\]\)/\1/g' | sort -u
end

# The verb of the command line, before the cursor.
function __lttctl_verb
    set -l skip 0
    for word in (commandline -opc)[2..]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case -g -m --group --mi --sessiond-path --relayd-path
                set skip 1
            case '-*'
            case '*'
                echo $word
                return
        end
    end
end

function __lttctl_session
    set -l words (commandline -opc)
    for i in (seq (count $words))
        switch $words[$i]
            case -s --session
                test $i -lt (count $words); and echo $words[(math $i + 1)]
            case '--session=*'
                string replace -r '^[^=]*=' '' -- $words[$i]
        end
    end
end

function __lttctl_operands -a verb
    switch $verb
        case view calls flame latency why query diff export report symbols verify sync
            __lttctl_values name list
            __fish_complete_directories
        case start stop flush rotate enable-rotation disable-rotation clear destroy list save status set-session stats
            __lttctl_values name list
        case fetch
            __fish_complete_directories
        case crash
            __lttctl_values name crash
        case watch remove-trigger
            __lttctl_values trigger list-triggers
        case enable-channel disable-channel reclaim-memory
            __lttctl_values name status (__lttctl_session)
        case enable-event
            __lttctl_values name list -u
        case disable-event
            __lttctl_values pattern status (__lttctl_session)
        case regenerate
            printf '%s\n' statedump metadata
        case snapshot
            printf '%s\n' record add-output del-output list-output
        case recorder
            printf '%s\n' on off status
        case spool
            printf '%s\n' list send remove
        case record
            __fish_complete_subcommand --fcs-skip=2
        case doctor
            __fish_complete_path (commandline -ct)
        case help
            lttctl --verbose --list-commands
    end
end

# Values of an option.
function __lttctl_arguments -a option
    switch $option
        case -s --session
            __lttctl_values name list
        case -c --channel
            __lttctl_operands enable-channel
        case --buffer-ownership
            printf '%s\n' user process
        case --value-type
            printf '%s\n' signed-int-32 signed-int-64 signed-int-max
        case --update-policy
            printf '%s\n' per-event per-rule-match
        case --dead-process-policy
            printf '%s\n' drop sum-into-shared
        case --per
            printf '%s\n' channel owner cpu part
        case --sort-by
            printf '%s\n' key value
        case --sort-order
            printf '%s\n' asc desc
        case --blocking-timeout
            printf '%s\n' inf 1ms
        case --buffer-preallocation
            printf '%s\n' preallocate on-demand
        case --auto-reclaim-memory
            printf '%s\n' off consumed older-than:10s
        case --of
            printf '%s\n' functions samples kernel-stacks user-stacks waits memory
        case --color
            printf '%s\n' auto always never
        case --uid --vuid
            __fish_complete_users
        case --gid --vgid
            __fish_complete_groups
        case -w --wrap
            printf '%s\n' libc pthread dl cyg-profile cyg-profile-fast
        case -o --output --output-path --trace-path --guest --path
            if test (__lttctl_verb) = report; and string match -q -- '-o*' (string replace -- --output -o $option)
                __fish_complete_path (string replace -r '^--[^=]*=' '' -- (commandline -ct))
                return
            end
            __fish_complete_directories (string replace -r '^--[^=]*=' '' -- (commandline -ct))
        case -i --input-path
            __fish_complete_path (string replace -r '^--[^=]*=' '' -- (commandline -ct))
        case '*'
            return 1
    end
end

function __lttctl_complete
    set -l current (commandline -ct)
    set -l verb (__lttctl_verb)
    set -l joined (string match -r -- '^--[^=]*=' $current)

    if test -n "$joined"
        __lttctl_arguments (string trim -r -c = -- $joined) | string replace -r '^' -- $joined
    else if __lttctl_arguments (commandline -opc)[-1]
        return
    else if string match -q -- '-*' $current
        lttctl $verb --verbose --list-options 2>/dev/null | string replace -r '\t[^\t]*$' ''
    else if test -z "$verb"
        lttctl --verbose --list-commands
    else
        __lttctl_operands $verb
    end
end

complete -c lttctl -f -a '(__lttctl_complete)'
