# SPDX-License-Identifier: GPL-2.0-only
"""kmodcheck - checks the files that kmodtool brought out of a guest.

  kmodcheck formats LIST FORMATS [PERCENT]   field tables beside tracefs's format files; that many of the
                                             tracepoints have probes, the others come by perf
  kmodcheck order LIST DIR...                every record decodes, clocks go forward
  kmodcheck on-cpu LIST DIR CPU EVENT        there are records of the event on the CPU
  kmodcheck emitted DIR CPUS COUNT           ltt_emit's records: none torn, repeated,
                                             missing (but for those counted as lost)
  kmodcheck calls LIST DIR EXPECTED          the records of known system calls
  kmodcheck syscalls LIST FORMATS            their arguments beside tracefs's
  kmodcheck probes DIR COUNT SYMBOLS         so many hits of each, where they should be
  kmodcheck providers LIST DIR COUNT...      the example's events, so many at a time
  kmodcheck pairs DIR                        calls by ftrace as often as kprobes are hit
  kmodcheck recursive DIR COUNT              so many calls, of functions that recording calls, too
  kmodcheck user-probes DIR COUNT            so many calls of a program's function, as made
  kmodcheck arguments DIR COUNT SYMBOLS      the values recorded at known places are right
  kmodcheck markers LIST DIR COUNT           the example's markers, two at each of COUNT steps
  kmodcheck contexts LIST DIR SAID COUNT CODE    as the program that hit them printed
  kmodcheck ftrace LIST DIR FORMATS RAW      the same events as ftrace, field by field

LIST is `kmodtool list`'s output, DIR `kmodtool record`'s folder, FORMATS all format
files in one, RAW a folder with a trace_pipe_raw of each CPU. Written from
abi/ltt_ring.h and the kernel's documentation of its own formats.
"""
import collections
import os
import re
import struct
import sys

INT, STRING, ARRAY, SEQUENCE = 1, 3, 4, 5
SIGNED, TEXT = 1, 4
Field = collections.namedtuple('Field', 'name type kind bits length_bits base flags count '
                               'declared is_signed')
CODES = {1: 'B', 2: 'H', 4: 'I', 8: 'Q'}


def fail(text):
    sys.exit('kmodcheck: ' + text)


def read_list(path):
    """{'system:name': (live, [Field in payload order])}"""
    events = {}
    for line in open(path):
        words = line.rstrip('\n').split('\t')
        if words[0] == 'E':
            fields = []
            events[words[1]] = (words[2] == '1', fields)
        elif words[0] == 'F':
            fields.append(Field(words[1], words[2], *map(int, words[3:])))
    return events


def read_by_perf(path):
    words = (line.rstrip('\n').split('\t') for line in open(path))
    return {w[1] for w in words if w[0] == 'E' and w[3] == '1'}


def read_contexts(path):
    """{name: Field}"""
    words = (line.rstrip('\n').split('\t') for line in open(path))
    return {w[1]: Field(w[1], w[2], *map(int, w[3:])) for w in words if w[0] == 'C'}


def read_formats(path):
    """{'system:name': (id, [(declaration, name, offset, size, signed)])}, common_ ones not"""
    formats = {}
    for line in open(path):
        line = line.strip()
        if line.startswith('/sys/kernel/tracing/events/'):
            system, name = line.split('/')[5:7]
            fields = []
        elif line.startswith('ID:'):
            formats[system + ':' + name] = (int(line[3:]), fields)
        elif line.startswith('field:'):
            m = re.match(r'field:(.*?)(\w+)((?:\[[^;]*\])?);\s*offset:(\d+);\s*size:(\d+);'
                         r'\s*signed:(\d+);', line)
            if not m.group(2).startswith('common_'):
                fields.append((m.group(1).strip() + m.group(3), m.group(2), int(m.group(4)),
                               int(m.group(5)), int(m.group(6))))
    return formats


# --- formats ------------------------------------------------------------------

def plain(text):
    return re.sub(r'\s+', '', text)


