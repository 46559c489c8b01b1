"""Reads a trace of `calc trace` and says whether it is one that Perfetto and Chrome show: every event
has the keys of its kind, slices of a thread lie in one another or apart, arrows have two ends in
slices, and no time is negative. Prints what there is, and the last end.   usage: check_trace.py FILE"""
import bisect
import collections
import gzip
import json
import sys

KEYS = {
    "X": {"ph", "name", "cat", "pid", "tid", "ts", "dur"},
    "C": {"ph", "name", "pid", "ts", "args"},
    "s": {"ph", "id", "name", "cat", "pid", "tid", "ts"},
    "f": {"ph", "bp", "id", "name", "cat", "pid", "tid", "ts"},
    "M": {"ph", "name", "pid", "args"},
}


def ns(event, key):
    return round(event[key] * 1000)


def check_nesting(slices):
    """Slices of one thread, as (start, -end): a stack of those that are open."""
    open_ends = []
    for start, minus_end in sorted(slices):
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        assert not open_ends or -minus_end <= open_ends[-1], "slices overlap"
        open_ends.append(-minus_end)


def main():
    path = sys.argv[1]
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        trace = json.load(file)
    assert trace["displayTimeUnit"] in ("ms", "ns")
    threads = collections.defaultdict(list)
    names = collections.defaultdict(set)
    arrows = collections.defaultdict(dict)
    memory = collections.defaultdict(float)
    phases = {}
    for event in trace["traceEvents"]:
        kind = event["ph"]
        allowed = KEYS[kind] | ({"tid"} if kind == "M" else set())
        assert KEYS[kind] <= set(event) <= allowed, event
        assert event.get("ts", 0) >= 0, event
        if kind == "X":
            assert event["dur"] > 0, event
            start = ns(event, "ts")
            end = start + ns(event, "dur")
            threads[event["pid"], event["tid"]].append((start, -end))
            if event["pid"] == 0:
                phases[event["name"]] = end
        elif kind in "sf":
            assert kind not in arrows[event["id"]], "two ends of a kind"
            arrows[event["id"]][kind] = event
        elif kind == "C":
            memory[event["pid"]] = max(memory[event["pid"]], event["args"]["GiB"])
        elif event["name"] in ("process_name", "thread_name"):
            names[event["name"]].add((event["pid"], event.get("tid")))
    for track, slices in threads.items():
        assert track in names["thread_name"] and (track[0], None) in names["process_name"], track
        check_nesting(slices)
    inside = {track: sorted(slices) for track, slices in threads.items()}
    for arrow in arrows.values():
        assert set(arrow) == {"s", "f"} and arrow["s"]["name"] == arrow["f"]["name"]
        assert ns(arrow["s"], "ts") <= ns(arrow["f"], "ts")
        assert arrow["s"]["pid"] != arrow["f"]["pid"]
        for end in arrow.values():
            at = ns(end, "ts")
            slices = inside[end["pid"], end["tid"]]
            before = bisect.bisect_right(slices, (at, 0))
            assert any(at < -b for _, b in slices[max(0, before - 16):before]), end
    last = max(-end for slices in threads.values() for _, end in slices)
    other = trace["otherData"]
    assert abs(last - other["total_time"] * 1e9) <= 1 and phases["step"] == last
    assert abs(phases["pipeline"] - other["pipeline_time"] * 1e9) <= 1
    assert len(memory) == other["stages"]
    print("%.17g %.17g %d %d" % (other["total_time"], max(memory.values()),
                                 sum(map(len, threads.values())), len(arrows)))


main()
