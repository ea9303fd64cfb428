# SPDX-License-Identifier: GPL-2.0-only
#
# fish completion for ltt-view: options, as its help has them, and directories.

function __ltt_view_complete
    if string match -q -- '-*' (commandline -ct)
        ltt-view --help | string replace -rf '^ +(?:-., )?(--[a-z-]+)\S* +(.*)$' '$1\t$2'
    else
        __fish_complete_directories
    end
end

complete -c ltt-view -f -a '(__ltt_view_complete)'