def differs(ours, theirs):
    """Why a field's table entry and its line of the format file disagree, or None."""
    declaration, name, _, size, signed = theirs
    if ours.name != name:
        return 'name %s, not %s' % (ours.name, name)
    if declaration.startswith(('__data_loc', '__rel_loc')):
        if ours.kind not in (STRING, SEQUENCE):
            return name + ' is no string or sequence'
        element = plain(declaration.split(' ', 1)[1])
        if element != 'cpumask_t' and plain(ours.type) + '[]' != element:
            # a bitmask is an array of unsigned long that tracefs calls so
            return '%s: elements %s, not %s' % (name, ours.type, element)
        return None
    bits = ours.bits * (ours.count if ours.kind == ARRAY else 1)
    if bits != 8 * size:
        return '%s: %d bits, not %d' % (name, bits, 8 * size)
    if ours.is_signed != signed:
        return '%s: signed %d, not %d' % (name, ours.is_signed, signed)
    if not plain(declaration).startswith(plain(ours.type)):
        return '%s: type %s, not %s' % (name, ours.type, declaration)
    return None


def check_formats(list_path, formats_path, percent='0'):
    events, formats = read_list(list_path), read_formats(formats_path)
    compared, wrong = 0, []
    for name, (live, fields) in sorted(events.items()):
        if not live or name not in formats:
            continue
        compared += 1
        ours = sorted(fields, key=lambda f: f.declared)
        theirs = formats[name][1]
        reasons = [differs(*pair) for pair in zip(ours, theirs)]
        if len(ours) != len(theirs):
            reasons.append('%d fields, not %d' % (len(ours), len(theirs)))
        wrong += ['%s: %s' % (name, r) for r in reasons if r]
    coverable = [n for n in formats if not n.startswith(('syscalls:', 'ftrace:'))]
    have_probes = len(set(coverable) & set(events) - read_by_perf(list_path))
    print('formats: %d events in the module, %d live, %d of %d of tracefs compared, %d differ; %d have probes' % (
        len(events), sum(live for live, _ in events.values()), compared, len(coverable),
        len(wrong), have_probes))
    if wrong:
        fail('\n'.join(wrong))
    missing = [name for name in coverable if name not in events]
    if missing:
        fail('not in the module: ' + ' '.join(missing))
    if 100 * have_probes < int(percent) * len(coverable):
        fail('%s %% are to have probes' % percent)


# --- our records --------------------------------------------------------------

def number(data, at, size, signed=False):
    return int.from_bytes(data[at:at + size], 'little', signed=signed)


