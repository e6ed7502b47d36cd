"""Looks for bytes at which a target is at fault: `python fuzz.py claim 60` for a minute.

With atheris (in the group `soak`, where it has a wheel) it is led by the lines that are reached,
else by chance. What it finds is written to found/<target>/, where the tests keep it.
"""

import hashlib
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent)]

FOUND = Path(__file__).parent / "found"
SIGNS = [
    *(bytes([byte]) for byte in range(256)),
    *("\ufeff \u2028 é e\u0301 İ ß 😀 \u202e ٣ ½ −".encode().split()),
    *b"0x1f 1e999 -0.0 NaN inf .. / \\ *a &a !!x <<: ? | > --- ... {} [] ()".split(),
    *b"'' \"\" , ; : # %".split(),
    *b"grid( .all .best .where( and or not == <= ** __class__ lambda ``` ~~~".split(),
    *b"title: row: | ||".split(),
    b"9" * 400, b"[" * 400, b"(" * 400, b" " * 400, b"- " * 200, b"a" * 3000,
    b"\r\n", b"\xed\xa0\x80",
]  # fmt: skip


def mutated(seed: bytes, chance: random.Random) -> bytes:
    """The bytes with some of them taken out, put in, repeated or changed."""
    data = bytearray(seed)
    for _ in range(chance.randint(1, 6)):
        at, to = sorted(chance.randint(0, len(data)) for _ in range(2))
        to = min(to, at + chance.choice([1, 3, 20, 200]))
        match chance.randrange(5):
            case 0:
                del data[at:to]
            case 1:
                data[at:at] = chance.choice(SIGNS)
            case 2:
                data[at:to] = chance.choice(SIGNS)
            case 3:
                data[at:at] = data[at:to] * chance.choice([1, 2, 30])
            case 4 if at < len(data):
                data[at] ^= 1 << chance.randrange(8)
    return bytes(data)


def by_chance(name: str, times: int, first: int = 0) -> list[bytes]:
    """The bytes at which a target is at fault, of so many mutations of its seeds."""
    from targets import TARGETS

    target, seeds = TARGETS[name]
    found = []
    for number in range(first, first + times):
        data = mutated(seeds[number % len(seeds)], random.Random(f"{name} {number}"))
        try:
            target(data)
        except Exception:
            found.append(data)
    return found


def keep(name: str, data: bytes) -> Path:
    """Put what was found beside the tests."""
    file = FOUND / name / hashlib.sha256(data).hexdigest()[:16]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def led(name: str, seconds: int) -> list[bytes]:
    """As `by_chance`, for some seconds, led by atheris."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "corpus").mkdir()
        command = [
            sys.executable, __file__, "--led", name, str(here / "corpus"), "-max_len=4096",
            f"-max_total_time={seconds}", f"-artifact_prefix={here}/found-", "-timeout=30",
            "-rss_limit_mb=3000", "-verbosity=0", "-close_fd_mask=3", "-seed=1",
            "-print_final_stats=1",
        ]  # fmt: skip
        done = subprocess.run(
            command, timeout=seconds + 600, check=False, capture_output=True, encoding="utf-8"
        )
        found = [file.read_bytes() for file in sorted(here.glob("found-*"))]
        times = re.search(r"stat::number_of_executed_units: (\d+)", done.stderr)
        # Without any it looked at nothing, and that it found nothing says nothing.
        if not found and (done.returncode or times is None or int(times[1]) < 10):
            raise RuntimeError(f"exit status {done.returncode}\n{done.stderr[-3000:]}")
        print(f"{name}: {times[1] if times else '?'} inputs in {seconds} s, {len(found)} found")
        return found


def _lead(name: str, arguments: list[str]) -> None:
    """The process that atheris leads; it ends itself."""
    import atheris

    with atheris.instrument_imports(include=["gridatlas", "yaml", "csv", "json"]):
        from targets import TARGETS
    target, seeds = TARGETS[name]
    for number, seed in enumerate(seeds):
        (Path(arguments[0]) / f"seed-{number}").write_bytes(seed)
    atheris.Setup([sys.argv[0], *arguments], target)
    atheris.Fuzz()


def has_atheris() -> bool:
    """Whether it can be led: atheris has wheels for Linux on x86-64 only."""
    try:
        import atheris
    except ImportError:
        return False
    return atheris is not None


def look(name: str, seconds: int) -> list[bytes]:
    """Look for faults of a target for some seconds."""
    if has_atheris():
        return led(name, seconds)
    until, first, found = time.monotonic() + seconds, 0, []
    while time.monotonic() < until:
        found += by_chance(name, 100, first)
        first += 100
    return found


if __name__ == "__main__":
    if sys.argv[1] == "--led":
        _lead(sys.argv[2], sys.argv[3:])
    else:
        for finding in look(sys.argv[1], int(sys.argv[2])):
            print(keep(sys.argv[1], finding))
