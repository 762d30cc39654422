"""Where a request ends: its head and the length of its body, refused wherever two readers could disagree.

A server behind a proxy must find the same end of each request as the proxy does; otherwise the bytes of one client
become the request of another.
"""

from __future__ import annotations

import re
from email.message import Message
from io import BufferedIOBase

from learnt.study.serving._service import Answer, refusal

LONGEST_LINE = 1 << 16
MOST_LINES = 100
_FIELD = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[^\x00-\x08\x0a-\x1f\x7f]*")


def read_head(source: BufferedIOBase) -> bytes:
    """The lines below the first one, to the empty line; a head that is too long is left for the parser to refuse."""
    lines = [b"\0"]
    while len(lines) <= MOST_LINES + 1 and len(lines[-1]) <= LONGEST_LINE and lines[-1] not in (b"\r\n", b"\n", b""):
        lines.append(source.readline(LONGEST_LINE + 1))
    return b"".join(lines[1:])


def body_length(head: bytes, headers: Message, most: int) -> int | Answer:
    """How many bytes follow, or why they are not wanted."""
    fault = _fault(head)
    if fault:
        return refusal(400, fault)
    lengths = headers.get_all("Content-Length", [])
    if "Transfer-Encoding" in headers:
        if lengths:
            return refusal(400, "A Content-Length and a Transfer-Encoding contradict each other; send the first alone.")
        return refusal(411, "Send the body in one piece, with its Content-Length.")
    if len(lengths) > 1:
        return refusal(400, f"The head has {len(lengths)} Content-Lengths; send one.")
    given = lengths[0].strip(" \t") if lengths else "0"
    if not (given.isascii() and given.isdigit()):
        return refusal(400, f"The Content-Length must be a number of bytes; it is “{given[:40]}”.")
    if len(given) > 18 or int(given) > most:
        return refusal(413, f"The body has {given[:30]} bytes, more than {most:,}; send fewer rows at a time.")
    return int(given)


def _fault(head: bytes) -> str:
    """What is wrong with the lines of a head; nothing where each is a name, a colon and a value."""
    *lines, after = head.split(b"\n")
    if after or not lines or lines[-1].rstrip(b"\r"):
        return "The head of the request ended early; end it with an empty line."
    for line in lines[:-1]:
        if not _FIELD.fullmatch(line.removesuffix(b"\r")):
            shown = line.decode("ascii", "replace")[:40]
            return f"The head has the line “{shown}”, which is no “Name: value”; send a field a line."
    return ""
