# SPDX-License-Identifier: MIT
"""How the banks of shared memory serve a request, by the rules of common/cpu/xray/model.h."""

LANES, WORD, BANKS = 32, 4, 32  # of a warp; bytes


def _neighbours_agree(lanes, bit):
    return all(None in (lanes[i], lanes[i ^ bit]) or lanes[i] == lanes[i ^ bit] for i in range(LANES))


def passes(lanes, element, operation="load"):
    """The passes through the banks that a request takes: [{bank: lanes that it serves}]. `lanes` are byte offsets, None
    for an idle lane. Elements of 8 bytes go to one half of the warp after the other, of 16 bytes to one quarter, unless
    neighbouring lanes of a load, or those two apart, want the same: then to twice as many."""
    parts = max(1, element // WORD)
    if parts > 1 and operation == "load" and (_neighbours_agree(lanes, 1) or _neighbours_agree(lanes, 2)):
        parts //= 2
    served = []
    for part in range(parts):
        words = {}  # in this part: which lanes want which word
        for lane in range(part * LANES // parts, (part + 1) * LANES // parts):
            if lanes[lane] is None:
                continue
            for word in range(lanes[lane] // WORD, (lanes[lane] + element - 1) // WORD + 1):
                words.setdefault(word, []).append(lane)
        waiting = {}  # bank: the words that it has to deliver, one per pass
        for word in sorted(words):
            waiting.setdefault(word % BANKS, []).append(word)
        for turn in range(max((len(w) for w in waiting.values()), default=0)):
            served.append({bank: words[w[turn]] for bank, w in waiting.items() if turn < len(w)})
    return served