def decode_field(field, data, at):
    """(value, position behind it)"""
    size = field.bits // 8
    signed = bool(field.flags & SIGNED)
    if field.kind == INT:
        return number(data, at, size, signed), at + size
    if field.kind == STRING:
        end = data.index(b'\0', at)
        return bytes(data[at:end]), end + 1
    count = field.count
    if field.kind == SEQUENCE:
        count = number(data, at, field.length_bits // 8)
        at += field.length_bits // 8
    return bytes(data[at:at + count * size]), at + count * size


def decode_header(data, at, ts):
    """(id, clock, position behind it)"""
    word = number(data, at, 4)
    if word & 31 == 31:
        return number(data, at + 1, 4), number(data, at + 5, 8), at + 13
    ts = ts >> 27 << 27 | word >> 5
    if word & 31 == 30:
        return number(data, at + 4, 2), ts, at + 6
    return word & 31, ts, at + 4


def read_words(directory):
    """[(cpu, pub, last_ts, count, lost_full, lost_size, skipped)]"""
    return [tuple(map(int, line.split())) for line in open(directory + '/words')]


def counted(name):
    """Each counter of perf has the same field."""
    return Field('$' + name, 'u64', INT, 64, 0, 10, 0, 0, 0, 0)


def read_records(directory, tables, contexts=None):
    """Per CPU [(clock, event, {field: value})]; every byte is accounted for."""
    ids = dict(line.rstrip('\n').split('\t') for line in open(directory + '/ids'))
    names = open(directory + '/contexts').read().split()
    before = [contexts[name]._replace(name='$' + name) if name in contexts else counted(name)
              for name in names]
    rings = []
    for cpu, pub, last_ts, count, _, _, skipped in read_words(directory):
        data = open('%s/ring.%d' % (directory, cpu), 'rb').read()
        at, ts, records = 0, last_ts, []
        if not skipped and not pub & (1 << 39) - 1:
            rings.append(records)
            continue
        # a snapshot enters in the middle: epochs of its first compact records are unknown
        ts = 0
        while at < len(data):
            earlier = ts
            number_, ts, at = decode_header(data, at, ts)
            if ts < earlier or (ts > last_ts and not skipped):
                fail('%s: clock %d after %d (last %d)' % (directory, ts, earlier, last_ts))
            event = ids.get(str(number_))
            if event is None:
                fail('%s: cpu %d: id %d at %d' % (directory, cpu, number_, at))
            values = {}
            for field in before + tables[event][1]:
                values[field.name], at = decode_field(field, data, at)
            records.append((ts, event, values))
        if at != len(data):
            fail('%s: cpu %d: the last record ends at %d of %d' % (directory, cpu, at, len(data)))
        if len(records) != count - skipped:
            fail('%s: cpu %d: %d records, counted %d' % (directory, cpu, len(records),
                                                         count - skipped))
        rings.append(records)
    return rings


def check_order(list_path, *directories):
    tables = read_list(list_path)
    for directory in directories:
        rings = read_records(directory, tables)
        kinds = {event for records in rings for _, event, _ in records}
        print('order: %s: %d records of %d events, every byte decoded, lost %d' % (
            os.path.basename(directory), sum(map(len, rings)), len(kinds),
            sum(w[4] + w[5] for w in read_words(directory))))
        if not kinds:
            fail('nothing recorded')


def check_on_cpu(list_path, directory, cpu, name):
    records = read_records(directory, read_list(list_path))[int(cpu)]
    nr = sum(event == name for _, event, _ in records)
    print('on-cpu: %d records of %s on CPU %s' % (nr, name, cpu))
    if not nr:
        fail('none')


# --- records of ltt_emit ---------------------------------------------------------

FREQUENCY = {'power:cpu_frequency': (True, [
    Field('state', 'u32', INT, 32, 0, 10, 0, 0, 0, 0),
    Field('cpu_id', 'u32', INT, 32, 0, 10, 0, 0, 1, 0)])}


def check_sampled(taken, events, sampling, number):
    """one-in N: of each N events of a CPU one; first N: no more."""
    want = events // number if sampling == 'one-in' else number
    if abs(taken - want) > (want // 10 if sampling == 'one-in' else 0):
        fail('%d are sampled by %s %d, not %d' % (taken, sampling, number, want))


def check_emitted(directory, cpus, count, sampling=None, number=0):
    cpus, count, writers = int(cpus), int(count), 4
    left_out = int(open(directory + '/left-out').read())
    recorded = lost = nested = 0
    words = read_words(directory)
    for cpu, records in enumerate(read_records(directory, FREQUENCY)):
        last = {}
        for _, _, values in records:
            who, seq = values['cpu_id'], values['state']
            if who // 4 != cpu or seq <= last.get(who, -1) or seq >= count:
                fail('cpu %d: writer %d sent %d after %d' % (cpu, who, seq, last.get(who, -1)))
            last[who] = seq
        recorded += words[cpu][3]
        lost += words[cpu][4] + words[cpu][5]
        if len(last) != writers and not words[cpu][6] + words[cpu][4] + left_out:
            fail('cpu %d: records of %d writers' % (cpu, len(last)))
        nested += sum(a[2]['cpu_id'] != b[2]['cpu_id'] for a, b in zip(records, records[1:]))
    print('emitted: %d = %d recorded + %d lost + %d not sampled; writers changed %d times' % (
        cpus * count * writers, recorded, lost, left_out, nested))
    if recorded + lost + left_out != cpus * count * writers:
        fail('%d + %d + %d is not %d' % (recorded, lost, left_out, cpus * count * writers))
    if sampling:
        check_sampled(recorded + lost, cpus * count * writers, sampling, int(number))


# --- system calls -----------------------------------------------------------------

def check_calls(list_path, directory, expected_path):
    """The program's records are all of one CPU and no other process makes such calls."""
    expected = open(expected_path).read().split('\n')[:-1]
    rings = [[e for _, *e in records] for records in read_records(directory, read_list(list_path))]
    lines = [name + ''.join(' %s=%s' % (k, v.decode() if isinstance(v, bytes) else v)
                            for k, v in values.items())
             for records in rings for name, values in records]
    first = next((i for i, line in enumerate(lines) if line == expected[0]), None)
    if first is None:
        fail('no %s among %d records' % (expected[0], len(lines)))
    for want, have in zip(expected, lines[first:] + [None] * len(expected)):
        if want != have:
            fail('%s\nwhere this was to come: %s' % (have, want))
    print('calls: %d records, all as expected' % len(expected))


def check_syscalls(list_path, formats_path):
    """Names and order of the arguments, of all calls; texts instead of their pointers."""
    events, formats = read_list(list_path), read_formats(formats_path)
    compared = texts = unlike = outputs = 0
    for name, (_, theirs) in formats.items():
        if not name.startswith('syscalls:sys_enter_'):
            continue
        call = name[len('syscalls:sys_enter_'):]
        if 'syscall_entry_' + call not in events:
            unlike += 1
            continue
        theirs = [f for f in theirs if not re.fullmatch(r'__\w+_val', f[1])]  # texts, since 7.0
        ours = sorted(events['syscall_entry_' + call][1], key=lambda f: f.declared)
        if [f.name for f in ours] != [f[1] for f in theirs[1:]]:
            fail('%s: %s, not %s' % (call, ours, theirs[1:]))
        for f, (declaration, *_) in zip(ours, theirs[1:]):
            if (f.kind == STRING) != (declaration == 'const char *' and
                                      f.name not in ('buf', 'u_msg_ptr')):
                fail('%s: %s is %s here, %s in tracefs' % (call, f.name, f, declaration))
            texts += f.kind == STRING
        compared += 1
        ret, *filled = (f.name for f in events['syscall_exit_' + call][1])
        pointers = [f.name for f, (declaration, *_) in zip(ours, theirs[1:])
                    if '*' in declaration or declaration.startswith('cap_user_')]  # types of pointers
        if ret != 'ret' or any(not any((f + '_').startswith(p + '_') for p in pointers) for f in filled):
            fail('%s: exit: %s, %s' % (call, ret, filled))
        outputs += bool(filled)
    print('syscalls: %d calls as in tracefs, %d texts, %d with outputs, %d that only 32-bit programs make' % (
        compared, texts, outputs, unlike))
    if compared < 300 or outputs < 80:
        fail('too few')


# --- probes -----------------------------------------------------------------------

def u64(name, base=16):
    return Field(name, 'u64', INT, 64, 0, base, 0, 0, 0, 0)


def argument_fields(name):
    """[Field] of the arguments given behind the place, in the order of the payload."""
    wanted = [(word.split(':')[0], 'arg%d' % i) for i, word in enumerate(name.split(',')[1:])]
    numbers = [u64(arg)._replace(bits=8 * int(kind[1:])) for kind, arg in wanted if kind[0] == 'u']
    return numbers + [u64(arg)._replace(kind=STRING) for kind, arg in wanted if kind[0] != 'u']


def probe_tables(directory):
    names = [line.rstrip('\n').split('\t')[1] for line in open(directory + '/ids')]
    own = {'call': ['ip', 'parent_ip'], 'kretprobe': ['ip', 'parent_ip', 'ret'],
           'uretprobe': ['ip', 'parent_ip', 'ret']}
    return {name: (True, [u64(field) for field in own.get(name.split(':')[0], ['ip'])] +
                   argument_fields(name)) for name in names}


def check_caller(name, caller, places):
    if not any(0 < caller - at < 65536 for at in places):
        fail('%s: called from %x' % (name, caller))


def check_probes(directory, count, symbols):
    """`count` hits of each, at the address of the symbol plus the offset."""
    address = {name: int(at, 16) for at, _, name in (line.split()[:3] for line in open(symbols))}
    tables, hits = probe_tables(directory), collections.Counter()
    for _, name, values in (r for records in read_records(directory, tables) for r in records):
        symbol, _, offset = name.split(':')[1].partition('+')
        at = int(symbol, 16) if symbol.startswith('0x') else address[symbol]
        # a probe at the beginning is behind the mark of branch targets
        if values['ip'] - at - int(offset or '0') not in ((0,) if offset else (0, 4)):
            fail('%s at %x, not %x' % (name, values['ip'], at))
        if 'parent_ip' in values:
            check_caller(name, values['parent_ip'], address.values())
        if values.get('ret', 2 ** 64 - 22) != 2 ** 64 - 22:
            fail('%s returned %x' % (name, values['ret']))
        hits[name] += 1
    print('probes:', *('%s %d,' % hit for hit in hits.items()))
    if not tables or any(hits[name] != int(count) for name in tables):
        fail('not %s each' % count)


def check_arguments(directory, count, symbols):
    """The calls of unlink() by `hit`, see `guest`; each caller is one of the symbols."""
    callers = [int(line.split()[0], 16) for line in open(symbols)]
    entry = {
        'arg0': b'hit', 'arg2': b'/no/such/file', 'arg3': 77, 'arg4': 1, 'arg5': b'/no',
        'arg6': b'(fault)', 'arg7': b'(fa', 'arg8': 0, 'arg9': ord('n') + 256 * ord('o'),
        'arg10': 2 ** 64 - 2, 'arg11': b''}
    want = {'kprobe:__x64_sys_unlink': entry, 'call:__x64_sys_unlink': entry,
        'kretprobe:unlinkat': {'arg0': b'hit', 'arg1': 2 ** 32 - 2, 'arg2': 2 ** 32 - 2},
        'kprobe:__x64_sys_unlink+': {'arg0': b'/no/such'}}
    tables, hits = probe_tables(directory), collections.Counter()
    for _, name, values in (r for records in read_records(directory, tables) for r in records):
        if want.get(name.split(',')[0]) is entry:
            check_caller('the stack', values['arg1'], callers)
        if 'parent_ip' in values and 'ret' not in values:
            check_caller(name, values['parent_ip'], callers)
        place = re.sub(r'(do|filename)_unlinkat', 'unlinkat', re.sub(r'\+.*', '+', name.split(',')[0]))
        have = {arg: values[arg] for arg in want[place]}
        if have != want[place]:
            fail('%s: %s, not %s' % (place, have, want[place]))
        hits[place] += 1
    print('arguments:', *('%s %d,' % hit for hit in hits.items()))
    if len(hits) != len(tables) or set(hits.values()) != {int(count)}:
        fail('not %s each' % count)


def check_pairs(directory):
    """As many calls as hits of a kprobe at the same function, one by one."""
    seen = collections.defaultdict(list)
    for records in read_records(directory, probe_tables(directory)):
        for _, name, values in records:
            seen[name].append(values['ip'])
    print('pairs:', *('%s %d,' % (name, len(ips)) for name, ips in seen.items()))
    for name, ips in seen.items():
        if sorted(ips) != sorted(seen['call:' + name.split(':')[1]]):
            fail('%s: %d hits' % (name, len(ips)))
    if not seen:
        fail('nothing was called')


def check_recursive(directory, count):
    """Functions that recording calls itself are recorded or counted as lost, and do no harm."""
    tables, hits = probe_tables(directory), collections.Counter()
    for _, name, values in (r for records in read_records(directory, tables) for r in records):
        hits[name.split(',')[0]] += 1
    print('recursive:', *('%s %d,' % hit for hit in hits.items()))
    if hits['call:__x64_sys_unlink'] != int(count):
        fail('not %s' % count)


def check_user_probes(directory, count):
    """The calls of `traced`, run twice: they are counted from 0 each time."""
    hits = collections.defaultdict(list)
    tables = probe_tables(directory)
    for records in read_records(directory, tables):
        for ts, name, values in records:
            hits[name].append((ts, values))
    at = {values['ip'] for records in hits.values() for _, values in records}
    for name, records in hits.items():
        records.sort(key=lambda r: r[0])
        nr = -1
        for _, have in records:
            if ',' not in name:
                continue
            nr = nr + 1 if have['arg0'] != (ord('c') if name.startswith('uret') else 0) else 0
            want = {'arg0': nr, 'arg1': b'call %d' % nr, 'arg2': b'from the file',
                    'arg3': ord('c'), 'arg4': b'traced', 'arg5': 0}
            if name.startswith('uret'):
                want = {'arg0': nr * 3 + ord('c'), 'ret': nr * 3 + ord('c'), 'arg1': b'(fa'}
            if {k: have[k] for k in want} != want:
                fail('user-probes: %s: %s, not %s' % (name, have, want))
    print('user-probes:', ', '.join('%s %d' % (name.split(',')[0].split('/')[-1], len(records))
                                    for name, records in hits.items()))
    if len(at) != 1 or len(tables) != 3 or any(len(hits[name]) != int(count) for name in tables):
        fail('not %s each' % count)


def check_providers(list_path, directory, *counts):
    """The events of ltt_example_provider, for each number of jobs."""
    rings = read_records(directory, read_list(list_path))
    have = sorted(((ts, name, tuple(values.items())) for records in rings
                   for ts, name, values in records), key=lambda r: r[0])
    want = []
    for count in map(int, counts):
        want += [('example:job', (('id', i), ('left', -5 * i), ('priority', i % 256),
                                  ('what', b'printing'), ('owner', b'somebody' if i % 2 else b'(null)')))
                 for i in range(count)] + [('example:done', (('jobs', count),))]
    print('providers: %d records of %d' % (len(have), len(want)))
    for (_, *mine), theirs in zip(have, want):
        if tuple(mine) != theirs:
            fail('%s, not %s' % (mine, theirs))
    if len(have) != len(want):
        fail('not as many')


def check_markers(list_path, directory, count):
    tables = read_list(list_path)
    rings = read_records(directory, tables)
    have = sorted(((ts, tuple(values.items())) for records in rings for ts, _, values in records),
                  key=lambda r: r[0])
    want = [walk for step in range(int(count)) for walk in (
        {'step': step, 'cost': -1000 * step, 'of': b'a walk'},
        {'step': step, 'cost': 1 << 40, 'of': b'(null)'})]
    got = [{k: v for k, v in values if k != 'at'} for _, values in have]
    if got != want:
        fail('markers: %d, %r' % (len(got), [p for p in zip(got, want) if p[0] != p[1]][:1]))
    if [bool(dict(values)['at']) for _, values in have] != [True, False] * int(count):
        fail('markers: pointers')
    types = {f.name: f.type for f in tables['marker:example_step'][1]}
    if types != {'step': 'unsigned int', 'of': 'char', 'at': 'void *', 'cost': 'long'}:
        fail('markers: %s' % types)
    print('markers: %d records, all as announced' % len(got))


# --- contexts, trackers -------------------------------------------------------------

def addresses(stack):
    return [number(stack, at, 8) for at in range(0, len(stack), 8)]


def is_in(address, function, size=1024):
    return function <= address < function + size


def stack_differs(values, functions, kernel_code):
    """The difference in the stacks of a system call, or None."""
    user, kernel = (addresses(values['$callstack-' + whose]) for whose in ('user', 'kernel'))
    if len(user) < len(functions) or not all(map(is_in, user, functions)):
        return 'the program called %s' % [hex(a) for a in user]
    first, end = kernel_code
    if not any(first < a < end for a in kernel) or any(a < KERNEL or a >= MODULES for a in kernel):
        return 'the kernel called %s' % [hex(a) for a in kernel]
    return None


KERNEL, MODULES = 0xffffffff80000000, 0xffffffffc0000000


def check_counters(records):
    """Of the records of one CPU: time goes on, and each call has touched a new page."""
    kinds = [name for name in records[0][2] if name.startswith('$perf:1:')] if records else []
    for before, after in zip(records, records[1:]):
        for kind in kinds:
            if after[2][kind] <= before[2][kind]:
                fail('%s: %d after %d' % (kind, after[2][kind], before[2][kind]))
    return len(kinds)


def check_contexts(list_path, directory, said, count, kernel_code):
    """`count` records of getpriority, with the values that the program printed."""
    contexts = read_contexts(list_path)
    want = dict(line.split() for line in open(said))
    if set(want) != set(contexts):
        fail('contexts that are not compared: %s' % sorted(set(want) ^ set(contexts)))
    functions = list(map(int, want.pop('callstack-user').split(',')))
    code = [int(line.split()[0], 16) for line in open(kernel_code)]
    nr, counters = 0, 0
    for records in read_records(directory, read_list(list_path), contexts):
        counters = max(counters, check_counters(records))
        for _, _, values in records:
            for context, value in want.items():
                have = values['$' + context]
                have = have.rstrip(b'\0').decode() if isinstance(have, bytes) and value != '?' \
                    else str(have)
                if value != '?' and have != value:
                    fail('%s: %s, not %s' % (context, have, value))
            wrong = stack_differs(values, functions, code)
            if wrong:
                fail(wrong)
            if values['which'] != 9 or values['who'] != 9:
                fail('payload %s' % values)
            nr += 1
    print('contexts: %d records with all %d contexts right, and %d counters' % (
        nr, len(want) + 1, counters))
    if nr != int(count):
        fail('not ' + count)


# --- beside ftrace ----------------------------------------------------------------

def ftrace_page_events(page):
    """Payloads of one page of ftrace's ring buffer."""
    at, end = 16, 16 + (number(page, 8, 8) & 0xfffff)
    while at < end:
        kind = page[at] & 31
        if kind == 29: # padding
            at += 4 + (number(page, at + 4, 4) if number(page, at, 4) >> 5 else end)
        elif kind in (30, 31): # time
            at += 8
        elif kind:
            yield page[at + 4:at + 4 + 4 * kind]
            at += 4 + 4 * kind
        else:
            length = number(page, at + 4, 4)
            yield page[at + 8:at + 4 + length]
            at += 4 + length


def ftrace_value(field, data):
    declaration, _, offset, size, signed = field
    if declaration.startswith('__data_loc'):
        place = number(data, offset, 4)
        value = bytes(data[place & 0xffff:(place & 0xffff) + (place >> 16)])
        return value.split(b'\0')[0] if 'char' in declaration else value
    if '[' in declaration or size not in CODES:
        return bytes(data[offset:offset + size])
    return number(data, offset, size, bool(signed))


def read_ftrace(raw, formats, wanted):
    ids = {formats[name][0]: (name, formats[name][1]) for name in wanted}
    data, events = open(raw, 'rb').read(), []
    for start in range(0, len(data), 4096):
        for payload in ftrace_page_events(data[start:start + 4096]):
            name, fields = ids.get(number(payload, 0, 2), (None, None))
            if name:
                events.append((name, {f[1]: ftrace_value(f, payload) for f in fields}))
    return events


def plain_values(values):
    """Bytes behind the NUL of a fixed char array have no meaning."""
    return {k: v.split(b'\0')[0] if isinstance(v, bytes) and k.endswith('comm') else v
            for k, v in values.items()}


def follow(ours, theirs, start):
    """(records that agree from `start` on, neighbours swapped)

    An interrupt between ftrace's probe and ours turns two neighbours round."""
    swaps, i = 0, 0
    while i < len(ours):
        if ours[i] == theirs[start + i]:
            i += 1
        elif i + 1 < len(ours) and (ours[i], ours[i + 1]) == (theirs[start + i + 1],
                                                             theirs[start + i]):
            swaps, i = swaps + 1, i + 2
        else:
            break
    return i, swaps


def same_run(ours, theirs):
    """Is `ours` a run of `theirs`? Neighbours swapped, or a text with the reason if not."""
    best = (-1, 0, 0)
    for start in range(len(theirs) - len(ours) + 1):
        best = max(best, (*follow(ours, theirs, start), start))
        if best[0] == len(ours):
            return best[1]
    if best[0] < 0:
        return 'ftrace has fewer'
    i, _, start = best
    return 'record %d: ours %r, ftrace %r' % (i, ours[i], theirs[start + i])


def check_ftrace(list_path, directory, formats_path, raw):
    tables, formats = read_list(list_path), read_formats(formats_path)
    wanted = [line.rstrip('\n').split('\t')[1] for line in open(directory + '/ids')]
    totals = collections.Counter()
    rings = read_records(directory, tables)
    for cpu, records in enumerate(rings):
        theirs = read_ftrace('%s/cpu%d' % (raw, cpu), formats, wanted)
        for name in wanted:
            mine = [plain_values(v) for _, event, v in records if event == name]
            their = [plain_values(v) for event, v in theirs if event == name]
            if not mine:
                continue
            outcome = same_run(mine, their)
            if isinstance(outcome, str):
                fail('cpu %d: %s (%d ours, %d of ftrace): %s' % (cpu, name, len(mine),
                                                                 len(their), outcome))
            totals[name] += len(mine)
            totals['swapped'] += outcome
    for name in wanted:
        print('ftrace: %s: %d records, all fields equal, in order' % (name, totals[name]))
        if not totals[name]:
            fail(name + ': none recorded')
    print('ftrace: neighbours that an interrupt turned round: %d' % totals['swapped'])


COMMANDS = {'arguments': check_arguments, 'calls': check_calls, 'contexts': check_contexts,
            'emitted': check_emitted, 'formats': check_formats, 'ftrace': check_ftrace,
            'markers': check_markers, 'on-cpu': check_on_cpu, 'order': check_order,
            'providers': check_providers, 'pairs': check_pairs, 'recursive': check_recursive, 'probes': check_probes, 'syscalls': check_syscalls,
            'user-probes': check_user_probes}

if __name__ == '__main__':
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](*sys.argv[2:])
