"""Pictures without a library of pictures."""

import struct
import zlib

import numpy as np


def write_png(path, image):
    """Grey levels from 0 to 1 as a PNG file: a header, the compressed rows, an end."""
    pixels = (np.clip(image, 0, 1) * 255).round().astype(np.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 0, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")):
            file.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))
