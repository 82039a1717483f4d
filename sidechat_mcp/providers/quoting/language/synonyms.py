"""Words that often stand for each other in talk about work. General ones only: they are a second
look when a question's own words find too little, and count for less."""

from __future__ import annotations

from functools import cache

from sidechat_mcp.providers.quoting.language.words import stem

_GROUPS = """
undo revert rollback restore fallback back
release deploy deployment rollout launch ship publish
cost price expense expensive fare rent fee
charge fee bill billed
pay paid payment
money budget euro dollar credit
customer client people user person
duplicate twice double
fail failure error crash break broken exception bug wrong problem issue
choose chose chosen pick select decide decided decision agree agreed settle settled
reject drop discard decline refuse
start begin first
finish end complete completion done
store storage save database db
keep retain retention hold
delete remove purge erase drop
fast slow speed latency quick quickly delay
large big size volume
owner own responsible owns
document documentation docs record adr
test check verify
cause reason because root
fix repair solve patch resolve mend
email mail message
show display
language translation translate
stay sleep accommodation hotel hostel room bed
travel trip tour drive visit go
alert alarm notify notification warn warning page
allow permit permission forbid
buy purchase order
limit maximum cap threshold
run execute
location place where venue
secret key credential token password
log record trace
size large space
safe secure security protect protection
phone call telephone
schedule date deadline due time
add insert create
change alter modify update
ask request
owe due credit refund
crash die died dead kill killed
library package dependency module
configuration setting
authentication login
tell inform notify write
raise increase bump lift
lower reduce cut decrease
eat meal food lunch dinner breakfast restaurant
leave depart departure
arrive arrival land
expensive dear
warranty guarantee
advise recommend suggest propose
assemble build
"""


@cache
def _table() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _GROUPS.strip().splitlines():
        group = line.split()
        for word in group:
            found.setdefault(stem(word), set()).update(group)
    return {s: frozenset(w for w in group if stem(w) != s) for s, group in found.items()}


def spellings(of: str) -> frozenset[str]:
    """Words that may stand for the stem `of`."""
    return _table().get(of, frozenset())


@cache
def related(of: str) -> frozenset[str]:
    """Their stems."""
    return frozenset(stem(word) for word in spellings(of))
